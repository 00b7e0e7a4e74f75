"""Arrays on a device where there is none: what the package does around the kernels, with stand-ins for CuPy and for the kernels in the
processor's memory. `test_cuda.py` has the real ones.
"""

from __future__ import annotations

import ctypes
import sys
from types import ModuleType, SimpleNamespace
from typing import Any, Iterator

import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin

import bitonic
from bitonic import _selecting, _sorting


class Array(NDArrayOperatorsMixin):
    """An array that says that it is on a device."""

    __module__ = "cupy"

    def __init__(self, host: Any) -> None:
        self.host = np.asarray(host)

    shape = property(lambda self: self.host.shape)
    dtype = property(lambda self: self.host.dtype)
    device = property(lambda self: SimpleNamespace(id=0))
    data = property(lambda self: SimpleNamespace(ptr=self.host.ctypes.data))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.host.__array_interface__, "version": 3, "stream": None}

    def __array_ufunc__(self, function: Any, method: str, *given: Any, **named: Any) -> Array:
        return Array(getattr(function, method)(*map(host_of, given), **named))

    def __getitem__(self, place: Any) -> Array:
        return Array(self.host[host_of(place)])

    def __setitem__(self, place: Any, value: Any) -> None:
        self.host[host_of(place)] = host_of(value)

    def reshape(self, *shape: Any) -> Array:
        return Array(self.host.reshape(*shape))

    def copy(self, order: Any = "C") -> Array:
        return Array(self.host.copy(order))

    def astype(self, dtype: Any, copy: bool = True) -> Array:
        return Array(self.host.astype(dtype, copy=copy))


def host_of(array: Any) -> Any:
    return array.host if isinstance(array, Array) else array


def library() -> ModuleType:
    """What the package uses of CuPy."""
    cupy = ModuleType("cupy")
    for name in ["empty", "asarray", "ascontiguousarray", "arange", "where", "nan_to_num", "moveaxis", "take_along_axis", "searchsorted", "clip"]:
        function = getattr(np, name)
        setattr(cupy, name, lambda *given, f=function, **named: Array(f(*map(host_of, given), **named)))
    stream = SimpleNamespace(ptr=1)
    setattr(cupy, "cuda", SimpleNamespace(get_current_stream=lambda: stream))
    return cupy


class Kernels:
    """What the kernels do: they compare bits, so that -0.0 comes before 0.0, and one NaN before another."""

    def __init__(self, descending: bool, stable: bool, nan: str, *_: Any) -> None:
        self.descending, self.nan_last = descending, nan == "last"

    def ordered(self, keys: Any) -> Any:
        width = 8 * keys.itemsize
        bits, sign = keys.view(f"u{keys.itemsize}"), keys.dtype.type(0).view(f"u{keys.itemsize}") + (1 << (width - 1))
        if keys.dtype.kind == "f":
            bits = np.where(bits & sign, ~bits, bits | sign)
            nans = 2 ** np.finfo(keys.dtype).nmant - 1 if self.nan_last else 0
        else:
            bits, nans = bits ^ (sign if keys.dtype.kind == "i" else 0), 0
        return (~bits if self.descending else bits) - bits.dtype.type(nans)

    def array(self, dtype: Any, place: tuple[int, int]) -> Any:
        address, length = place
        memory = (ctypes.c_char * (length * np.dtype(dtype).itemsize)).from_address(address)
        return np.frombuffer(memory, dtype)

    def sort(self, keys: Any, beside: str, other: Any, ends: Any) -> None:
        for start, end in zip(ends, ends[1:]):
            order = np.argsort(self.ordered(keys[start:end]), kind="stable")
            keys[start:end] = keys[start:end][order]
            if beside != "nothing":
                other[start:end] = order if beside == "indices" else other[start:end][order]

    def beside(self, beside: str, other: tuple[int, int]) -> Any:
        return None if beside == "nothing" else self.array({"indices": "i4", "narrow": "i4", "wide": "i8"}[beside], other)

    def device_workspace(self, *_: Any) -> int:
        return 16

    device_segments_workspace = device_topk_workspace = device_topk_segments_workspace = device_workspace

    def copy(self, dtype: Any, source: tuple[int, int] | None, array: tuple[int, int]) -> None:
        if source is not None:
            assert source[1] == array[1]
            self.array(dtype, array)[...] = self.array(dtype, source)

    def device_sort(
        self, dtype: Any, array: tuple[int, int], row: int, device: int, stream: int, workspace: Any = None, source: Any = None
    ) -> None:
        self.copy(dtype, source, array)
        self.sort(self.array(dtype, array), "nothing", None, range(0, array[1] + 1, row))

    def device_sort_both(
        self,
        dtype: Any,
        array: tuple[int, int],
        beside: str,
        other: tuple[int, int],
        device: int,
        stream: int,
        workspace: Any = None,
        source: Any = None,
    ) -> None:
        self.copy(dtype, source, array)
        self.sort(self.array(dtype, array), beside, self.beside(beside, other), [0, array[1]])

    def device_segments(
        self, dtype: Any, array: tuple[int, int], beside: str, other: tuple[int, int], offsets: tuple[int, int], wide: bool, *_: Any
    ) -> None:
        ends = self.array("i8" if wide else "i4", offsets)
        self.sort(self.array(dtype, array), beside, self.beside(beside, other), ends)

    def device_topk(
        self, dtype: Any, array: tuple[int, int], row: int, k: int, best: tuple[int, int], indices: tuple[int, int], *_: Any
    ) -> None:
        keys, order = self.array(dtype, array).copy(), np.empty(array[1], "i4")
        self.sort(keys, "indices", order, range(0, array[1] + 1, row))
        self.array(dtype, best)[...] = keys.reshape(-1, row)[:, :k].ravel()
        self.array("i4", indices)[...] = order.reshape(-1, row)[:, :k].ravel()

    def device_topk_segments(
        self, dtype: Any, array: tuple[int, int], offsets: tuple[int, int], wide: bool, longest: int, k: int, best: Any, indices: Any, *_: Any
    ) -> None:
        assert 0 < k <= longest
        keys, order, ends = self.array(dtype, array).copy(), np.empty(array[1], "i4"), self.array("i8" if wide else "i4", offsets)
        self.sort(keys, "indices", order, ends)
        found, places = self.array(dtype, best).reshape(-1, k), self.array("i4", indices).reshape(-1, k)
        for segment, (start, end) in enumerate(zip(ends, ends[1:])):
            end = min(end, start + k)
            found[segment, : end - start] = keys[start:end]
            places[segment, : end - start] = order[start:end]


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Arrays of the stand-in are sorted by the stand-in; those of NumPy by the package."""
    monkeypatch.setitem(sys.modules, "cupy", library())
    for module in [_sorting, _selecting]:
        compiled = module.sorter
        choose = lambda *options, compiled=compiled: Either(compiled(*options), Kernels(*options))
        monkeypatch.setattr(module, "sorter", choose)
    yield


class Either:
    """A compiled sorter with the stand-in's kernels."""

    def __init__(self, compiled: Any, kernels: Kernels) -> None:
        self.compiled, self.kernels = compiled, kernels

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernels if name.startswith("device_") else self.compiled, name)


def keys_of(dtype: str, *shape: int) -> Any:
    """Few values, zeros of both signs and NaNs of both signs among them."""
    random = np.random.default_rng(7)
    if np.dtype(dtype).kind != "f":
        return random.integers(0, 9, shape).astype(dtype)
    values = np.array([0.0, -0.0, np.nan, -np.nan, 1.5, -2.0, np.inf], dtype)
    return random.choice(values, shape)


def bits_of(array: Any) -> Any:
    host = host_of(array)
    return np.ascontiguousarray(host).view(f"u{host.itemsize}")


DTYPES = ["int16", "float16", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (40,), (3, 50), (2, 0), (2, 3, 7)])
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("k", [0, 1, 5, 30])
def test_the_best_keys_are_those_of_the_processor(dtype: str, shape: tuple[int, ...], largest: bool, k: int) -> None:
    keys, k = keys_of(dtype, *shape), min(k, shape[-1])
    found, expected = bitonic.topk(Array(keys), k, largest=largest), bitonic.topk(keys, k, largest=largest)
    np.testing.assert_array_equal(host_of(found.indices), expected.indices)
    np.testing.assert_array_equal(bits_of(found.values), bits_of(expected.values))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("k", [0, 1, 5, 30])
@pytest.mark.parametrize("offsets", [[0], [2, 2], [0, 3, 3, 20, 40], [5, 39]])
@pytest.mark.parametrize("where", ["host", "int32", "int64"])
def test_the_best_keys_of_segments_are_those_of_the_processor(
    dtype: str, largest: bool, k: int, offsets: list[int], where: str
) -> None:
    keys = keys_of(dtype, 40)
    given = offsets if where == "host" else Array(np.array(offsets, where))
    found, expected = bitonic.topk(Array(keys), k, largest=largest, offsets=given), bitonic.topk(keys, k, largest=largest, offsets=offsets)
    np.testing.assert_array_equal(host_of(found.indices), expected.indices)
    np.testing.assert_array_equal(bits_of(found.values), bits_of(expected.values))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, -2, None])
@pytest.mark.parametrize("stable", [False, True])
def test_every_axis_is_that_of_the_processor(dtype: str, axis: int | None, stable: bool) -> None:
    keys = keys_of(dtype, 6, 5, 4)
    found, expected = bitonic.sort(Array(keys), axis=axis, stable=stable), bitonic.sort(keys, axis=axis, stable=stable)
    np.testing.assert_array_equal(host_of(found), expected)
    order = host_of(bitonic.argsort(Array(keys), axis=axis))
    np.testing.assert_array_equal(order, bitonic.argsort(keys, axis=axis))
    if axis is None:
        return
    best, wanted = bitonic.topk(Array(keys), 3, axis=axis), bitonic.topk(keys, 3, axis=axis)
    np.testing.assert_array_equal(host_of(best.indices), wanted.indices)
    np.testing.assert_array_equal(host_of(best.values), wanted.values)
    values = np.arange(keys.size).reshape(keys.shape)
    pair, wanted_pair = bitonic.sort_pairs(Array(keys), Array(values), axis=axis, stable=True), bitonic.sort_pairs(keys, values, axis=axis, stable=True)
    np.testing.assert_array_equal(host_of(pair[0]), wanted_pair[0])
    np.testing.assert_array_equal(host_of(pair[1]), wanted_pair[1])
    in_place = keys.copy()
    if not stable:
        bitonic.sort_inplace(Array(in_place), axis=axis)
        np.testing.assert_array_equal(in_place, expected)


def test_an_axis_that_is_not_there_is_numpys_error() -> None:
    with pytest.raises(np.exceptions.AxisError):
        bitonic.sort(Array(keys_of("float32", 6, 5)), axis=2)


def test_the_best_keys_of_columns_are_taken_from_a_copy() -> None:
    keys = keys_of("float32", 20, 5)
    found, expected = bitonic.topk(Array(keys.T), 6), bitonic.topk(keys.T, 6)
    np.testing.assert_array_equal(host_of(found.indices), expected.indices)
    np.testing.assert_array_equal(bits_of(found.values), bits_of(expected.values))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (40,), (3, 50), (2, 3, 7)])
@pytest.mark.parametrize("descending", [False, True])
def test_orders_and_stable_sorts_are_those_of_the_processor(dtype: str, shape: tuple[int, ...], descending: bool) -> None:
    keys = keys_of(dtype, *shape)
    order = bitonic.argsort(Array(keys), descending=descending)
    np.testing.assert_array_equal(host_of(order), bitonic.argsort(keys, descending=descending))
    found = bitonic.sort(Array(keys), descending=descending, stable=True)
    np.testing.assert_array_equal(bits_of(found), bits_of(bitonic.sort(keys, descending=descending, stable=True)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("where", ["host", "int32", "int64"])
@pytest.mark.parametrize("lengths", [[], [0], [5], [3, 0, 0, 1, 40], [17] * 30])
@pytest.mark.parametrize("descending", [False, True])
def test_stable_segments_are_those_of_the_processor(dtype: str, where: str, lengths: list[int], descending: bool) -> None:
    offsets = 3 + np.cumsum([0, *lengths])
    given = offsets if where == "host" else Array(offsets.astype(where))
    keys = keys_of(dtype, int(offsets[-1]) + 4)
    options: dict[str, Any] = {"stable": True, "descending": descending}
    found = bitonic.sort(Array(keys), offsets=given, **options)
    np.testing.assert_array_equal(bits_of(found), bits_of(bitonic.sort(keys, offsets=offsets, **options)))
    for values_dtype in ["int16", "int32", "float64"]:
        values = np.arange(keys.size).astype(values_dtype)
        pair = bitonic.sort_pairs(Array(keys), Array(values), offsets=given, **options)
        wanted = bitonic.sort_pairs(keys, values, offsets=offsets, **options)
        np.testing.assert_array_equal(bits_of(pair[0]), bits_of(wanted[0]))
        np.testing.assert_array_equal(host_of(pair[1]), wanted[1])
    order = host_of(bitonic.argsort(Array(keys), offsets=given, descending=descending))
    order = order if where == "host" else order[offsets[0] : offsets[-1]]
    np.testing.assert_array_equal(order, bitonic.argsort(keys, offsets=offsets, descending=descending))


def test_offsets_that_do_not_ascend_reach_nothing_outside_of_the_array() -> None:
    keys = keys_of("float32", 40)
    found = bitonic.sort(Array(keys), offsets=Array(np.array([0, 40, 30, 40])), stable=True)
    assert host_of(found).shape == keys.shape
