"""Sort arrays with sorting networks: NumPy's functions and results, with more to ask for.

>>> import numpy as np
>>> import bitonic
>>> bitonic.sort(np.array([3.0, np.nan, -0.0, 1.0]))
array([-0.,  1.,  3., nan])
>>> bitonic.argsort(np.array([30, 10, 20]), descending=True, index_dtype="uint32")
array([0, 2, 1], dtype=uint32)

Functions that NumPy has too take its keywords and give its results. What they take beyond that means the same in all of them:

``descending``
    Largest first. Equal keys keep the order that ``stable`` gives them; what is missing comes last all the same.
``stable``
    Keys that are equal keep the order in which they came. ``argsort`` and ``topk`` always break ties by lowest index.
``nan``
    ``'last'`` is NumPy's order: NaN and NaT come last, and -0.0 equals 0.0. ``'total'`` is IEEE 754 total order: negative NaNs, numbers
    with -0.0 before 0.0, positive NaNs; and NaT is the least of its type.
``offsets``
    The array is one-dimensional, and every segment ``a[offsets[i]:offsets[i + 1]]`` is sorted for itself.
``engine``
    ``'cpu'``, ``'opencl'``, ``'cuda'``, or ``'auto'``, which takes a device where :func:`tune` found that it is faster.
``threads``
    At most how many threads; None for all cores. Small arrays are sorted on one.
``oblivious``
    No branch and no address depends on a key, so that time tells nothing about secret keys.
``index_dtype``
    The type of indices: ``'int64'``, ``'int32'``, ``'uint32'`` or ``'uint64'``.

Arrays may be lists, NumPy arrays of any shape, strides and byte order, or arrays of other libraries in the processor's memory that
speak DLPack, such as PyTorch's tensors; results are of the same kind. ``sort``, ``sort_inplace``, ``argsort``, ``sort_pairs`` and
``topk`` take PyTorch's and CuPy's arrays on a CUDA device, too, and sort them there, on their current stream. Sorts leave the interpreter to other threads. An array that is
sorted in place must not be used by another thread meanwhile.
"""

from bitonic import networks
from bitonic._core import Device, Plan, devices, tune
from bitonic._machine import explain
from bitonic._selecting import TopK, argpartition, partition, topk
from bitonic._sorted import is_sorted, merge, searchsorted, unique
from bitonic._sorting import argsort, lexsort, sort, sort_inplace, sort_pairs
from bitonic._tables import sort_table

__all__ = [
    "Device",
    "Plan",
    "TopK",
    "argpartition",
    "argsort",
    "devices",
    "explain",
    "is_sorted",
    "lexsort",
    "merge",
    "networks",
    "partition",
    "searchsorted",
    "sort",
    "sort_inplace",
    "sort_pairs",
    "sort_table",
    "topk",
    "tune",
    "unique",
]
