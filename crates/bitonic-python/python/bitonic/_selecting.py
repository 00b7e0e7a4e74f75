"""Less than a sort: the best k keys, and partitions."""

from __future__ import annotations

from operator import index
from typing import Any, NamedTuple

import numpy as np

from bitonic import _device
from bitonic._arrays import Array, back, check_axis, check_offsets, index_type, is_plain, order_of, ready, sorter, take
from bitonic._core import Sorter


class TopK(NamedTuple):
    """The best k keys along an axis, the best first, and where they were."""

    values: Any
    indices: Any


def topk(
    a: Any,
    k: int,
    axis: int = -1,
    *,
    largest: bool = True,
    nan: str = "last",
    index_dtype: Any = "int64",
    offsets: Any = None,
    engine: str = "auto",
    threads: int | None = None,
    oblivious: bool = False,
) -> TopK:
    """The k largest keys along an axis and their indices, the largest first; with ``largest=False`` the smallest.

    They are the first k of ``sort(a, descending=largest)``: of equal keys those with the lowest indices, and NaN only where there are
    fewer than k numbers.

    >>> import bitonic
    >>> values, indices = bitonic.topk([0.5, 2.5, float("nan"), 2.5, 1.0], 3)
    >>> values, indices
    (array([2.5, 2.5, 1. ]), array([1, 3, 4]))

    With ``offsets``, every segment ``a[offsets[i]:offsets[i + 1]]`` has a row of k places in the results, and indices count from the beginning of the
    segment. A segment of fewer keys leaves the last places of its row: they have the index -1 (of unsigned types the highest) and the key 0.

    >>> bitonic.topk([3, 1, 2, 7], 2, offsets=[0, 3, 4]).indices
    array([[ 0,  2],
           [ 0, -1]])
    """
    options = sorter(largest, True, nan, engine, threads, oblivious)
    k = index(k)
    if _device.is_on_device(a):
        return TopK(*_device.topk(a, k, axis, options, nan, oblivious, engine, index_dtype, offsets))
    array, give_back = take(a)
    axis = check_axis(array, axis)
    keys = ready(array, axis)
    if offsets is not None:
        return TopK(*map(give_back, _topk_of_segments(keys, k, options, index_type(index_dtype), offsets)))
    if not 0 <= k <= keys.shape[-1]:
        raise ValueError(f"k is {k} and the axis has {keys.shape[-1]} keys: give k from 0 to {keys.shape[-1]}")
    dtype = index_type(index_dtype)
    if keys.dtype.kind == "c":
        indices = order_of(keys, options, dtype)[..., :k]
        best = np.take_along_axis(keys, indices.astype(np.int64), -1)
    else:
        shape = (*keys.shape[:-1], k)
        best, indices = np.empty(shape, keys.dtype), np.empty(shape, dtype)
        options.topk(keys, k, best, indices)
    return TopK(give_back(back(best, axis)), give_back(back(indices, axis)))


def _topk_of_segments(keys: Array, k: int, options: Sorter, dtype: Any, offsets: Any) -> tuple[Array, Array]:
    """The best k keys of segments of a ready array."""
    ends = check_offsets(keys, offsets)
    assert ends is not None, "there are offsets"
    if k < 0:
        raise ValueError(f"k is {k}: give k from 0 upwards")
    if keys.dtype.kind == "c":
        raise TypeError("the best of segments of complex numbers are not found here: take one segment at a time")
    shape = (len(ends) - 1, k)
    best, indices = np.zeros(shape, keys.dtype), np.full(shape, -1).astype(dtype)
    options.topk(keys, k, best, indices, ends)
    return best, indices


def partition(
    a: Any,
    kth: Any,
    axis: int | None = -1,
    *,
    nan: str = "last",
    threads: int | None = None,
    oblivious: bool = False,
) -> Any:
    """A copy in which the keys of the places ``kth`` are where a sort would put them, smaller ones before and larger ones behind, as
    :func:`numpy.partition`.

    >>> import bitonic
    >>> int(bitonic.partition([5, 1, 4, 2, 3], 2)[2])
    3
    """
    options = sorter(False, True, nan, "cpu", threads, oblivious)
    # The short way: what most calls are.
    if type(a) is np.ndarray and type(kth) is int and axis == -1 and a.ndim and a.size and is_plain(a):
        result = a.copy()
        options.partition(result, [kth])
        return result
    array, give_back = take(a)
    if axis is None:
        array, axis = array.flatten(), -1
    axis = check_axis(array, axis)
    places = _places(kth)
    result = array.copy(order="K")
    keys = ready(result, axis)
    if keys.size:
        if keys.dtype.kind == "c":
            _check_places(places, keys)
            keys = np.take_along_axis(keys, order_of(keys, options, np.int64), -1)
        else:
            options.partition(keys, places)
        if not np.may_share_memory(keys, result):
            np.asarray(result)[...] = back(keys, axis)
    return give_back(result)


def argpartition(
    a: Any,
    kth: Any,
    axis: int | None = -1,
    *,
    nan: str = "last",
    index_dtype: Any = "int64",
    threads: int | None = None,
    oblivious: bool = False,
) -> Any:
    """The indices that partition an array, as :func:`numpy.argpartition`.

    >>> import bitonic
    >>> int(bitonic.argpartition([50, 10, 40, 20, 30], 0)[0])
    1
    """
    options = sorter(False, True, nan, "cpu", threads, oblivious)
    # The short way.
    if type(a) is np.ndarray and type(kth) is int and axis == -1 and index_dtype == "int64" and a.ndim and a.size and is_plain(a):
        indices = np.empty(a.shape, np.int64)
        options.argpartition(a if a.flags.c_contiguous and a.flags.aligned else a.copy(), [kth], indices)
        return indices
    array, give_back = take(a)
    if axis is None:
        array, axis = array.flatten(), -1
    axis = check_axis(array, axis)
    places = _places(kth)
    keys = ready(array, axis)
    indices = np.empty(keys.shape, index_type(index_dtype))
    if keys.size:
        if keys.dtype.kind == "c":
            _check_places(places, keys)
            indices = order_of(keys, options, indices.dtype)
        else:
            options.argpartition(keys, places, indices)
    return give_back(back(indices, axis))


def _places(kth: Any) -> list[int]:
    """The places of a partition: an integer, or a sequence of them."""
    numbers = np.asarray(kth)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise TypeError(f"kth is of dtype {numbers.dtype}: give an integer, or a sequence of integers")
    if numbers.ndim > 1:
        raise ValueError(f"kth has {numbers.ndim} axes: give an integer, or a sequence of integers")
    return numbers.astype(np.int64).ravel().tolist()


def _check_places(places: list[int], keys: Array) -> None:
    length = keys.shape[-1]
    for place in places:
        if not -length <= place < length:
            raise ValueError(f"kth is {place} and the axis has {length} keys: give kth from {-length} to {length - 1}")
