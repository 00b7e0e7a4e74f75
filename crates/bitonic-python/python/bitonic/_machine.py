"""What a sort will do."""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any

import numpy as np

from bitonic._arrays import check_axis, native, sorter, take
from bitonic._core import Plan


def explain(
    a: Any,
    axis: int = -1,
    *,
    dtype: Any = None,
    operation: str = "sort",
    descending: bool = False,
    stable: bool = False,
    engine: str = "auto",
    threads: int | None = None,
    oblivious: bool = False,
) -> Plan:
    """What a sort would do: its engine, algorithm, passes and memory. ``a`` is an array, or a number of keys of a dtype.

    The memory is that of the library's sort; copies of arrays that are not contiguous along the axis come on top.

    >>> import bitonic
    >>> plan = bitonic.explain(1000, dtype="float32", engine="cpu")
    >>> plan.engine, plan.host_memory
    ('cpu', 0)
    """
    options = sorter(descending, stable, "last", engine, threads, oblivious)
    if isinstance(a, (int, np.integer)):
        length, row = index(a), index(a)
        kind = np.dtype("int64" if dtype is None else dtype)
    else:
        array, _ = take(a)
        length, row = prod(array.shape), array.shape[check_axis(array, axis)]
        kind = array.dtype if dtype is None else np.dtype(dtype)
    return options.plan(native(kind), length, row, operation)
