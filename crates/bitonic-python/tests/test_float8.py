"""Floats that NumPy does not have: those of ml_dtypes, and PyTorch's in the processor's memory."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import bitonic
from bitonic._arrays import named_float

Array = np.ndarray[Any, Any]

BITS = {"float8_e4m3fn": "uint8", "float8_e5m2": "uint8", "bfloat16": "uint16"}


def as_float32(bits: Array, name: str) -> Array:
    """What the bits of a float stand for."""
    if name == "bfloat16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    exponent_bits, mantissa_bits = (4, 3) if name == "float8_e4m3fn" else (5, 2)
    bias = 2 ** (exponent_bits - 1) - 1
    magnitude = bits.astype(np.int32) & 0x7F
    exponent, mantissa = magnitude >> mantissa_bits, (magnitude & (2**mantissa_bits - 1)) / 2**mantissa_bits
    value = np.where(exponent == 0, mantissa * 2.0 ** (1 - bias), (1 + mantissa) * 2.0 ** (exponent.astype(float) - bias))
    if name == "float8_e4m3fn":
        value[magnitude == 0x7F] = np.nan
    else:
        value[magnitude == 0x7C], value[magnitude > 0x7C] = np.inf, np.nan
    return np.copysign(value, np.where(bits & 0x80, -1.0, 1.0)).astype(np.float32)


def of_ml_dtypes(bits: Array, name: str) -> Array:
    return bits.view(getattr(pytest.importorskip("ml_dtypes"), name))


def of_fields(bits: Array, name: str) -> Array:
    """As the package sees PyTorch's."""
    return bits.view(named_float(name))


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("make", [of_ml_dtypes, of_fields])
@pytest.mark.parametrize("shape", [(0,), (1,), (50,), (256,), (5000,), (9, 70), (3, 4, 5)])
@pytest.mark.parametrize("descending", [False, True])
def test_they_are_sorted_as_the_numbers_they_are(
    name: str, make: Callable[[Array, str], Array], shape: tuple[int, ...], descending: bool
) -> None:
    bits = np.random.default_rng(5).integers(0, 1 << 16, shape).astype(BITS[name])
    keys, numbers = make(bits, name), as_float32(bits, name)
    order = bitonic.argsort(numbers, descending=descending)
    found = bitonic.argsort(keys, descending=descending)
    np.testing.assert_array_equal(found, order)
    wanted = np.take_along_axis(bits, order, -1)
    stable = bitonic.sort(keys, descending=descending, stable=True)
    assert stable.dtype == keys.dtype
    np.testing.assert_array_equal(stable.view(bits.dtype), wanted)
    values = as_float32(bitonic.sort(keys, descending=descending).view(bits.dtype), name)
    np.testing.assert_array_equal(values, np.take_along_axis(numbers, order, -1))
    k = min(shape[-1], 20)
    best = bitonic.topk(keys, k, largest=descending)
    np.testing.assert_array_equal(best.values.view(bits.dtype), wanted[..., :k])
    np.testing.assert_array_equal(best.indices, order[..., :k])
    places = np.arange(bits.size).reshape(shape)
    for dtype in ["int32", "float64", "uint8"]:
        pair = bitonic.sort_pairs(keys, places.astype(dtype), descending=descending, stable=True)
        np.testing.assert_array_equal(pair[0].view(bits.dtype), wanted)
        np.testing.assert_array_equal(pair[1], np.take_along_axis(places.astype(dtype), order, -1))
    total = bitonic.sort(keys, descending=descending, nan="total")
    key = np.where(numbers.view(np.int32) < 0, ~numbers.view(np.int32) ^ np.int32(-(2**31)), numbers.view(np.int32))
    whole = np.sort(key, axis=-1)[..., ::-1] if descending else np.sort(key, axis=-1)
    ordered = as_float32(total.view(bits.dtype), name).view(np.int32)
    np.testing.assert_array_equal(np.where(ordered < 0, ~ordered ^ np.int32(-(2**31)), ordered), whole)


@pytest.mark.parametrize("name", BITS)
def test_in_place_in_segments_and_along_other_axes(name: str) -> None:
    bits = np.random.default_rng(5).integers(0, 1 << 16, 600).astype(BITS[name])
    keys, numbers = of_fields(bits.copy(), name), as_float32(bits, name)
    bitonic.sort_inplace(keys, offsets=[0, 100, 100, 600])
    expected = bitonic.sort(numbers, offsets=[0, 100, 100, 600])
    np.testing.assert_array_equal(as_float32(keys.view(bits.dtype), name), expected)
    found = bitonic.sort(of_fields(bits, name).reshape(20, 30), axis=0)
    np.testing.assert_array_equal(as_float32(found.view(bits.dtype), name), bitonic.sort(numbers.reshape(20, 30), axis=0))


def test_other_floats_of_ml_dtypes_say_why() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    with pytest.raises(TypeError, match="float8_e4m3fnuz are not sorted here: .*float8_e5m2"):
        bitonic.sort(np.zeros(3, ml_dtypes.float8_e4m3fnuz))
    with pytest.raises(TypeError, match="are not sorted here"):
        bitonic.sort(np.zeros(3, [("some_field", "u1")]))


@pytest.mark.parametrize("name", BITS)
def test_tensors_of_the_processor(name: str) -> None:
    torch = pytest.importorskip("torch")
    bits = np.random.default_rng(5).integers(0, 1 << 16, (4, 90)).astype(BITS[name])
    carrier = bits if bits.dtype == np.uint8 else bits.view(np.int16)
    keys = torch.from_numpy(carrier).view(getattr(torch, name))
    expected = bitonic.topk(of_fields(bits, name), 7)
    found = bitonic.topk(keys, 7)
    assert found.values.dtype == keys.dtype and found.indices.dtype == torch.int64
    as_bits = lambda tensor: tensor.view(torch.uint8 if bits.itemsize == 1 else torch.int16).numpy().view(bits.dtype)
    np.testing.assert_array_equal(as_bits(found.values), expected.values.view(bits.dtype))
    np.testing.assert_array_equal(found.indices.numpy(), expected.indices)
    np.testing.assert_array_equal(as_bits(bitonic.sort(keys)), bitonic.sort(of_fields(bits, name)).view(bits.dtype))
