"""Our functions beside NumPy's, in one process: python benchmarks/compare.py --sizes 16 1000 1000000 --dtypes int64 float32

Both take turns on copies of the same random keys, and every result is compared with NumPy's. A row has the median times and how many
times as long NumPy takes. `--threads 1` counts one thread of ours.
"""

from __future__ import annotations

import argparse
import platform
import time
from functools import partial
from statistics import median
from typing import Any, Callable

import numpy as np

import bitonic

# Ours, NumPy's, what both are given beside the keys, and what only NumPy is given.
OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[[Any], tuple[Any, ...]], dict[str, Any]]] = {
    "sort": (bitonic.sort, np.sort, lambda a: (), {}),
    "argsort": (bitonic.argsort, np.argsort, lambda a: (), {"kind": "stable"}),
    "partition": (bitonic.partition, np.partition, lambda a: (a.shape[-1] // 2,), {}),
    "argpartition": (bitonic.argpartition, np.argpartition, lambda a: (a.shape[-1] // 2,), {}),
    "unique": (bitonic.unique, np.unique, lambda a: (), {}),
}


def keys_of(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(7)
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if kind.kind == "f":
        return random.standard_normal(shape).astype(kind)
    if kind.kind in "mM":
        return random.integers(0, 2**40, shape).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)


def is_same(name: str, ours: Any, theirs: Any, keys: Any) -> bool:
    if name.startswith("arg"):
        ours, theirs = np.take_along_axis(keys, ours, -1), np.take_along_axis(keys, theirs, -1)
    if name.endswith("partition"):
        place = keys.shape[-1] // 2
        ours, theirs = ours[..., place], theirs[..., place]
    return np.array_equal(ours, theirs, equal_nan=np.asarray(ours).dtype.kind == "f")


def measure(name: str, keys: Any, threads: int | None) -> tuple[float, float]:
    """The median seconds of a call, ours and NumPy's, taking turns."""
    ours, theirs, beside, of_theirs = OPERATIONS[name]
    # Called in the same way, so that what a call costs in Python counts for both alike.
    given, of_ours = (keys, *beside(keys)), {} if threads is None else {"threads": threads}
    sides = (partial(ours, *given, **of_ours), partial(theirs, *given, **of_theirs))
    # Turns of a fraction of a millisecond: most of them pass without another process on the core.
    calls = max(1, 2_000 // max(1, keys.size))
    times: tuple[list[float], list[float]] = ([], [])
    budget = time.perf_counter() + 1.5
    while len(times[0]) < 5 or (time.perf_counter() < budget and len(times[0]) < 2001):
        for side, function in enumerate(sides):
            start = time.perf_counter()
            for _ in range(calls):
                result = function()
            times[side].append((time.perf_counter() - start) / calls)
            if side == 0:
                first = result
        if not is_same(name, first, result, keys):
            raise SystemExit(f"{name} of {keys.size} {keys.dtype} keys differs from NumPy's")
    return median(times[0]), median(times[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[16, 1_000, 10_000, 1_000_000])
    parser.add_argument("--rows", type=int, default=1, help="rows of --sizes keys each")
    parser.add_argument("--dtypes", nargs="+", default=["int32", "int64", "float32", "float64"])
    parser.add_argument("--operations", nargs="+", default=["sort", "argsort"], choices=list(OPERATIONS))
    parser.add_argument("--threads", type=int, default=None)
    arguments = parser.parse_args()
    print(f"{bitonic.devices()[0].name}; NumPy {np.__version__}, Python {platform.python_version()}; threads: {arguments.threads or 'all'}")
    print("| operation | dtype | keys | bitonic | NumPy | NumPy / bitonic |\n|---|---|---|---|---|---|")
    for name in arguments.operations:
        for dtype in arguments.dtypes:
            for size in arguments.sizes:
                shape = (size,) if arguments.rows == 1 else (arguments.rows, size)
                ours, theirs = measure(name, keys_of(dtype, shape), arguments.threads)
                count = f"{size:,}" if arguments.rows == 1 else f"{arguments.rows:,} rows of {size:,}"
                print(f"| {name} | {dtype} | {count} | {ours * 1e6:,.2f} µs | {theirs * 1e6:,.2f} µs | {theirs / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
