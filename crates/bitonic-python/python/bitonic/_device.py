"""Arrays on a CUDA device, of PyTorch, CuPy and whoever else speaks the CUDA array interface: sorted where they are, on their stream.

NaNs come last, as in NumPy, unless the total order is asked for; -0.0 comes before 0.0. ``argsort``, ``topk`` and stable sorts call these two equal,
and all NaNs, as NumPy does: they compare a copy of the keys in which they are, and take the keys by index. Memory comes from the library that
owns the array, so that its allocator knows of it, and is given back to it in the order of the stream.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from operator import index
from typing import Any, Callable, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from bitonic._arrays import NAMED_FLOATS, bits_of, check_numbers, index_name, name_in_torch, name_of, named_float
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
    """Whether an array is on a CUDA device."""
    if _library(a) == "torch":
        # The attribute below is a RuntimeError of tensors with gradients.
        return bool(getattr(a, "is_cuda", False)) and not a.is_sparse
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


@lru_cache(maxsize=None)
def _dtype_of_torch(dtype: Any) -> np.dtype[Any]:
    name = str(dtype).partition(".")[2]
    try:
        return named_float(name) if name in NAMED_FLOATS else np.dtype(name)
    except TypeError:
        raise TypeError(f"tensors of {dtype} are not sorted here: convert them to integers or floats") from None


def find(a: Any) -> Place:
    """Where an array is."""
    library = _library(a)
    if library == "torch":
        # Asked for one by one: putting the interface below together takes as long as all else that a call does here.
        device = a.get_device()
        stream = _stream_of_torch(device)
        return Place(a.data_ptr(), tuple(a.shape), _dtype_of_torch(a.dtype), a.is_contiguous(), True, device, stream)
    described = a.__cuda_array_interface__
    address, is_read_only = described["data"]
    dtype = np.dtype(described["typestr"])
    shape = tuple(described["shape"])
    strides = described.get("strides")
    if library == "cupy":
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


def _check(place: Place, nan: str, oblivious: bool, engine: str) -> None:
    if engine not in ("auto", "cuda"):
        raise ValueError(f"the array is on a CUDA device, and engine={engine!r} does not sort there: leave engine out")
    if oblivious:
        raise ValueError("arrays on a GPU are not sorted obliviously here: sort a copy in the processor's memory, such as a.cpu()")
    if nan == "last" and place.dtype.kind in "mM":
        raise ValueError("times on a GPU are sorted with NaT first: say so with nan='total'")


def _moved(a: Any, source: int, destination: int) -> Any:
    """A view with an axis in another place."""
    return a.movedim(source, destination) if _library(a) == "torch" else sys.modules["cupy"].moveaxis(a, source, destination)


def _same(result: Any) -> Any:
    return result


def _along(a: Any, axis: int | None) -> tuple[Any, Callable[[Any], Any]]:
    """The array with this axis last, and what brings it back to its place in a result: both are views."""
    if axis is None:
        if _library(a) not in ("torch", "cupy"):
            raise TypeError(f"a {type(a).__name__} on a GPU is not flattened here: give an array of one axis")
        return a.reshape(-1), _same
    # The interface is all that arrays of some libraries have.
    axes = len(a.shape if hasattr(a, "shape") else a.__cuda_array_interface__["shape"])
    place = normalize_axis_index(index(axis), axes)
    if place == axes - 1:
        return a, _same
    if _library(a) not in ("torch", "cupy"):
        raise ValueError(f"a {type(a).__name__} on a GPU is sorted along its last axis: move the axis there")
    return _moved(a, place, -1), lambda result: _moved(result, -1, place)


def _copy(a: Any) -> Any:
    """A contiguous copy on the device."""
    if _library(a) == "torch":
        return a.detach().clone(memory_format=sys.modules["torch"].contiguous_format)
    if _library(a) == "cupy":
        return a.copy(order="C")
    raise TypeError(f"a {type(a).__name__} on a GPU is sorted in place only: use bitonic.sort_inplace on a copy")


def _target(a: Any, place: Place) -> tuple[Any, tuple[int, int] | None]:
    """What a copy of an array is sorted in, and where it is sorted from: an empty array and the array, or a contiguous copy and nowhere."""
    if not place.is_contiguous or place.array[1] < 2:
        return _copy(a), None
    if _library(a) == "torch":
        return sys.modules["torch"].empty_like(a), place.array
    if _library(a) == "cupy":
        return sys.modules["cupy"].empty(a.shape, a.dtype), place.array
    return _copy(a), None


def _copied(copy: Any, place: Place) -> Place:
    """Where a contiguous copy is of an array that is at this place."""
    return place._replace(address=_address(copy), is_contiguous=True, is_writeable=True)


def _empty(a: Any, shape: int | tuple[int, ...], dtype: str) -> Any:
    """An array of the same library on the same device."""
    if _library(a) == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=a.device)
    return sys.modules["cupy"].empty(shape, dtype)


def _zeros(a: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """The same with zeros."""
    zeros = _empty(a, shape, dtype)
    zeros[...] = 0
    return zeros


def _with_indices(a: Any, indices: Any, dtype: str) -> Any:
    """Indices of 32 bits as another type."""
    if _library(a) == "torch":
        return indices.to(getattr(sys.modules["torch"], dtype))
    return indices.astype(dtype, copy=False)


def _workspace(a: Any, place: Place, options: Sorter, beside: str) -> tuple[Any, tuple[int, int] | None]:
    _, length = place.array
    size = options.device_workspace(place.dtype, length, place.shape[-1], beside, place.device)
    if size == 0:
        return None, None
    room = _empty(a, size, "uint8")
    return room, (_address(room), size)


class Segments(NamedTuple):
    """Where segments begin and end, on the device."""

    offsets: Any
    address: int
    is_wide: bool
    number: int
    longest: int
    # From where to where they go, where the offsets are known here.
    covered: slice | None


def _segments(a: Any, place: Place, offsets: Any) -> Segments:
    """Segments of an array of one axis. Offsets on the device are not looked at: nothing waits for it."""
    length = place.shape[0]
    if len(place.shape) != 1:
        raise ValueError(f"offsets are for arrays of one axis, and this one has {len(place.shape)}: flatten it")
    if is_on_device(offsets):
        found = find(offsets)
        if found.dtype.kind not in "iu" or found.dtype.itemsize not in (4, 8) or len(found.shape) != 1:
            raise ValueError("offsets on a GPU must be integers of 32 or 64 bits on one axis, one more than there are segments")
        if found.device != place.device or _library(offsets) != _library(a):
            raise ValueError("the offsets are on another GPU than the array, or of another library: bring them together, or give them as a list")
        if not found.is_contiguous:
            offsets = _copy(offsets)
        return _on_device(offsets, max(0, found.shape[0] - 1), length, None)
    numbers = np.asarray(check_numbers(offsets), dtype=np.int64)
    lengths = np.diff(numbers)
    if lengths.size and lengths.min() < 0:
        raise ValueError("offsets must ascend")
    if numbers[-1] > length:
        raise ValueError(f"the last offset is {numbers[-1]}, and the array has {length} keys")
    longest = int(lengths.max()) if lengths.size else 0
    return _on_device(_to_device(a, numbers), int(lengths.size), longest, slice(int(numbers[0]), int(numbers[-1])))


def _on_device(offsets: Any, count: int, longest: int, covered: slice | None) -> Segments:
    found = find(offsets)
    return Segments(offsets, found.address, found.dtype.itemsize == 8, count, longest, covered)


def _rows(a: Any, place: Place) -> Segments:
    """Rows as segments."""
    length, row = place.array[1], place.shape[-1]
    return _on_device(_numbers(a, length + 1, row), length // row, row, None)


def _numbers(a: Any, end: int, step: int = 1) -> Any:
    """Every step-th number below an end, on the device of an array."""
    if _library(a) == "torch":
        return sys.modules["torch"].arange(0, end, step, device=a.device)
    return sys.modules["cupy"].arange(0, end, step)


def _to_device(a: Any, numbers: np.ndarray[Any, Any]) -> Any:
    """Numbers of the processor's memory as an array of the same library on the same device."""
    if _library(a) == "torch":
        return sys.modules["torch"].from_numpy(numbers).to(a.device)
    return sys.modules["cupy"].asarray(numbers)


def _sort_segments(
    keys: Any, place: Place, segments: Segments, options: Sorter, beside: str = "nothing", other: Any = None
) -> None:
    """Sorts segments, with what is beside the keys: a place for indices, or values."""
    length = place.array[1]
    if length == 0 or segments.number == 0 or segments.longest == 0:
        return
    size = options.device_segments_workspace(
        place.dtype, length, segments.number, segments.longest, beside, place.device
    )
    room = _empty(keys, size, "uint8")
    options.device_segments(
        place.dtype,
        place.array,
        beside,
        (0, 0) if other is None else (_address(other), length),
        (segments.address, segments.number + 1),
        segments.is_wide,
        segments.longest,
        place.device,
        place.stream,
        (_address(room), size),
    )
    del room  # Its library reuses it in the order of the stream.


def _taken(a: Any, order: Any) -> Any:
    """What has these indices along the last axis."""
    if _library(a) == "torch":
        if name_in_torch(a):
            return _taken(bits_of(a.detach()), order).view(a.dtype)
        return sys.modules["torch"].take_along_dim(a.detach(), order, -1)
    return sys.modules["cupy"].take_along_axis(a, order, -1)


def _ties(place: Place, nan: str) -> bool:
    """Whether keys of different bits are equal, which only indices tell: zeros of both signs, and NaNs."""
    kind = place.dtype.kind
    return nan == "last" and (kind == "f" or (kind not in "iub" and name_of(place.dtype) in NAMED_FLOATS))


def sort(
    a: Any, axis: int | None, options: Sorter, nan: str, oblivious: bool, engine: str, offsets: Any, stable: bool
) -> Any:
    """A sorted copy on the device."""
    a, back = _along(a, axis)
    place = find(a)
    _check(place, nan, oblivious, engine)
    if stable and _ties(place, nan):
        return back(_taken(a, _order(a, options, nan, offsets)))
    result, source = (_copy(a), None) if offsets is not None else _target(a, place)
    place = _copied(result, place)
    if offsets is not None:
        _sort_segments(result, place, _segments(result, place, offsets), options)
    elif place.array[1] > 1:
        room, workspace = _workspace(result, place, options, "nothing")
        options.device_sort(place.dtype, place.array, place.shape[-1], place.device, place.stream, workspace, source)
        del room  # Its library reuses it in the order of the stream.
    return back(result)


def sort_inplace(
    a: Any, axis: int, options: Sorter, nan: str, oblivious: bool, engine: str, offsets: Any, stable: bool
) -> None:
    """Sorts on the device without any memory beside the array; segments with as much memory again, if they are long, and what is not
    contiguous along the axis by way of a copy."""
    a, _ = _along(a, axis)
    place = find(a)
    _check(place, nan, oblivious, engine)
    if stable and _ties(place, nan):
        raise ValueError("floats on a GPU are not sorted stably in place: leave stable out, say nan='total', or use bitonic.sort")
    if not place.is_writeable:
        raise ValueError("the array is read-only: sort a copy with bitonic.sort(a)")
    if not place.is_contiguous and _library(a) not in ("torch", "cupy"):
        raise ValueError(f"a {type(a).__name__} on a GPU is sorted in place where it is contiguous: sort a contiguous copy")
    if not place.is_contiguous:
        _write(a, sort(a, -1, options, nan, oblivious, engine, offsets, stable))
        return
    if offsets is not None:
        if _library(a) not in ("torch", "cupy"):
            raise TypeError(f"segments of a {type(a).__name__} on a GPU are not sorted here: give a torch or CuPy array")
        _sort_segments(a, place, _segments(a, place, offsets), options)
    elif place.array[1] > 1:
        options.device_sort(place.dtype, place.array, place.shape[-1], place.device, place.stream)


def _write(a: Any, result: Any) -> None:
    """Copies a result to where the array is."""
    if _library(a) == "torch":
        a.detach().copy_(result)
    else:
        a[...] = result


def argsort(
    a: Any, axis: int | None, options: Sorter, nan: str, oblivious: bool, engine: str, offsets: Any, index_dtype: Any
) -> Any:
    """Indices that sort an array along an axis, or in its segments; equal keys by lowest index."""
    a, back = _along(a, axis)
    place = find(a)
    _check(place, nan, oblivious, engine)
    if _library(a) not in ("torch", "cupy"):
        raise TypeError(
            f"the order of a {type(a).__name__} on a GPU is not found here: take it of a copy in the processor's memory, such as a.cpu()"
        )
    dtype = index_name(index_dtype)
    indices, segments = _indices(a, place, options, nan, offsets)
    # Offsets that are not known here may leave places of no segment.
    if segments is not None and segments.covered is not None:
        indices = indices[segments.covered]
    return back(_with_indices(a, indices, dtype))


def _indices(a: Any, place: Place, options: Sorter, nan: str, offsets: Any) -> tuple[Any, Segments | None]:
    """The index of every key of the sorted rows or segments, 0 for those of no segment; equal keys by lowest index."""
    length, row = place.array[1], place.shape[-1]
    source = None
    if _ties(place, nan):
        keys = _compared_as_numpy(a)
    elif offsets is None and length == row:
        keys, source = _target(a, place)
    else:
        keys = _copy(a)
    place = _copied(keys, place)
    segments = None if offsets is None else _segments(keys, place, offsets)
    longest = row if segments is None else segments.longest
    if longest > 2**31:
        raise ValueError(f"indices of {longest} keys do not fit 31 bits: sort parts of the array")
    if segments is not None:
        indices = _zeros(keys, place.shape, "int32")
        _sort_segments(keys, place, segments, options, "indices", indices)
        return indices, segments
    indices = _empty(keys, place.shape, "int32")
    if length == row and length:
        _sort_both(keys, place, options, "indices", indices, source)
    elif length:
        _sort_segments(keys, place, _rows(keys, place), options, "indices", indices)
    return indices, None


def _order(a: Any, options: Sorter, nan: str, offsets: Any) -> Any:
    """Where the keys of the sorted array were along its last axis. Those of no segment stay where they are."""
    indices, segments = _indices(a, find(a), options, nan, offsets)
    indices = _with_indices(a, indices, "int64")
    length = indices.shape[-1]
    if segments is None or length == 0:
        return indices
    library = sys.modules[_library(a)]
    here, offsets = _numbers(a, length), _with_indices(a, segments.offsets, "int64")
    begun = library.searchsorted(offsets, here, side="right")
    # Offsets that do not ascend give any order, and no place outside of the array.
    places = library.clip(offsets[begun - 1] + indices, 0, length - 1)
    return library.where((begun > 0) & (begun <= segments.number), places, here)


def _sort_both(
    keys: Any, place: Place, options: Sorter, beside: str, other: Any, source: tuple[int, int] | None = None
) -> None:
    """Sorts one row, with what is beside the keys."""
    room, workspace = _workspace(keys, place, options, beside)
    arrays = place.array, beside, (_address(other), place.array[1])
    options.device_sort_both(place.dtype, *arrays, place.device, place.stream, workspace, source)
    del room  # Its library reuses it in the order of the stream.


def sort_pairs(
    keys: Any,
    values: Any,
    axis: int,
    options: Sorter,
    nan: str,
    oblivious: bool,
    engine: str,
    offsets: Any,
    stable: bool,
) -> tuple[Any, Any]:
    """Sorted copies of keys and of values that move with them, on the device. Values of 4 or 8 bytes travel with their keys; others, and those
    of stable sorts, are taken by index."""
    if _library(keys) not in ("torch", "cupy"):
        raise TypeError(f"a {type(keys).__name__} on a GPU is sorted without values here: give torch or CuPy arrays")
    if _library(values) != _library(keys) or values.device != keys.device:
        raise ValueError("the keys are on a CUDA device, and the values are elsewhere, or of another library: bring them together")
    if tuple(values.shape) != tuple(keys.shape):
        raise ValueError(
            f"there are keys of shape {tuple(keys.shape)} but values of shape {tuple(values.shape)}: give one value for every key"
        )
    (keys, back), (values, _) = _along(keys, axis), _along(values, axis)
    place = find(keys)
    _check(place, nan, oblivious, engine)
    size = values.element_size() if _library(values) == "torch" else values.dtype.itemsize
    beside = {4: "narrow", 8: "wide"}.get(size)
    if beside is None or stable:
        order = _order(keys, options, nan, offsets)
        return back(_taken(keys, order)), back(_taken(values, order))
    sorted_keys, sorted_values = _copy(keys), _copy(values)
    place = _copied(sorted_keys, place)
    length, row = place.array[1], place.shape[-1]
    if offsets is not None:
        segments = _segments(sorted_keys, place, offsets)
        _sort_segments(sorted_keys, place, segments, options, beside, sorted_values)
    elif length > row:
        _sort_segments(sorted_keys, place, _rows(sorted_keys, place), options, beside, sorted_values)
    elif length > 1:
        _sort_both(sorted_keys, place, options, beside, sorted_values)
    return back(sorted_keys), back(sorted_values)


# The bits of the largest value: infinity, where there is one. What is behind it are NaNs.
_LARGEST = {"float8_e4m3fn": 0x7E, "float8_e5m2": 0x7C, "bfloat16": 0x7F80}


def _compared_as_numpy(keys: Any) -> Any:
    """A contiguous copy of floats in which bits are equal where NumPy calls them equal: all NaNs one NaN, and no -0.0."""
    ends = {"nan": np.nan, "posinf": np.inf, "neginf": -np.inf}
    if _library(keys) != "torch":
        cupy = sys.modules["cupy"]
        return cupy.ascontiguousarray(cupy.nan_to_num(keys, **ends) + 0.0)
    keys = keys.detach()
    name = name_in_torch(keys)
    if name is None:
        # What comes from the first is new.
        return sys.modules["torch"].nan_to_num(keys, **ends).add_(0.0).contiguous()
    # PyTorch does not compare 8-bit floats.
    bits = bits_of(keys)
    largest, without_sign = _LARGEST[name], 0x7F if keys.element_size() == 1 else 0x7FFF
    magnitudes = bits & without_sign
    compared = bits.masked_fill(magnitudes > largest, without_sign).masked_fill_(magnitudes == 0, 0)
    return compared.contiguous().view(keys.dtype)


def topk(
    a: Any, k: int, axis: int, options: Sorter, nan: str, oblivious: bool, engine: str, index_dtype: Any, offsets: Any
) -> tuple[Any, Any]:
    """The best k keys along an axis, or of every segment, and where they were; equal keys by lowest index."""
    a, back = _along(a, axis)
    keys = a.detach() if _library(a) == "torch" else a
    place = find(keys)
    _check(place, nan, oblivious, engine)
    row = place.shape[-1]
    if _library(a) not in ("torch", "cupy"):
        raise TypeError(
            f"the best keys of a {type(a).__name__} on a GPU are not found here: take them from a copy in the processor's memory, such as a.cpu()"
        )
    if not 0 <= k or (k > row and offsets is None):
        most = f"from 0 to {row}" if offsets is None else "from 0 upwards"
        raise ValueError(f"k is {k} and the axis has {row} keys: give k {most}")
    dtype = index_name(index_dtype)
    has_ties = _ties(place, nan)
    if has_ties:
        keys = _compared_as_numpy(a)
    elif not place.is_contiguous:
        keys = _copy(a)
    place = _copied(keys, place)
    if offsets is not None:
        segments = _segments(keys, place, offsets)
        best, indices = _best_of_segments(keys, place, k, segments, options)
        if has_ties:
            best = _taken_of_segments(a, indices, segments)
    else:
        best, indices = _best_of_rows(keys, place, k, options)
        if has_ties:
            best = _taken(a, _with_indices(a, indices, "int64"))
    return back(best), back(_with_indices(a, indices, dtype))


def _best_of_rows(keys: Any, place: Place, k: int, options: Sorter) -> tuple[Any, Any]:
    row, length = place.shape[-1], place.array[1]
    shape = (*place.shape[:-1], k)
    best, indices = _empty(keys, shape, name_of(place.dtype)), _empty(keys, shape, "int32")
    if length and k:
        rows = length // row
        size = options.device_topk_workspace(place.dtype, length, row, k, place.device)
        room = _empty(keys, size, "uint8") if size else None
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
    return best, indices


def _best_of_segments(keys: Any, place: Place, k: int, segments: Segments, options: Sorter) -> tuple[Any, Any]:
    """Places that a short segment leaves have the index -1 and the key 0."""
    # No segment has more keys than the longest.
    length, places = place.array[1], min(k, segments.longest)
    best, indices = _places(keys, place, (segments.number, places))
    if length and places and segments.number:
        found = (place.dtype, length, segments.number, segments.longest, places, place.device)
        size = options.device_topk_segments_workspace(*found)
        room = _empty(keys, max(size, 1), "uint8")
        options.device_topk_segments(
            place.dtype,
            place.array,
            (segments.address, segments.number + 1),
            segments.is_wide,
            segments.longest,
            places,
            (_address(best), segments.number * places),
            (_address(indices), segments.number * places),
            place.device,
            place.stream,
            (_address(room), size),
        )
        del room  # Its library reuses it in the order of the stream.
    if places < k:
        found_best, found_indices = best, indices
        best, indices = _places(keys, place, (segments.number, k))
        best[:, :places], indices[:, :places] = found_best, found_indices
    return best, indices


def _places(a: Any, place: Place, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Keys that are 0 and indices that are -1, on the device of an array."""
    indices = _empty(a, shape, "int32")
    indices[...] = -1
    return _zeros(a, shape, name_of(place.dtype)), indices


def _taken_of_segments(a: Any, indices: Any, segments: Segments) -> Any:
    """The keys that have these indices in their segments, and 0 where an index is -1."""
    if _library(a) == "torch" and name_in_torch(a):
        return _taken_of_segments(bits_of(a.detach()), indices, segments).view(a.dtype)
    begins = _with_indices(a, segments.offsets, "int64")[:-1].reshape(-1, 1)
    places = begins + _with_indices(a, indices, "int64")
    places[indices < 0] = 0
    taken = _taken(a, places.reshape(-1)) if a.shape[0] else _zeros(a, places.shape, name_of(find(a).dtype))
    taken = taken.reshape(places.shape)
    taken[indices < 0] = 0
    return taken
