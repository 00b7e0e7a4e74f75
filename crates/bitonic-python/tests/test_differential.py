"""Every function against NumPy's, or against its definition, over dtypes, shapes, strides, axes and orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import bitonic

settings.register_profile("ours", deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
settings.load_profile("ours")

Array = np.ndarray[Any, Any]

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "M8[s]", "m8[ns]", "c8", "c16"]
REAL = [dtype for dtype in DTYPES if not dtype.startswith("c")]


@st.composite
def arrays(draw: st.DrawFn, dtypes: list[str] = DTYPES, dimensions: int = 3) -> Array:
    """Arrays with ties, NaNs of both signs and with payloads, both zeros and NaT; of any strides and either byte order."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=dimensions, min_side=0, max_side=40))
    array = draw(hnp.arrays(dtype, shape))
    if dtype.kind == "f" and array.size:
        bits = array.view(f"u{dtype.itemsize}").reshape(-1)
        sign = 1 << (8 * dtype.itemsize - 1)
        infinity = int(np.array(np.inf, dtype).view(bits.dtype))
        special = [0, sign, infinity, sign | infinity, infinity + 1, sign | (infinity + 3), sign | (2 * infinity - 1) & (2 * sign - 1)]
        for place in draw(st.lists(st.integers(0, array.size - 1), max_size=20)):
            bits[place] = draw(st.sampled_from(special)) & (2 * sign - 1)
    if dtype.kind in "Mm" and array.size:
        array.reshape(-1)[draw(st.lists(st.integers(0, array.size - 1), max_size=5))] = "NaT"
    if draw(st.booleans()):
        array = array.astype(dtype.newbyteorder())
    for step in draw(st.lists(st.sampled_from(["reverse", "skip", "transpose", "fortran"]), max_size=2)):
        array = {
            "reverse": lambda a: a[::-1],
            "skip": lambda a: a[..., ::2],
            "transpose": lambda a: a.T,
            "fortran": np.asfortranarray,
        }[step](array)
    return array


def bits_of(array: Array) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def missing(array: Array) -> Array:
    if array.dtype.kind in "Mm":
        return np.isnat(array)
    return np.isnan(array) if array.dtype.kind in "fc" else np.zeros(array.shape, bool)


def descending_order(array: Array, axis: int) -> Array:
    """Indices in descending order by definition: ranks turned round, what is missing last, ties by index."""
    ranks = np.unique(array, return_inverse=True)[1].reshape(array.shape).astype(np.int64)
    return np.argsort(np.where(missing(array), 1, -ranks), axis=axis, kind="stable")


@given(arrays(), st.data())
def test_sorts_that_are_stable_are_numpys_bit_for_bit(array: Array, data: st.DataObject) -> None:
    axis = data.draw(st.one_of(st.none(), st.integers(-array.ndim, array.ndim - 1)))
    expected = np.sort(array, axis=axis, kind="stable")
    found = bitonic.sort(array, axis, stable=True)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert bits_of(found) == bits_of(expected)
    order = bitonic.argsort(array, axis)
    np.testing.assert_array_equal(order, np.argsort(array, axis=axis, kind="stable"))
    assert order.dtype == np.int64


@given(arrays(), st.data())
def test_sorts_that_are_not_stable_are_permutations_in_numpys_order(array: Array, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    found = bitonic.sort(array, axis)
    np.testing.assert_array_equal(found, np.sort(array, axis=axis))
    rows = np.moveaxis(array, axis, -1).reshape(-1, array.shape[axis]) if array.size else []
    sorted_rows = np.moveaxis(found, axis, -1).reshape(-1, array.shape[axis]) if array.size else []
    for row, sorted_row in zip(rows, sorted_rows):
        as_bytes = lambda keys: sorted(key.tobytes() for key in keys)  # noqa: E731
        assert as_bytes(row) == as_bytes(sorted_row)
    assert bitonic.is_sorted(found, axis)


@given(arrays(), st.data())
def test_descending_sorts_are_by_definition(array: Array, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    if array.dtype.kind == "c" and missing(array).any():
        array = np.where(missing(array), 0, array)
    expected = descending_order(array, axis)
    np.testing.assert_array_equal(bitonic.argsort(array, axis, descending=True), expected)
    found = bitonic.sort(array, axis, descending=True, stable=True)
    assert bits_of(found) == bits_of(np.take_along_axis(array, expected, axis))
    unstable = bitonic.sort(array, axis, descending=True)
    np.testing.assert_array_equal(unstable, found)
    assert bitonic.is_sorted(unstable, axis, descending=True)


@given(arrays(REAL), st.booleans())
def test_the_total_order_is_that_of_the_bits(array: Array, descending: bool) -> None:
    native = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("=")))
    width = 8 * native.dtype.itemsize
    raw = native.view(f"u{width // 8}").astype(object)
    sign = 1 << (width - 1)
    if native.dtype.kind == "f":
        ordered = np.where(raw & sign, ~raw & (2 * sign - 1), raw | sign)
    else:
        ordered = raw if native.dtype.kind in "ub" else raw ^ sign
    ranks = ordered.astype(np.uint64)
    expected = np.argsort(~ranks if descending else ranks, axis=-1, kind="stable")
    np.testing.assert_array_equal(bitonic.argsort(array, nan="total", descending=descending), expected)
    found = bitonic.sort(array, nan="total", descending=descending)
    assert bits_of(found) == bits_of(np.take_along_axis(array, expected, -1))


@given(arrays(REAL), st.booleans())
def test_oblivious_sorts_give_the_same_order(array: Array, descending: bool) -> None:
    found = bitonic.sort(array, descending=descending, oblivious=True)
    np.testing.assert_array_equal(found, bitonic.sort(array, descending=descending))
    assert sorted(bits_of(key) for key in found.ravel()) == sorted(bits_of(key) for key in array.ravel())
    order = bitonic.argsort(array, descending=descending, oblivious=True)
    np.testing.assert_array_equal(order, bitonic.argsort(array, descending=descending))


@given(arrays(), st.data())
def test_sorts_in_place_and_into_out(array: Array, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    expected = np.sort(array, axis=axis, kind="stable")
    # The same strides, so that what is not contiguous is sorted in place too.
    room = np.zeros_like(array, subok=False)
    np.copyto(room, array)
    bitonic.sort_inplace(room, axis, stable=True)
    assert bits_of(room) == bits_of(expected)
    out = np.zeros_like(array)
    assert bitonic.sort(array, axis, stable=True, out=out) is out
    assert bits_of(out) == bits_of(expected)
    turned = np.zeros((*array.shape, 2), array.dtype)[..., 0]
    np.copyto(turned, array)
    bitonic.sort_inplace(turned, axis, stable=True)
    assert bits_of(turned) == bits_of(expected)


@given(arrays(), st.sampled_from(["int64", "int32", "uint32", "uint64"]), st.booleans(), st.data())
def test_topk_is_the_beginning_of_the_sort(array: Array, index_dtype: str, largest: bool, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    k = data.draw(st.integers(0, array.shape[axis]))
    values, indices = bitonic.topk(array, k, axis, largest=largest, index_dtype=index_dtype)
    order = bitonic.argsort(array, axis, descending=largest)
    expected = np.take(order, np.arange(k), axis=axis)
    np.testing.assert_array_equal(indices, expected)
    assert indices.dtype == index_dtype
    assert bits_of(values) == bits_of(np.take_along_axis(array, expected, axis).astype(values.dtype))


@given(arrays(), st.data())
def test_partitions(array: Array, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    length = array.shape[axis]
    if length == 0:
        return
    kth = data.draw(st.lists(st.integers(-length, length - 1), min_size=1, max_size=4))
    expected = np.sort(array, axis=axis)
    by_value = bitonic.partition(array, kth, axis)
    by_index = np.take_along_axis(array, bitonic.argpartition(array, kth, axis), axis)
    for found in (by_value, by_index):
        np.testing.assert_array_equal(np.sort(found, axis=axis), expected)
        for place in kth:
            at = np.take(found, [place], axis=axis)
            np.testing.assert_array_equal(at, np.take(expected, [place], axis=axis))
            count = place % length
            for part, ordered in ((slice(0, count), slice(0, count)), (slice(count, None), slice(count, None))):
                chosen = np.moveaxis(found, axis, -1)[..., part]
                np.testing.assert_array_equal(np.sort(chosen, -1), np.moveaxis(expected, axis, -1)[..., ordered])


@given(arrays(), st.sampled_from(["i4", "f8", "u8", "i1", "S3", "c16"]), st.booleans(), st.data())
def test_pairs(array: Array, value_dtype: str, stable: bool, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    values = (np.arange(array.size) % 100).reshape(array.shape).astype(value_dtype)
    keys, moved = bitonic.sort_pairs(array, values, axis, stable=stable)
    np.testing.assert_array_equal(keys, np.sort(array, axis=axis))
    assert moved.dtype == values.dtype
    if stable:
        order = np.argsort(array, axis=axis, kind="stable")
        np.testing.assert_array_equal(moved, np.take_along_axis(values, order, axis))
        assert bits_of(keys) == bits_of(np.take_along_axis(array, order, axis).astype(keys.dtype))
    else:
        both = sorted(zip(map(bits_of, keys.ravel()), map(bits_of, moved.ravel())))
        native = array.astype(keys.dtype)
        assert both == sorted(zip(map(bits_of, native.ravel()), map(bits_of, values.ravel())))


@given(arrays(REAL, dimensions=1), st.data())
def test_segments(array: Array, data: st.DataObject) -> None:
    offsets = sorted(data.draw(st.lists(st.integers(0, array.size), min_size=1, max_size=6)))
    stable = data.draw(st.booleans())
    expected, order = array.copy(), []
    for start, end in zip(offsets, offsets[1:]):
        expected[start:end] = np.sort(array[start:end], kind="stable")
        order += np.argsort(array[start:end], kind="stable").tolist()
    found = bitonic.sort(array, offsets=offsets, stable=stable)
    if stable:
        assert bits_of(found) == bits_of(expected)
    np.testing.assert_array_equal(found, expected)
    assert bitonic.argsort(array, offsets=np.array(offsets)).tolist() == order
    k, largest = data.draw(st.integers(0, 5)), data.draw(st.booleans())
    best, places = bitonic.topk(array, k, offsets=offsets, largest=largest)
    assert best.shape == places.shape == (len(offsets) - 1, k)
    for segment, (start, end) in enumerate(zip(offsets, offsets[1:])):
        alone, count = bitonic.topk(array[start:end], min(k, end - start), largest=largest), min(k, end - start)
        assert bits_of(best[segment, :count]) == bits_of(alone.values.astype(best.dtype))
        assert places[segment].tolist() == alone.indices.tolist() + [-1] * (k - count)
        assert not best[segment, count:].any()
    values = np.arange(array.size)
    keys, moved = bitonic.sort_pairs(array, values, offsets=offsets, stable=True)
    assert bits_of(keys) == bits_of(expected.astype(keys.dtype))
    for start, end in zip(offsets, offsets[1:]):
        assert bits_of(array[moved[start:end]]) == bits_of(expected[start:end])


@given(arrays(REAL, dimensions=1), st.data())
def test_places_merges_and_different_keys(array: Array, data: st.DataObject) -> None:
    ordered = np.sort(array, kind="stable")
    wanted = data.draw(hnp.arrays(array.dtype, st.integers(0, 20)))
    wanted = np.concatenate([wanted, array[: data.draw(st.integers(0, 20))]])
    for side in ("left", "right"):
        places = bitonic.searchsorted(ordered, wanted, side)
        np.testing.assert_array_equal(places, np.searchsorted(ordered, wanted, side))
        by_order = bitonic.searchsorted(array, wanted, side, sorter=np.argsort(array, kind="stable"))
        np.testing.assert_array_equal(by_order, places)
    more = np.sort(wanted, kind="stable")
    both = np.concatenate([ordered, more])
    merged = bitonic.merge(ordered, more)
    np.testing.assert_array_equal(merged, np.sort(both))
    assert sorted(map(bits_of, merged)) == sorted(map(bits_of, both.astype(merged.dtype)))
    for equal_nan in (True, False):
        found = bitonic.unique(array, True, True, True, equal_nan=equal_nan)
        for ours, theirs in zip(found, np.unique(array, True, True, True, equal_nan=equal_nan), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(bitonic.unique(array, equal_nan=equal_nan), found[0])


@given(st.data())
def test_lexsort(data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=30))
    keys = [
        data.draw(hnp.arrays(dtype, shape, elements=st.integers(0, 3)))
        for dtype in data.draw(st.lists(st.sampled_from(["i1", "u4", "f4", "f8", "i8"]), min_size=1, max_size=3))
    ]
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    np.testing.assert_array_equal(bitonic.lexsort(keys, axis), np.lexsort(keys, axis))
    turned = [-key.astype(np.float64) for key in keys]
    np.testing.assert_array_equal(bitonic.lexsort(keys, axis, descending=True), np.lexsort(turned, axis))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [255, 5_000, 300_000])
def test_long_arrays(dtype: str, length: int) -> None:
    """Lengths at which the library partitions, counts and uses threads."""
    random = np.random.default_rng(length)
    keys = random.integers(0, 256, (length, np.dtype(dtype).itemsize), np.uint8).view(dtype).reshape(-1)
    if dtype == "?":
        keys = random.integers(0, 2, length).astype(bool)
    for axis_shape in ((length,), (5, length // 5)):
        array = keys.reshape(axis_shape)
        expected = np.sort(array, kind="stable")
        assert bits_of(bitonic.sort(array, stable=True)) == bits_of(expected)
        np.testing.assert_array_equal(bitonic.sort(array), expected)
        np.testing.assert_array_equal(bitonic.argsort(array), np.argsort(array, kind="stable"))
        np.testing.assert_array_equal(bitonic.sort(array, threads=2), expected)
