"""From what a caller has to arrays that the compiled part takes, and back.

An array is *ready* when it is in memory one element after the other, aligned, in the machine's byte order, with the axis that is sorted
as its last.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from operator import index
from typing import Any, Callable

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from bitonic._core import Sorter

Array = np.ndarray[Any, Any]

# Making one takes longer than a short sort. It has no state, so that all callers can share it.
sorter = lru_cache(maxsize=256)(Sorter)

INDEX_TYPES = {"int64": np.int64, "int32": np.int32, "uint32": np.uint32, "uint64": np.uint64}


# Floats that NumPy does not have itself, and integers of their size. Arrays of ml_dtypes have dtypes of these names; those of PyTorch become
# arrays of structures whose only field has the name, because NumPy moves these, and ml_dtypes need not be installed.
NAMED_FLOATS = {"float8_e4m3fn": "uint8", "float8_e5m2": "uint8", "bfloat16": "int16"}


def name_of(dtype: np.dtype[Any]) -> str:
    """What a dtype is called."""
    return dtype.names[0] if dtype.names and len(dtype.names) == 1 else dtype.name


def named_float(name: str) -> np.dtype[Any]:
    """The dtype of a float that NumPy does not have."""
    return np.dtype([(name, NAMED_FLOATS[name])])


def name_in_torch(a: Any) -> str | None:
    """The name of a tensor's dtype, if NumPy does not have it."""
    name = str(a.dtype).partition(".")[2]
    return name if name in NAMED_FLOATS else None


def bits_of(a: Any) -> Any:
    """A tensor whose dtype NumPy does not have, as integers of its size."""
    return a.view(getattr(sys.modules["torch"], NAMED_FLOATS[name_in_torch(a) or ""]))


def is_plain(array: Array) -> bool:
    """Whether the elements are keys as they are: numbers in the machine's byte order."""
    dtype = array.dtype
    return dtype.isnative and (dtype.kind in "iufbMm" or (dtype.kind == "V" and name_of(dtype) in NAMED_FLOATS))


def take(a: Any) -> tuple[Array, Callable[[Array], Any]]:
    """The array in the processor's memory, without a copy where it is there, and what makes results the same kind."""
    if isinstance(a, np.ndarray):
        if isinstance(a, np.ma.MaskedArray):
            raise TypeError("masked arrays are not sorted here: use numpy.ma's functions, or a.filled()")
        return a, _same
    root = type(a).__module__.partition(".")[0]
    if root == "torch":
        if a.device.type != "cpu":
            raise _elsewhere(a.device)
        torch, name = sys.modules["torch"], name_in_torch(a)
        if name is None:
            return a.detach().numpy(), torch.from_numpy
        dtype = named_float(name)
        give_back = lambda result: torch.from_numpy(result.view(dtype[0])).view(a.dtype) if result.dtype == dtype else torch.from_numpy(result)
        return bits_of(a.detach()).numpy().view(dtype), give_back
    if hasattr(a, "__cuda_array_interface__"):
        raise _elsewhere("a CUDA device")
    if hasattr(a, "__dlpack__") and not hasattr(a, "__array_interface__") and not isinstance(a, np.generic):
        device, _ = a.__dlpack_device__()
        if device not in (1, 3):  # kDLCPU, kDLCUDAHost
            raise _elsewhere(f"DLPack device {device}")
        space = a.__array_namespace__() if hasattr(a, "__array_namespace__") else sys.modules[root]
        return np.from_dlpack(a), space.from_dlpack
    return np.asanyarray(a), _same


def _same(result: Array) -> Array:
    return result


def _elsewhere(place: object) -> TypeError:
    return TypeError(
        f"the array is on {place}, where sort, sort_inplace and argsort work, and this function does not: move it to the processor's "
        "memory first, such as with a.cpu() or a.get()"
    )


def native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in the machine's byte order."""
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def ready(array: Array, axis: int) -> Array:
    """A ready array with this axis last: the array itself where it is ready, otherwise a copy."""
    moved = np.asarray(array) if axis == array.ndim - 1 else np.moveaxis(np.asarray(array), axis, -1)
    return np.require(moved, dtype=native(array.dtype), requirements=["C", "A"])


def back(result: Array, axis: int) -> Array:
    """The last axis back in its place."""
    return result if axis == result.ndim - 1 else np.moveaxis(result, -1, axis)


def check_axis(array: Array, axis: Any) -> int:
    """The axis counted from 0; NumPy's error if the array does not have it."""
    try:
        return normalize_axis_index(index(axis), array.ndim)
    except TypeError:
        raise TypeError(f"axis is {axis!r}: integer argument expected, or None where the array is to be flattened") from None


def index_type(name: Any) -> Any:
    """The type of indices with this name."""
    try:
        return INDEX_TYPES[np.dtype(name).name]
    except (KeyError, TypeError):
        raise ValueError(f"unknown index_dtype {name!r}: use one of {', '.join(map(repr, INDEX_TYPES))}") from None


@lru_cache(maxsize=64)
def index_name(name: Any) -> str:
    """What it is called: kept, because NumPy makes the name anew each time."""
    return str(np.dtype(index_type(name)).name)


def check_offsets(array: Array, offsets: Any) -> list[int] | None:
    """Offsets as a list; None stands for no segments."""
    if offsets is None:
        return None
    if array.ndim != 1:
        raise ValueError(f"offsets are for arrays of one axis, and this one has {array.ndim}: pass a.ravel()")
    return check_numbers(offsets).tolist()  # type: ignore[no-any-return]


def check_numbers(offsets: Any) -> Array:
    """Offsets as an array of integers from 0 upwards."""
    numbers = np.asarray(take(offsets)[0])
    if numbers.ndim != 1 or numbers.size == 0 or (numbers.dtype.kind not in "iu"):
        raise ValueError("offsets must be a sequence of integers, one more than there are segments")
    if numbers.dtype.kind == "i" and numbers.min() < 0:
        raise ValueError(f"an offset is {numbers.min()}: offsets count from 0 upwards")
    return numbers


def complex_order(array: Array, options: Sorter) -> Array:
    """Indices that sort complex numbers along the last axis, as NumPy orders them: numbers without NaN, with an imaginary one, with a real
    one, with two; by their real parts, then by their imaginary ones.
    """
    parts = [np.ascontiguousarray(array.imag), np.ascontiguousarray(array.real)]
    missing = [np.isnan(part) for part in parts]
    if any(part.any() for part in missing):
        parts.append(missing[0].astype(np.uint8) + 2 * missing[1].astype(np.uint8))
        ascending = sorter(False, True, "last", "auto", None, False)
        return keys_order(parts, [options, options, ascending])
    return keys_order(parts, [options, options])


def keys_order(keys: list[Array], sorters: list[Sorter]) -> Array:
    """Indices that sort by several ready keys, the last one first."""
    order: Array | None = None
    for key, options in zip(keys, sorters):
        if order is not None:
            key = np.take_along_axis(key, order, -1)
        found = order_of(key, options, np.int64)
        order = found if order is None else np.take_along_axis(order, found, -1)
    assert order is not None, "there is a key"
    return order


def order_of(keys: Array, options: Sorter, dtype: Any, offsets: list[int] | None = None) -> Array:
    """Indices that sort a ready array along the last axis."""
    if keys.dtype.kind == "c":
        if offsets is not None:
            raise TypeError("segments of complex numbers are not sorted here: sort one segment at a time")
        return complex_order(keys, options).astype(dtype, copy=False)
    shape = keys.shape if offsets is None else (max(0, offsets[-1] - offsets[0]),)
    indices = np.empty(shape, dtype)
    options.argsort(keys, indices, offsets)
    return indices
