"""PyTorch's and CuPy's arrays on a CUDA device: python -m pytest tests/test_cuda.py, where there is one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bitonic

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
LENGTHS = [0, 1, 2, 1000, 4097, 100_003, 3_000_001]


def keys_of(dtype: str, *shape: int) -> Any:
    kind = getattr(torch, dtype)
    if kind.is_floating_point:
        return torch.randn(*shape, device="cuda").to(kind)
    return torch.randint(-100 if dtype != "uint8" else 0, 100, shape, device="cuda").to(kind)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("descending", [False, True])
def test_sorts_are_torchs(dtype: str, length: int, descending: bool) -> None:
    keys = keys_of(dtype, length)
    expected = torch.sort(keys, stable=True, descending=descending)
    found = bitonic.sort(keys, nan="total", descending=descending)
    assert found.is_cuda and torch.equal(found, expected.values)
    if not keys.is_floating_point():  # Floats may have zeros of both signs, which the total order tells apart.
        assert torch.equal(bitonic.argsort(keys, nan="total", descending=descending), expected.indices)
    place = keys.data_ptr()
    bitonic.sort_inplace(keys, nan="total", descending=descending)
    assert keys.data_ptr() == place and torch.equal(keys, expected.values)


def test_rows_and_strides() -> None:
    keys = keys_of("int32", 300, 1000)
    assert torch.equal(bitonic.sort(keys), torch.sort(keys).values)
    assert torch.equal(bitonic.sort(keys.T), torch.sort(keys.T).values)
    bitonic.sort_inplace(keys)
    assert bool((keys[:, 1:] >= keys[:, :-1]).all())


def test_other_streams_are_used() -> None:
    """Keys are written late on a stream; a sort anywhere else would see what was there before."""
    stream = torch.cuda.Stream()
    for _ in range(5):
        keys = torch.zeros(2_000_000, dtype=torch.int32, device="cuda")
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            keys.copy_(torch.arange(2_000_000, 0, -1, dtype=torch.int32, device="cuda"))
            bitonic.sort_inplace(keys)
            ordered = bitonic.sort(keys, descending=True)
        stream.synchronize()
        assert int(keys[0]) == 1 and int(ordered[0]) == 2_000_000


def test_memory() -> None:
    keys = keys_of("int32", 1 << 24)
    bitonic.sort_inplace(keys.clone())
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    bitonic.sort_inplace(keys)
    assert torch.cuda.max_memory_allocated() == before


def test_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    keys = cupy.random.randint(0, 1000, 100_000, dtype=cupy.int32)
    with cupy.cuda.Stream():
        found, order = bitonic.sort(keys), bitonic.argsort(keys, index_dtype="int32")
        host, indices = cupy.asnumpy(found), cupy.asnumpy(order)
    assert isinstance(found, cupy.ndarray)
    np.testing.assert_array_equal(host, np.sort(cupy.asnumpy(keys)))
    np.testing.assert_array_equal(indices, np.argsort(cupy.asnumpy(keys), kind="stable"))
