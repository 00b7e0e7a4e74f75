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
    for nan in ["last", "total"]:
        found = bitonic.sort(keys, nan=nan, descending=descending)
        assert found.is_cuda and torch.equal(found, expected.values)
    # NumPy's order, in which zeros of both signs are equal.
    assert torch.equal(bitonic.argsort(keys, descending=descending), expected.indices)
    place = keys.data_ptr()
    bitonic.sort_inplace(keys, nan="total", descending=descending)
    assert keys.data_ptr() == place and torch.equal(keys, expected.values)


def test_rows_and_strides() -> None:
    keys = keys_of("int32", 300, 1000)
    assert torch.equal(bitonic.sort(keys), torch.sort(keys).values)
    assert torch.equal(bitonic.sort(keys.T), torch.sort(keys.T).values)
    bitonic.sort_inplace(keys)
    assert bool((keys[:, 1:] >= keys[:, :-1]).all())


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_every_axis(axis: int) -> None:
    keys = keys_of("float32", 40, 300, 50)
    expected = torch.sort(keys, dim=axis, stable=True)
    assert torch.equal(bitonic.sort(keys, axis=axis), expected.values)
    assert torch.equal(bitonic.argsort(keys, axis=axis), expected.indices)
    best = bitonic.topk(keys, 7, axis=axis, largest=False)
    assert torch.equal(best.values, expected.values.narrow(axis, 0, 7)) and torch.equal(best.indices, expected.indices.narrow(axis, 0, 7))
    bitonic.sort_inplace(keys, axis=axis)
    assert torch.equal(keys, expected.values)
    flat = keys_of("int32", 30, 40)
    assert torch.equal(bitonic.sort(flat, axis=None), flat.flatten().sort().values)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("length", [10, 5000, 100_003, 3_000_001])
@pytest.mark.parametrize("descending", [False, True])
def test_nan_of_both_signs_is_last(dtype: str, length: int, descending: bool) -> None:
    keys = keys_of(dtype, length)
    keys[1::7], keys[2::7], keys[3::11] = float("nan"), -torch.tensor(float("nan")), -0.0
    host = keys.cpu().numpy()
    expected = bitonic.sort(host, descending=descending)
    found = bitonic.sort(keys, descending=descending).cpu().numpy()
    np.testing.assert_array_equal(found, expected)
    assert np.isnan(found[-np.isnan(host).sum() :]).all()
    order = bitonic.argsort(keys, descending=descending).cpu().numpy()
    np.testing.assert_array_equal(order, bitonic.argsort(host, descending=descending, stable=True))
    stable = bitonic.sort(keys, descending=descending, stable=True).cpu().numpy()
    np.testing.assert_array_equal(stable.view(f"i{stable.itemsize}"), host[order].view(f"i{stable.itemsize}"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(10,), (700, 90), (3, 40_000), (1_000_003,)])
@pytest.mark.parametrize("largest", [False, True])
def test_the_best_keys_are_those_of_the_processor(dtype: str, shape: tuple[int, ...], largest: bool) -> None:
    """Zeros of both signs are equal, all NaNs are, and keys come back with every bit, whatever is at the end of the best."""
    for kind in ["zeros", "nans", "numbers"]:
        keys = keys_of(dtype, *shape)
        if kind == "zeros":
            keys[...] = 0.0
            keys[..., ::3] = -0.0
        elif kind == "nans":
            keys[...] = float("nan")
            keys[..., ::3].neg_()
            keys[..., 3] = 1.5
        k = min(shape[-1], 50)
        for each in [keys, keys.T] if len(shape) == 2 and shape[0] >= k else [keys]:
            found, expected = bitonic.topk(each, k, largest=largest), bitonic.topk(each.cpu(), k, largest=largest)
            assert torch.equal(bits_of(found.values).cpu(), bits_of(expected.values)), kind
            assert torch.equal(found.indices.cpu(), expected.indices), kind


@pytest.mark.parametrize("shape", [(1, 1), (3, 700), (5000, 9), (7, 100_003), (2, 3, 50), (4, 0)])
@pytest.mark.parametrize("descending", [False, True])
def test_indices_of_rows(shape: tuple[int, ...], descending: bool) -> None:
    keys = keys_of("int32", *shape)
    expected = torch.sort(keys, stable=True, descending=descending).indices
    assert torch.equal(bitonic.argsort(keys, descending=descending), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("where", ["host", "int32", "int64"])
@pytest.mark.parametrize("lengths", [[0], [5], [3, 0, 1, 4000], [100_000, 2, 0, 33, 9000, 513] * 3, [17] * 30_000])
def test_segments(dtype: str, where: str, lengths: list[int]) -> None:
    offsets = 3 + np.cumsum([0, *lengths])
    keys = keys_of(dtype, int(offsets[-1]) + 4)
    given = offsets if where == "host" else torch.tensor(offsets, dtype=getattr(torch, where), device="cuda")
    host = keys.cpu().numpy()
    expected = torch.from_numpy(bitonic.sort(host, offsets=offsets))
    assert torch.equal(bitonic.sort(keys, offsets=given).cpu(), expected)
    order = bitonic.argsort(keys, offsets=given).cpu().numpy()
    order = order if where == "host" else order[offsets[0] : offsets[-1]]
    np.testing.assert_array_equal(order, bitonic.argsort(host, offsets=offsets, stable=True))
    for k, largest in [(1, True), (9, False), (70, True)]:
        found = bitonic.topk(keys, k, offsets=given, largest=largest)
        best = bitonic.topk(host, k, offsets=offsets, largest=largest)
        assert torch.equal(bits_of(found.values.cpu()), bits_of(torch.from_numpy(best.values)))
        np.testing.assert_array_equal(found.indices.cpu().numpy(), best.indices)
    bitonic.sort_inplace(keys, offsets=given)
    assert torch.equal(keys.cpu(), expected)


VALUES = ["uint8", "int32", "float32", "int64", "float64", "bfloat16", "complex64", "bool"]


def bits_of(a: Any) -> Any:
    """An array whose equality is that of bits: of NaN, too."""
    return a.contiguous().view(torch.uint8)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("values_dtype", VALUES)
@pytest.mark.parametrize("shape", [(0,), (1,), (1000,), (100_003,), (1, 500), (300, 70), (3, 40_000), (2, 0), (2, 3, 5)])
@pytest.mark.parametrize("descending", [False, True])
def test_values_move_with_their_keys(dtype: str, values_dtype: str, shape: tuple[int, ...], descending: bool) -> None:
    keys = keys_of(dtype, *shape)
    values = torch.arange(keys.numel(), device="cuda").reshape(shape).to(getattr(torch, values_dtype))
    before = keys.clone(), values.clone()
    order = torch.sort(keys, stable=True, descending=descending).indices
    wanted_keys, wanted_values = keys.take_along_dim(order, -1), values.take_along_dim(order, -1)
    for nan in ["last", "total"]:
        found_keys, found_values = bitonic.sort_pairs(keys, values, descending=descending, nan=nan)
        assert found_keys.is_cuda and torch.equal(found_keys, wanted_keys) and found_values.dtype == values.dtype
        if values_dtype in ("int32", "int64", "float64"):
            # Each value is the place of its key, and each is there once.
            places = found_values.long().reshape(-1)
            assert torch.equal(keys.reshape(-1)[places].reshape(shape), found_keys)
            assert torch.equal(found_values.sort(-1).values, values)
    found_keys, found_values = bitonic.sort_pairs(keys, values, descending=descending, stable=True)
    assert torch.equal(found_keys, wanted_keys) and torch.equal(found_values, wanted_values)
    assert torch.equal(keys, before[0]) and torch.equal(values, before[1])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("length", [10, 5000, 100_003])
@pytest.mark.parametrize("descending", [False, True])
def test_values_of_nan_are_last(dtype: str, length: int, descending: bool) -> None:
    keys = keys_of(dtype, length)
    keys[1::7], keys[2::7], keys[3::11] = float("nan"), -torch.tensor(float("nan")), -0.0
    values = torch.arange(length, device="cuda")
    found_keys, found_values = bitonic.sort_pairs(keys, values, descending=descending)
    np.testing.assert_array_equal(found_keys.cpu().numpy(), bitonic.sort(keys.cpu().numpy(), descending=descending))
    assert torch.equal(bits_of(keys[found_values]), bits_of(found_keys))
    stable = bitonic.sort_pairs(keys, values, descending=descending, stable=True)[1]
    assert torch.equal(stable, bitonic.argsort(keys, descending=descending))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("values_dtype", ["int32", "float64"])
@pytest.mark.parametrize("where", ["host", "int32", "int64"])
@pytest.mark.parametrize("lengths", [[0], [5], [3, 0, 1, 4000], [100_000, 2, 0, 33, 9000, 513], [17] * 30_000])
def test_values_of_segments(dtype: str, values_dtype: str, where: str, lengths: list[int]) -> None:
    offsets = 3 + np.cumsum([0, *lengths])
    keys = keys_of(dtype, int(offsets[-1]) + 4)
    values = torch.arange(len(keys), device="cuda").to(getattr(torch, values_dtype))
    given = offsets if where == "host" else torch.tensor(offsets, dtype=getattr(torch, where), device="cuda")
    found_keys, found_values = bitonic.sort_pairs(keys, values, offsets=given)
    assert torch.equal(found_keys.cpu(), torch.from_numpy(bitonic.sort(keys.cpu().numpy(), offsets=offsets)))
    places = found_values.long()
    assert torch.equal(keys[places], found_keys) and torch.equal(places.sort().values, values.long())
    # None has left its segment.
    segment = torch.from_numpy(np.searchsorted(offsets, np.arange(len(keys)), side="right")).cuda()
    assert torch.equal(segment[places], segment)


@pytest.mark.parametrize("dtype", ["int32", "float16", "float32", "float64"])
@pytest.mark.parametrize("where", ["host", "int32", "int64"])
@pytest.mark.parametrize("lengths", [[0], [5], [3, 0, 1, 4000], [100_000, 2, 0, 33, 9000, 513] * 3, [17] * 30_000])
@pytest.mark.parametrize("descending", [False, True])
def test_stable_segments(dtype: str, where: str, lengths: list[int], descending: bool) -> None:
    offsets = 3 + np.cumsum([0, *lengths])
    keys = keys_of(dtype, int(offsets[-1]) + 4)
    if keys.is_floating_point():
        keys[::5], keys[1::5], keys[2::7] = 0.0, -0.0, float("nan")
        keys[4::14].neg_()
    given = offsets if where == "host" else torch.tensor(offsets, dtype=getattr(torch, where), device="cuda")
    expected = bitonic.sort(keys.cpu(), offsets=offsets, stable=True, descending=descending)
    found = bitonic.sort(keys, offsets=given, stable=True, descending=descending)
    assert torch.equal(bits_of(found).cpu(), bits_of(expected))
    for values_dtype in [torch.int64, torch.int16]:
        values = torch.arange(len(keys), device="cuda").to(values_dtype)
        wanted = bitonic.sort_pairs(keys.cpu(), values.cpu(), offsets=offsets, stable=True, descending=descending)
        pair = bitonic.sort_pairs(keys, values, offsets=given, stable=True, descending=descending)
        assert torch.equal(bits_of(pair[0]).cpu(), bits_of(wanted[0])) and torch.equal(pair[1].cpu(), wanted[1])


def test_values_that_do_not_go_with_keys_say_why() -> None:
    keys = keys_of("int32", 10)
    with pytest.raises(ValueError, match="one value for every key"):
        bitonic.sort_pairs(keys, keys[:9])
    with pytest.raises(ValueError, match="bring them together"):
        bitonic.sort_pairs(keys, keys.cpu())
    with pytest.raises(ValueError, match="bring them together"):
        bitonic.sort_pairs(keys, np.arange(10))
    with pytest.raises(ValueError, match="obliviously"):
        bitonic.sort_pairs(keys, keys, oblivious=True)


def test_segments_that_are_none_say_why() -> None:
    keys = keys_of("int32", 10)
    for offsets, words in [([3, 2], "ascend"), ([0, 11], "the last offset is 11"), ([-1, 2], "from 0 upwards"), ([0.5, 2], "sequence of integers")]:
        with pytest.raises(ValueError, match=words):
            bitonic.sort(keys, offsets=offsets)
    with pytest.raises(ValueError, match="arrays of one axis"):
        bitonic.sort(keys.reshape(2, 5), offsets=[0, 2])
    with pytest.raises(ValueError, match="32 or 64 bits"):
        bitonic.sort(keys, offsets=torch.tensor([0.0, 2.0], device="cuda"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("shape,k", [((1,), 1), ((1000,), 10), ((3, 5000), 50), ((700, 300), 7), ((200_001,), 1000), ((2, 0), 0), ((40, 1024), 64)])
def test_the_best_keys_are_those_of_a_stable_sort(dtype: str, largest: bool, shape: tuple[int, ...], k: int) -> None:
    keys = keys_of(dtype, *shape)
    before = keys.clone()
    expected = torch.sort(keys, stable=True, descending=largest)
    found = bitonic.topk(keys, k, largest=largest, nan="total")
    assert torch.equal(found.values, expected.values[..., :k]) and torch.equal(keys, before)
    if not keys.is_floating_point():
        assert torch.equal(found.indices, expected.indices[..., :k])
    else:
        assert torch.equal(torch.gather(keys, -1, found.indices), found.values)


def test_what_is_not_found_on_a_device_says_why() -> None:
    keys = keys_of("int32", 100_000)
    with pytest.raises(ValueError, match="argsort"):
        bitonic.topk(keys, 50_000)
    with pytest.raises(ValueError, match="give k from 0 to 100000"):
        bitonic.topk(keys, 100_001)


def test_segments_are_sorted_on_the_current_stream() -> None:
    stream = torch.cuda.Stream()
    keys = torch.zeros(1_000_000, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        keys.copy_(torch.arange(1_000_000, 0, -1, dtype=torch.int32, device="cuda"))
        bitonic.sort_inplace(keys, offsets=[0, 300_000, 1_000_000])
    stream.synchronize()
    assert [int(keys[place]) for place in (0, 299_999, 300_000)] == [700_001, 1_000_000, 1]


def test_tensors_with_gradients() -> None:
    keys = keys_of("float32", 5000).requires_grad_()
    values = torch.randn(5000, device="cuda", requires_grad=True)
    expected = torch.sort(keys.detach(), stable=True)
    for stable in [False, True]:
        found = bitonic.sort_pairs(keys, values, stable=stable)
        assert torch.equal(found[0], expected.values) and torch.equal(bitonic.sort(keys, stable=stable), expected.values)
        assert not found[0].requires_grad and not found[1].requires_grad
    assert torch.equal(found[1], values.detach()[expected.indices])
    assert torch.equal(bitonic.argsort(keys), expected.indices)
    assert torch.equal(bitonic.topk(keys, 9).values, expected.values.flip(0)[:9])


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
    values = cupy.arange(100_000, dtype=cupy.float64)
    moved = [cupy.asnumpy(array) for array in bitonic.sort_pairs(keys, values, stable=True)]
    np.testing.assert_array_equal(moved[0], host)
    np.testing.assert_array_equal(moved[1], indices)
    travelled = [cupy.asnumpy(array) for array in bitonic.sort_pairs(keys, values)]
    np.testing.assert_array_equal(cupy.asnumpy(keys)[travelled[1].astype(int)], travelled[0])


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "bfloat16"])
@pytest.mark.parametrize("shape", [(1,), (1000,), (40, 500), (300_001,)])
@pytest.mark.parametrize("descending", [False, True])
def test_floats_that_numpy_does_not_have(name: str, shape: tuple[int, ...], descending: bool) -> None:
    kind = torch.int16 if name == "bfloat16" else torch.uint8
    keys = torch.randint(0, 256, (*shape, torch.tensor([], dtype=kind).element_size()), device="cuda").to(torch.uint8)
    keys = keys.view(kind).reshape(shape).view(getattr(torch, name))
    host, bits = keys.cpu(), lambda tensor: tensor.view(kind).cpu()
    for nan in ["last", "total"]:
        for stable in [False, True]:
            found = bitonic.sort(keys, descending=descending, stable=stable, nan=nan)
            expected = bitonic.sort(host, descending=descending, stable=stable, nan=nan)
            # Of NaNs, the processor keeps no order in sorts that are not stable.
            same = torch.equal(bits(found), bits(expected)) or (nan == "last" and not stable)
            assert found.dtype == keys.dtype and same and torch.equal(found.cpu().float().nan_to_num(), expected.float().nan_to_num())
        order = bitonic.argsort(keys, descending=descending, nan=nan).cpu()
        assert torch.equal(order, bitonic.argsort(host, descending=descending, nan=nan))
        best, wanted = (bitonic.topk(each, min(shape[-1], 9), largest=descending, nan=nan) for each in [keys, host])
        assert torch.equal(bits(best.values), bits(wanted.values)) and torch.equal(best.indices.cpu(), wanted.indices)
        values = torch.arange(keys.numel(), device="cuda").reshape(shape)
        pair = bitonic.sort_pairs(keys, values, descending=descending, stable=True, nan=nan)
        assert torch.equal(bits(pair[0]), bits(keys.cpu().view(kind).take_along_dim(order, -1)))
        assert torch.equal(pair[1].cpu(), values.cpu().take_along_dim(order, -1))
    bitonic.sort_inplace(keys, descending=descending, nan="total")
    assert torch.equal(bits(keys), bits(bitonic.sort(host, descending=descending, nan="total")))
