"""The best keys of rows on a CUDA device beside PyTorch's, in one process: python benchmarks/topk_cuda.py

Both take turns on the same keys, and every result is compared with a stable sort. Times are medians by CUDA events. `in a graph` is our
call without its host's part, as programs that capture graphs have it.
"""

from __future__ import annotations

import argparse
from statistics import median
from typing import Any, Callable

import torch

import bitonic

CASES = [
    (1, 128_256, 50),
    (8, 128_256, 50),
    (64, 128_256, 50),
    (512, 32_000, 40),
    (65_536, 1024, 64),
    (1, 1 << 20, 100),
    (1, 1 << 26, 1000),
]


def measure(work: Callable[[], Any]) -> float:
    """Microseconds of a call."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    start.record()
    result = work()
    end.record()
    torch.cuda.synchronize()
    del result
    return start.elapsed_time(end) * 1e3


def captured(work: Callable[[], Any]) -> Callable[[], Any]:
    """The same as a CUDA graph."""
    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


def keys_of(pattern: str, rows: int, row: int) -> torch.Tensor:
    random = torch.randn(rows, row, device="cuda")
    if pattern == "random":
        return random
    if pattern == "few values":
        return (random * 3).round()
    return torch.sort(random).values.contiguous()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--patterns", nargs="+", default=["random", "ascending", "few values"])
    arguments = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}; PyTorch {torch.__version__}")
    print("| keys | rows | of | k | torch.topk | torch.sort | topk | in a graph | torch.topk in a graph |")
    print("|---|---|---|---|---|---|---|---|---|")
    for pattern in arguments.patterns:
        for rows, row, k in CASES:
            keys = keys_of(pattern, rows, row)
            expected = torch.sort(keys, stable=True, descending=True)
            found = bitonic.topk(keys, k, nan="total")
            assert torch.equal(found.values, expected.values[:, :k])
            if pattern != "few values":  # Zeros of both signs are equal to PyTorch.
                assert torch.equal(found.indices, expected.indices[:, :k])
            del expected, found
            call = lambda: bitonic.topk(keys, k, nan="total", index_dtype="int32")
            ways: list[Callable[[], Any]] = [
                lambda: torch.topk(keys, k),
                lambda: torch.sort(keys, descending=True),
                call,
                captured(call),
                captured(lambda: torch.topk(keys, k)),
            ]
            times: list[list[float]] = [[] for _ in ways]
            for _ in range(arguments.rounds):
                for number, way in enumerate(ways):
                    times[number].append(measure(way))
            cells = " | ".join(f"{median(each):,.0f} µs" for each in times)
            print(f"| {pattern} | {rows} | {row} | {k} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
