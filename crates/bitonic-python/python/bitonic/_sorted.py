"""What is done with keys that are in order: merge them, find places in them, keep each once."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitonic._arrays import Array, check_axis, index_type, keys_order, native, order_of, ready, take
from bitonic._arrays import sorter as sorter_of
from bitonic._core import Sorter
from bitonic._sorting import sort


def is_sorted(a: Any, axis: int = -1, *, descending: bool = False, nan: str = "last") -> bool:
    """Whether an array is sorted along an axis.

    >>> import bitonic
    >>> bitonic.is_sorted([1.0, 2.0, float("nan")]), bitonic.is_sorted([1, 2], descending=True)
    (True, False)
    """
    options = sorter_of(descending, True, nan, "cpu", None, False)
    array, _ = take(a)
    keys = ready(array, check_axis(array, axis))
    if keys.dtype.kind == "c":
        return bool((order_of(keys, options, np.int64) == np.arange(keys.shape[-1])).all())
    return options.is_sorted(keys)


def merge(a: Any, b: Any, *, descending: bool = False, nan: str = "last", threads: int | None = None) -> Any:
    """Merges two sorted arrays of one axis into one. Of equal keys, those of the first come first.

    >>> import bitonic
    >>> bitonic.merge([1, 4, 9], [2, 4])
    array([1, 2, 4, 4, 9])
    """
    options = sorter_of(descending, False, nan, "cpu", threads, False)
    (first, give_back), (second, _) = take(a), take(b)
    if first.ndim != 1 or second.ndim != 1:
        raise ValueError(f"the arrays have {first.ndim} and {second.ndim} axes: give two arrays of one axis")
    dtype = native(np.result_type(first.dtype, second.dtype))
    if dtype.kind == "c":
        both = np.concatenate([first, second])
        return give_back(sort(both, descending=descending, stable=True, nan=nan))
    first, second = ready(first.astype(dtype, copy=False), 0), ready(second.astype(dtype, copy=False), 0)
    merged = np.empty(first.size + second.size, dtype)
    options.merge(first, second, merged)
    return give_back(merged)


def searchsorted(
    a: Any,
    v: Any,
    side: str = "left",
    sorter: Any = None,
    *,
    descending: bool = False,
    nan: str = "last",
    index_dtype: Any = "int64",
) -> Any:
    """Where keys would go in a sorted array, as :func:`numpy.searchsorted`; ``sorter`` has the indices that sort it if it is not.

    >>> import bitonic
    >>> bitonic.searchsorted([10, 20, 20, 30], [20, 5]), int(bitonic.searchsorted([10, 20, 20, 30], 20, side="right"))
    (array([1, 0]), 3)
    """
    (array, give_back), (keys, _) = take(a), take(v)
    array = np.asarray(array)
    if array.ndim != 1:
        raise ValueError(f"the sorted array has {array.ndim} axes: give one of one axis")
    if side not in ("left", "right"):
        raise ValueError(f"unknown side {side!r}: use one of 'left', 'right'")
    if sorter is not None:
        array = array[_check_sorter(sorter, array.size)]
    dtype = native(np.result_type(array.dtype, keys.dtype))
    places = np.empty(keys.shape, index_type(index_dtype))
    if dtype.kind == "c":
        raise TypeError("places among complex numbers are not found here: use numpy.searchsorted")
    sorted_keys = ready(array.astype(dtype, copy=False), 0)
    wanted = ready(np.asarray(keys).astype(dtype, copy=False), keys.ndim - 1)
    options = sorter_of(descending, True, nan, "cpu", None, False)
    options.searchsorted(sorted_keys, wanted, side == "right", places)
    return give_back(places) if places.ndim else places[()]


def _check_sorter(order: Any, length: int) -> Array:
    numbers = np.asarray(take(order)[0])
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"sorter is of dtype {numbers.dtype}: give the integers that argsort gives")
    if numbers.ndim != 1 or numbers.size != length:
        raise ValueError(f"sorter has shape {numbers.shape} and the array has {length} keys: give one index for every key")
    if length and (numbers.min() < 0 or numbers.max() >= length):
        raise ValueError(f"sorter has an index outside of 0 to {length - 1}: give the integers that argsort gives")
    return numbers


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    engine: str = "auto",
    threads: int | None = None,
) -> Any:
    """The different elements of an array, sorted, as :func:`numpy.unique`; the result is sorted whatever ``sorted`` says.

    >>> import bitonic
    >>> bitonic.unique([3, 1, 3, 2, 1], return_counts=True)
    (array([1, 2, 3]), array([2, 1, 2]))
    """
    array, give_back = take(ar)
    options = sorter_of(False, True, "last", engine, threads, False)
    order: Array | None = None
    shape: tuple[int, ...] = array.shape
    if axis is not None and (check_axis(array, axis), array.ndim) != (0, 1):
        axis = check_axis(array, axis)
        order, is_new = _distinct_slices(array, axis, options)
        values, shape = np.take(array, order[is_new], axis), (array.shape[axis],)
    elif return_index or return_inverse:
        flat = _flat(array)
        order = order_of(ready(flat, 0), options, np.int64)
        is_new = _is_new(flat[order], equal_nan)
        values = flat[order[is_new]]
    else:
        ordered = sort(_flat(array), stable=True, engine=engine, threads=threads)
        is_new = _is_new(ordered, equal_nan)
        values = ordered[is_new]
    found: list[Array] = [values]
    if return_index and order is not None:
        found.append(order[is_new])
    if return_inverse and order is not None:
        inverse = np.empty(order.size, np.intp)
        inverse[order] = np.cumsum(is_new) - 1
        found.append(inverse.reshape(shape))
    if return_counts:
        found.append(np.diff(np.append(np.flatnonzero(is_new), is_new.size)))
    given = tuple(give_back(each) for each in found)
    return given if len(given) > 1 else given[0]


def _flat(array: Array) -> Array:
    """The array with one axis; a matrix never has one, so that it becomes a plain array."""
    return np.asarray(array).reshape(-1) if isinstance(array, np.matrix) else array.reshape(-1)


def _is_new(ordered: Array, equal_nan: bool) -> Array:
    """Which elements of a sorted array differ from the one before them."""
    is_new = np.empty(ordered.shape, bool)
    is_new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    # What is missing differs from itself, and is at the end.
    if equal_nan and ordered.size and ordered.dtype.kind in "fcmM" and ordered[-1] != ordered[-1]:
        missing = np.isnan(ordered) if ordered.dtype.kind in "fc" else np.isnat(ordered)
        first = int(np.argmax(missing))
        is_new[first + 1 :] = False
    return is_new


def _distinct_slices(array: Array, axis: int, options: Sorter) -> tuple[Array, Array]:
    """The order of the slices along an axis by their elements, and which of them differ from the one before."""
    slices = np.moveaxis(np.asarray(array), axis, 0)
    rows = slices.reshape(slices.shape[0], int(np.prod(slices.shape[1:], dtype=np.intp)))
    order = np.arange(rows.shape[0])
    if rows.shape[1]:
        columns = [ready(column, 0) for column in rows.T[::-1]]
        order = keys_order(columns, [options] * len(columns))
    ordered = rows[order]
    is_new = np.zeros(rows.shape[0], bool)
    is_new[:1] = True
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, is_new
