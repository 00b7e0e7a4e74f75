"""Arrays on a CUDA device, of PyTorch, CuPy and whoever else speaks the CUDA array interface: sorted where they are, on their stream.

The order is the total one, because nothing else is compared there. Memory comes from the library that owns the array, so that its
allocator knows of it, and is given back to it in the order of the stream.
"""

from __future__ import annotations

import sys
from operator import index
from typing import Any, NamedTuple

import numpy as np

from bitonic._arrays import index_type
from bitonic._core import Sorter


class Place(NamedTuple):
    """Where an array is on a device, and what it holds."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_contiguous: bool
    is_writeable: bool
    device: int
    stream: int

    @property
    def array(self) -> tuple[int, int]:
        length = 1
        for side in self.shape:
            length *= side
        return self.address, length


def is_on_device(a: Any) -> bool:
    """Whether an array is on a CUDA device. PyTorch's tensors have the attribute there only."""
    return not isinstance(a, np.ndarray) and hasattr(a, "__cuda_array_interface__")


def _library(a: Any) -> str:
    return type(a).__module__.partition(".")[0]


def _address(a: Any) -> int:
    """Where an array begins that was made here: cheaper than asking for all about it."""
    return int(a.data_ptr() if _library(a) == "torch" else a.data.ptr)


def _stream_of_torch(device: int) -> int:
    torch = sys.modules["torch"]
    # What PyTorch's own compilers ask for, in a tenth of the time.
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return int(raw(device) if raw else torch.cuda.current_stream(device).cuda_stream)


def find(a: Any) -> Place:
    """Where an array is."""
    described = a.__cuda_array_interface__
    address, is_read_only = described["data"]
    dtype = np.dtype(described["typestr"])
    shape = tuple(described["shape"])
    strides = described.get("strides")
    library = _library(a)
    if library == "torch":
        device = a.device.index
        stream = _stream_of_torch(device)
    elif library == "cupy":
        device, stream = a.device.id, sys.modules["cupy"].cuda.get_current_stream().ptr
    else:
        # The protocol's own word: 1 and None stand for the default stream.
        device = a.__dlpack_device__()[1] if hasattr(a, "__dlpack_device__") else 0
        stream = described.get("stream") or 1
    is_contiguous = strides is None or _is_contiguous(shape, strides, dtype.itemsize)
    return Place(address or 0, shape, dtype, is_contiguous, not is_read_only, device, stream)


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> bool:
    for side, stride in zip(reversed(shape), reversed(strides)):
        if side != 1 and stride != size:
            return False
        size *= side
    return True


def _check(place: Place, axis: int | None, nan: str, oblivious: bool, engine: str, offsets: Any) -> None:
    if engine not in ("auto", "cuda"):
        raise ValueError(f"the array is on a CUDA device, and engine={engine!r} does not sort there: leave engine out")
    if offsets is not None:
        raise TypeError("segments of arrays on a GPU are not sorted here: sort a copy in the processor's memory, such as a.cpu()")
    if oblivious:
        raise ValueError("arrays on a GPU are not sorted obliviously here: sort a copy in the processor's memory, such as a.cpu()")
    if not place.shape or axis is None or index(axis) not in (-1, len(place.shape) - 1):
        raise ValueError("arrays on a GPU are sorted along their last axis: move the axis there, such as with a.movedim(axis, -1)")
    if nan == "last" and place.dtype.kind == "f":
        raise ValueError(
            "floats on a GPU are sorted in total order, where negative NaNs come first and -0.0 before 0.0: say so with nan='total', "
            "or sort a copy in the processor's memory, such as a.cpu()"
        )
    if nan == "last" and place.dtype.kind in "mM":
        raise ValueError("times on a GPU are sorted with NaT first: say so with nan='total'")


def _copy(a: Any) -> Any:
    """A contiguous copy on the device."""
    if _library(a) == "torch":
        return a.detach().clone(memory_format=sys.modules["torch"].contiguous_format)
    if _library(a) == "cupy":
        return a.copy(order="C")
    raise TypeError(f"a {type(a).__name__} on a GPU is sorted in place only: use bitonic.sort_inplace on a copy")


def _empty(a: Any, shape: int | tuple[int, ...], dtype: str) -> Any:
    """An array of the same library on the same device."""
    if _library(a) == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=a.device)
    return sys.modules["cupy"].empty(shape, dtype)


def _with_indices(a: Any, indices: Any, dtype: str) -> Any:
    """Indices of 32 bits as another type."""
    if _library(a) == "torch":
        return indices.to(getattr(sys.modules["torch"], dtype))
    return indices.astype(dtype, copy=False)


def _workspace(a: Any, place: Place, options: Sorter, is_argsort: bool) -> tuple[Any, tuple[int, int] | None]:
    _, length = place.array
    size = options.device_workspace(place.dtype, length, place.shape[-1], is_argsort, place.device)
    if size == 0:
        return None, None
    room = _empty(a, size, "uint8")
    return room, (_address(room), size)


def sort(a: Any, axis: int | None, options: Sorter, nan: str, oblivious: bool, engine: str, offsets: Any) -> Any:
    """A sorted copy on the device."""
    _check(find(a), axis, nan, oblivious, engine, offsets)
    result = _copy(a)
    place = find(result)
    if place.array[1] > 1:
        room, workspace = _workspace(result, place, options, False)
        options.device_sort(place.dtype, place.array, place.shape[-1], place.device, place.stream, workspace)
        del room  # Its library reuses it in the order of the stream.
    return result


def sort_inplace(a: Any, axis: int, options: Sorter, nan: str, oblivious: bool, engine: str, offsets: Any) -> None:
    """Sorts on the device without any memory beside the array."""
    place = find(a.detach() if _library(a) == "torch" else a)
    _check(place, axis, nan, oblivious, engine, offsets)
    if not place.is_writeable:
        raise ValueError("the array is read-only: sort a copy with bitonic.sort(a)")
    if not place.is_contiguous:
        raise ValueError("arrays on a GPU are sorted in place where they are contiguous: use bitonic.sort(a), or make a copy")
    if place.array[1] > 1:
        options.device_sort(place.dtype, place.array, place.shape[-1], place.device, place.stream)


def argsort(
    a: Any, axis: int | None, options: Sorter, nan: str, oblivious: bool, engine: str, offsets: Any, index_dtype: Any
) -> Any:
    """Indices that sort an array of one axis; equal keys by lowest index."""
    place = find(a.detach() if _library(a) == "torch" else a)
    _check(place, axis, nan, oblivious, engine, offsets)
    if len(place.shape) != 1:
        raise ValueError(f"indices are found for arrays of one axis on a GPU, and this one has {len(place.shape)}: take row by row")
    dtype = np.dtype(index_type(index_dtype)).name
    keys = _copy(a)
    place = find(keys)
    indices = _empty(a, place.shape[0], "int32")
    if place.shape[0] > 2**31:
        raise ValueError(f"indices of {place.shape[0]} keys do not fit 31 bits: sort parts of the array")
    if place.shape[0]:
        room, workspace = _workspace(keys, place, options, True)
        options.device_argsort(place.dtype, place.array, (_address(indices), place.shape[0]), place.device, place.stream, workspace)
        del room
    return _with_indices(a, indices, dtype)


def topk(
    a: Any, k: int, axis: int, options: Sorter, nan: str, oblivious: bool, engine: str, index_dtype: Any
) -> tuple[Any, Any]:
    """The best k keys of every row and where they were; equal keys by lowest index."""
    keys = a.detach() if _library(a) == "torch" else a
    place = find(keys)
    _check(place, axis, nan, oblivious, engine, None)
    row = place.shape[-1]
    if _library(a) not in ("torch", "cupy"):
        raise TypeError(
            f"the best keys of a {type(a).__name__} on a GPU are not found here: take them from a copy in the processor's memory, such as a.cpu()"
        )
    if not 0 <= k <= row:
        raise ValueError(f"k is {k} and the axis has {row} keys: give k from 0 to {row}")
    dtype = np.dtype(index_type(index_dtype)).name
    if not place.is_contiguous:
        keys = _copy(a)
        place = find(keys)
    shape = (*place.shape[:-1], k)
    best, indices = _empty(a, shape, place.dtype.name), _empty(a, shape, "int32")
    length = place.array[1]
    if length and k:
        rows = length // row
        size = options.device_topk_workspace(place.dtype, length, row, k, place.device)
        room = _empty(a, size, "uint8") if size else None
        options.device_topk(
            place.dtype,
            place.array,
            row,
            k,
            (_address(best), rows * k),
            (_address(indices), rows * k),
            place.device,
            place.stream,
            (_address(room), size) if size else None,
        )
        del room  # Its library reuses it in the order of the stream.
    return best, _with_indices(a, indices, dtype)
