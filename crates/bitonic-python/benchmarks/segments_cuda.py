"""Segments of different lengths on a CUDA device: python benchmarks/segments_cuda.py

Beside equal rows of the mean length, and beside cub::DeviceSegmentedSort where nvcc is here to build it. All take turns on the same keys,
and results are compared. Times are medians by CUDA events; `in a graph` is our call without its host's part.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, Callable

import numpy as np
import torch
from topk_cuda import captured, measure

import bitonic

MEANS = [32, 100, 1000, 10_000, 100_000]


def lengths_of(kind: str, total: int, mean: int, random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Lengths of segments that have so many keys together."""
    count = max(1, total // mean)
    if kind == "uniform":
        lengths = random.integers(0, 2 * mean + 1, count)
    else:  # A few are very long: the longest has 2^22 keys, or what there is.
        lengths = (mean / 3 * (1 - random.random(count)) ** -0.7).astype(np.int64)
        lengths = np.minimum(lengths, min(1 << 22, total // 4))
    ends = np.minimum(np.cumsum(lengths), total)
    return np.concatenate([[0], ends])


class Cub:
    """cub::DeviceSegmentedSort, if nvcc is here."""

    def __init__(self) -> None:
        self.call: Any = None
        if shutil.which("nvcc"):
            library = Path(tempfile.mkdtemp()) / "segments_cub.so"
            source = Path(__file__).with_name("segments_cub.cu")
            options = ["-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC", "-arch=native"]
            subprocess.run(["nvcc", *options, str(source), "-o", str(library)], check=True)
            self.call = ctypes.CDLL(str(library)).segmented_sort
            self.call.restype = ctypes.c_longlong
            pointer, size = ctypes.c_void_p, ctypes.c_size_t
            self.call.argtypes = [pointer, size, pointer, pointer, ctypes.c_longlong, ctypes.c_int, pointer, pointer]

    def sorts(self, keys: torch.Tensor, sorted_keys: torch.Tensor, offsets: torch.Tensor) -> Callable[[], Any]:
        arrays = (keys.data_ptr(), sorted_keys.data_ptr(), keys.numel(), offsets.numel() - 1, offsets.data_ptr())
        size = self.call(None, 0, *arrays, None)
        work = torch.empty(size, dtype=torch.uint8, device="cuda")

        def sort() -> None:
            error = self.call(work.data_ptr(), size, *arrays, torch.cuda.current_stream().cuda_stream)
            assert error == 0, f"CUDA error {error}"

        return sort


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--keys", type=int, default=1 << 26)
    parser.add_argument("--means", type=int, nargs="+", default=MEANS)
    arguments = parser.parse_args()
    total, random, cub = arguments.keys, np.random.default_rng(3), Cub()
    print(f"{torch.cuda.get_device_name()}; PyTorch {torch.__version__}; {total} keys of uint32")
    print("| lengths | mean | segments | equal rows | segments | in a graph | CUB | to equal rows | to CUB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for mean in arguments.means:
        for kind in ["uniform", "power law"]:
            ends = lengths_of(kind, total, mean, random)
            # Bits of int32 as they are: CUB is given the same ones, as uint32.
            keys = torch.randint(0, 1 << 31, (int(ends[-1]),), dtype=torch.int32, device="cuda")
            offsets = torch.tensor(ends, dtype=torch.int32, device="cuda")
            rows = keys[: keys.numel() // mean * mean].reshape(-1, mean)
            target, cub_target = keys.clone(), keys.clone()
            longest = int(np.diff(ends).max())

            def segments() -> None:
                target.copy_(keys)
                bitonic.sort_inplace(target, offsets=offsets)

            copy = median(measure(lambda: target.copy_(keys)) for _ in range(arguments.rounds))
            ways: list[Callable[[], Any]] = [lambda: bitonic.sort(rows), segments, captured(segments)]
            if cub.call is not None:
                ways.append(cub.sorts(keys, cub_target, offsets))
            for way in ways:
                way()
            if cub.call is not None:
                torch.cuda.synchronize()
                assert torch.equal(target, cub_target), "the results differ"
            times: list[list[float]] = [[] for _ in ways]
            for _ in range(arguments.rounds):
                for number, way in enumerate(ways):
                    times[number].append(measure(way))
            found = [median(each) for each in times]
            # What we sort is a copy that is made anew.
            found[:3] = [each - copy for each in found[:3]]
            peer = f"{found[3]:,.0f} µs" if len(found) > 3 else ""
            ratio = f"{found[3] / found[2]:.1f}x" if len(found) > 3 else ""
            print(
                f"| {kind}, longest {longest} | {mean} | {len(ends) - 1} | {found[0]:,.0f} µs | {found[1]:,.0f} µs | {found[2]:,.0f} µs "
                f"| {peer} | {found[2] / found[0]:.2f} | {ratio} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
