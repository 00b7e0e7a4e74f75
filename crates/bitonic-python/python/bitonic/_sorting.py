"""Sorts: of keys, in place, by index, of pairs, by several keys."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from numpy import ndarray

from bitonic import _device
from bitonic._arrays import (
    Array,
    back,
    check_axis,
    check_offsets,
    index_type,
    is_plain,
    keys_order,
    order_of,
    ready,
    sorter,
    take,
)
from bitonic._core import Sorter


def sort(
    a: Any,
    axis: int | None = -1,
    *,
    descending: bool = False,
    stable: bool = False,
    nan: str = "last",
    offsets: Any = None,
    out: Any = None,
    engine: str = "auto",
    threads: int | None = None,
    oblivious: bool = False,
) -> Any:
    """A sorted copy, as :func:`numpy.sort`; the options are explained in the help of :mod:`bitonic`.

    ``out`` takes the result, of the same shape and dtype. ``axis=None`` sorts the flattened array.

    >>> import bitonic
    >>> bitonic.sort([[3, 1, 2], [9, 7, 8]])
    array([[1, 2, 3],
           [7, 8, 9]])
    >>> bitonic.sort([3, 1, 2, 9, 7, 8], offsets=[0, 2, 6], descending=True)
    array([3, 1, 9, 8, 7, 2])
    """
    options = sorter(descending, stable, nan, engine, threads, oblivious)
    # The short way: what most calls are.
    if type(a) is ndarray and axis == -1 and a.ndim and out is None and offsets is None and is_plain(a):
        result = a.copy()
        options.sort(result)
        return result
    if _device.is_on_device(a):
        if out is not None:
            raise TypeError("arrays on a GPU are sorted without out=: use bitonic.sort_inplace on a copy")
        return _device.sort(a, axis, options, nan, oblivious, engine, offsets, stable)
    array, give_back = take(a)
    if axis is None:
        array, axis = array.flatten(), -1
    axis = check_axis(array, axis)
    if out is not None:
        target, _ = take(out)
        if target.shape != array.shape or target.dtype != array.dtype:
            raise ValueError(
                f"out is {target.dtype} of shape {target.shape}, and the result is {array.dtype} of shape {array.shape}: "
                "give an array of that dtype and shape"
            )
        _check_writeable(target)
        np.copyto(target, array)
        _sort_array(target, axis, options, offsets)
        return out
    result = array.copy(order="K")
    _sort_array(result, axis, options, offsets)
    return give_back(result)


def sort_inplace(
    a: Any,
    axis: int = -1,
    *,
    descending: bool = False,
    stable: bool = False,
    nan: str = "last",
    offsets: Any = None,
    engine: str = "auto",
    threads: int | None = None,
    oblivious: bool = False,
) -> None:
    """Sorts an array where it is, as :meth:`numpy.ndarray.sort`.

    An array that is contiguous along the axis is sorted without a copy of it; others are copied and written back.

    >>> import bitonic, numpy as np
    >>> keys = np.array([3.5, 1.5, 2.5])
    >>> bitonic.sort_inplace(keys)
    >>> keys
    array([1.5, 2.5, 3.5])
    """
    options = sorter(descending, stable, nan, engine, threads, oblivious)
    # The short way: contiguous, aligned and writeable.
    if type(a) is ndarray and axis == -1 and a.ndim and offsets is None and a.flags.carray and is_plain(a):
        return options.sort(a)
    if _device.is_on_device(a):
        return _device.sort_inplace(a, axis, options, nan, oblivious, engine, offsets, stable)
    array, _ = take(a)
    if not isinstance(a, ndarray) and not hasattr(a, "__dlpack__"):
        raise TypeError(f"a {type(a).__name__} cannot be sorted in place here: pass an array, or use bitonic.sort(a)")
    _check_writeable(array)
    _sort_array(array, check_axis(array, axis), options, offsets)


def _check_writeable(array: Array) -> None:
    if not array.flags.writeable:
        raise ValueError("the array is read-only: sort a copy with bitonic.sort(a), or set a.flags.writeable")


def _sort_array(array: Array, axis: int, options: Sorter, offsets: Any) -> None:
    segments = check_offsets(array, offsets)
    keys = ready(array, axis)
    if keys.dtype.kind == "c":
        order = order_of(keys, options, np.int64, segments)
        keys = np.take_along_axis(keys, order, -1)
    elif np.may_share_memory(keys, array):
        options.sort(keys, segments)
        return
    else:
        options.sort(keys, segments)
    np.asarray(array)[...] = back(keys, axis)


def argsort(
    a: Any,
    axis: int | None = -1,
    *,
    descending: bool = False,
    stable: bool = True,
    nan: str = "last",
    offsets: Any = None,
    index_dtype: Any = "int64",
    engine: str = "auto",
    threads: int | None = None,
    oblivious: bool = False,
) -> Any:
    """The indices that sort an array, as :func:`numpy.argsort` with ``stable=True``: equal keys by lowest index, whatever ``stable`` is.

    With ``offsets``, indices count from the beginning of their segment. There is one for every key of a segment; where the offsets are on a
    GPU, there is one for every key of the array, and 0 for those of no segment.

    >>> import bitonic
    >>> bitonic.argsort([30, 10, 20, 10])
    array([1, 3, 2, 0])
    >>> bitonic.argsort([30, 10, 20, 9, 8], offsets=[0, 3, 5], index_dtype="int32")
    array([1, 2, 0, 1, 0], dtype=int32)
    """
    options = sorter(descending, True, nan, engine, threads, oblivious)
    # The short way.
    if type(a) is ndarray and axis == -1 and offsets is None and index_dtype == "int64" and a.ndim and is_plain(a):
        indices = np.empty(a.shape, np.int64)
        options.argsort(a if a.flags.c_contiguous and a.flags.aligned else a.copy(), indices)
        return indices
    if _device.is_on_device(a):
        return _device.argsort(a, axis, options, nan, oblivious, engine, offsets, index_dtype)
    array, give_back = take(a)
    if axis is None:
        array, axis = array.flatten(), -1
    axis = check_axis(array, axis)
    segments = check_offsets(array, offsets)
    order = back(order_of(ready(array, axis), options, index_type(index_dtype), segments), axis)
    return give_back(order if type(array) is ndarray else order.view(type(array)))


def sort_pairs(
    keys: Any,
    values: Any,
    axis: int = -1,
    *,
    descending: bool = False,
    stable: bool = False,
    nan: str = "last",
    offsets: Any = None,
    engine: str = "auto",
    threads: int | None = None,
    oblivious: bool = False,
) -> tuple[Any, Any]:
    """Sorted copies of keys and of values that move with them. Both have the same shape; values may be of any dtype.

    PyTorch's and CuPy's arrays on a CUDA device are sorted there.

    >>> import bitonic
    >>> bitonic.sort_pairs([3, 1, 2], ["three", "one", "two"])
    (array([1, 2, 3]), array(['one', 'two', 'three'], dtype='<U5'))
    """
    options = sorter(descending, stable, nan, engine, threads, oblivious)
    if _device.is_on_device(keys):
        return _device.sort_pairs(keys, values, axis, options, nan, oblivious, engine, offsets, stable)
    (key_array, give_keys), (value_array, give_values) = take(keys), take(values)
    if key_array.shape != value_array.shape:
        raise ValueError(
            f"there are keys of shape {key_array.shape} but values of shape {value_array.shape}: give one value for every key"
        )
    axis = check_axis(key_array, axis)
    segments = check_offsets(key_array, offsets)
    sorted_keys = ready(key_array, axis).copy()
    dtype = value_array.dtype
    if dtype.kind in "iufMm" and dtype.itemsize in (4, 8) and is_plain(sorted_keys):
        sorted_values = np.array(np.moveaxis(np.asarray(value_array), axis, -1), order="C", copy=True)
        options.sort_pairs(sorted_keys, sorted_values, segments)
    else:
        if oblivious:
            raise ValueError(f"values of dtype {dtype} are gathered, which shows where they were: give values of 4 or 8 bytes")
        order = order_of(sorted_keys, options, np.int64, segments)
        order = order if segments is None else _places(order, segments, sorted_keys.size)
        sorted_keys = np.take_along_axis(sorted_keys, order, -1)
        sorted_values = np.take_along_axis(np.moveaxis(np.asarray(value_array), axis, -1), order, -1)
    return give_keys(back(sorted_keys, axis)), give_values(back(sorted_values, axis))


def _places(indices: Array, offsets: list[int], length: int) -> Array:
    """Indices within segments as places of the whole array. Keys of no segment stay where they are."""
    places, ends = np.arange(length), np.array(offsets)
    places[ends[0] : ends[-1]] = indices + np.repeat(ends[:-1], np.diff(ends))
    return places


def lexsort(
    keys: Any,
    axis: int = -1,
    *,
    descending: bool | Sequence[bool] = False,
    nan: str = "last",
    engine: str = "auto",
    threads: int | None = None,
) -> Any:
    """The indices that sort by several keys, the last one first, as :func:`numpy.lexsort`; ``descending`` may differ for every key.

    >>> import bitonic
    >>> surnames, names = [1, 1, 0], [7, 5, 9]
    >>> bitonic.lexsort((names, surnames))
    array([2, 1, 0])
    >>> bitonic.lexsort((names, surnames), descending=[True, False])
    array([2, 0, 1])
    """
    arrays = [take(key)[0] for key in keys]
    if not arrays:
        raise TypeError("there is no key to sort by: give one or more")
    if any(array.shape != arrays[0].shape for array in arrays):
        raise ValueError(f"the keys have different shapes, such as {arrays[0].shape}: give keys of one shape")
    orders = [descending] * len(arrays) if isinstance(descending, (bool, np.bool_)) else list(descending)
    if len(orders) != len(arrays):
        raise ValueError(f"there are {len(arrays)} keys but {len(orders)} values of descending: give one for every key")
    if arrays[0].ndim == 0:
        return np.int64(0)
    axis = check_axis(arrays[0], axis)
    sorters = [sorter(bool(order), True, nan, engine, threads, False) for order in orders]
    return back(keys_order([ready(array, axis) for array in arrays], sorters), axis)
