"""Sorts of arrays on a CUDA device beside PyTorch's, in one process: python benchmarks/cuda.py

Both take turns on the same keys and every result is compared with PyTorch's. Times are medians by CUDA events; memory is the peak that
PyTorch's allocator saw beyond the keys, results included, in elements for each key.
"""

from __future__ import annotations

import argparse
from statistics import median
from typing import Any, Callable

import torch

import bitonic


def measure(work: Callable[[], Any]) -> tuple[float, float]:
    """Microseconds of a call, and the peak of memory beyond what is allocated before it."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    start.record()
    result = work()
    end.record()
    torch.cuda.synchronize()
    del result
    return start.elapsed_time(end) * 1e3, torch.cuda.max_memory_allocated() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2**power for power in (16, 20, 22, 24, 26, 28)])
    parser.add_argument("--dtypes", nargs="+", default=["int32", "float32", "int64"])
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}; PyTorch {torch.__version__}")
    print("| dtype | keys | torch.sort | sort | sort_inplace | argsort | torch / sort | torch / argsort | peak: torch, sort, in place, argsort |")
    print("|---|---|---|---|---|---|---|---|---|")
    for dtype in arguments.dtypes:
        kind = getattr(torch, dtype)
        for size in arguments.sizes:
            if kind.is_floating_point:
                keys = torch.randn(size, device="cuda", dtype=kind)
            else:
                limits = torch.iinfo(kind)
                keys = torch.randint(limits.min, limits.max, (size,), device="cuda", dtype=kind)
            expected = torch.sort(keys, stable=True)
            assert torch.equal(bitonic.sort(keys, nan="total"), expected.values)
            if not kind.is_floating_point:
                assert torch.equal(bitonic.argsort(keys, nan="total"), expected.indices)
            in_place = keys.clone()
            bitonic.sort_inplace(in_place, nan="total")
            assert torch.equal(in_place, expected.values)
            del expected
            ways: list[Callable[[], Any]] = [
                lambda: torch.sort(keys, stable=True),
                lambda: bitonic.sort(keys, nan="total"),
                lambda: bitonic.sort_inplace(in_place, nan="total"),
                lambda: bitonic.argsort(keys, nan="total", index_dtype="int32"),
            ]
            found: list[list[tuple[float, float]]] = [[] for _ in ways]
            for _ in range(arguments.rounds):
                for number, way in enumerate(ways):
                    in_place.copy_(keys)
                    found[number].append(measure(way))
            times = [median(time for time, _ in each) for each in found]
            peaks = [each[-1][1] / (size * keys.element_size()) for each in found]
            print(
                f"| {dtype} | 2^{size.bit_length() - 1} | "
                + " | ".join(f"{time:,.0f} µs" for time in times)
                + f" | {times[0] / times[1]:.2f} | {times[0] / times[3]:.2f} | {', '.join(f'{peak:.2f}' for peak in peaks)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
