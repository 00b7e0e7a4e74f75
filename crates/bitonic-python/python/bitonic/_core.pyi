"""The compiled part. Arrays are ready: see `_arrays.py`."""

from types import ModuleType
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

class Sorter:
    def __new__(
        cls, descending: bool, stable: bool, nan: str, engine: str, threads: int | None, oblivious: bool
    ) -> Sorter: ...
    def sort(self, array: Array, offsets: list[int] | None = None, /) -> None: ...
    def argsort(self, array: Array, indices: Array, offsets: list[int] | None = None, /) -> None: ...
    def sort_pairs(self, array: Array, values: Array, offsets: list[int] | None = None, /) -> None: ...
    def topk(
        self, array: Array, k: int, best: Array, indices: Array, offsets: list[int] | None = None, /
    ) -> None: ...
    def partition(self, array: Array, kth: list[int], /) -> None: ...
    def argpartition(self, array: Array, kth: list[int], indices: Array, /) -> None: ...
    def merge(self, first: Array, second: Array, merged: Array, /) -> None: ...
    def searchsorted(self, sorted: Array, keys: Array, is_right: bool, places: Array, /) -> None: ...
    def is_sorted(self, array: Array, /) -> bool: ...
    def device_workspace(self, dtype: np.dtype[Any], len: int, row: int, beside: str, device: int, /) -> int: ...
    def device_sort(
        self,
        dtype: np.dtype[Any],
        array: tuple[int, int],
        row: int,
        device: int,
        stream: int,
        workspace: tuple[int, int] | None = None,
        source: tuple[int, int] | None = None,
        /,
    ) -> None: ...
    def device_sort_both(
        self,
        dtype: np.dtype[Any],
        array: tuple[int, int],
        beside: str,
        other: tuple[int, int],
        device: int,
        stream: int,
        workspace: tuple[int, int] | None = None,
        source: tuple[int, int] | None = None,
        /,
    ) -> None: ...
    def device_segments_workspace(
        self, dtype: np.dtype[Any], len: int, segments: int, longest: int, beside: str, device: int, /
    ) -> int: ...
    def device_segments(
        self,
        dtype: np.dtype[Any],
        array: tuple[int, int],
        beside: str,
        other: tuple[int, int],
        offsets: tuple[int, int],
        wide: bool,
        longest: int,
        device: int,
        stream: int,
        workspace: tuple[int, int],
        /,
    ) -> None: ...
    def device_topk_workspace(self, dtype: np.dtype[Any], len: int, row: int, k: int, device: int, /) -> int: ...
    def device_topk(
        self,
        dtype: np.dtype[Any],
        array: tuple[int, int],
        row: int,
        k: int,
        best: tuple[int, int],
        indices: tuple[int, int],
        device: int,
        stream: int,
        workspace: tuple[int, int] | None = None,
        /,
    ) -> None: ...
    def device_topk_segments_workspace(
        self, dtype: np.dtype[Any], len: int, segments: int, longest: int, k: int, device: int, /
    ) -> int: ...
    def device_topk_segments(
        self,
        dtype: np.dtype[Any],
        array: tuple[int, int],
        offsets: tuple[int, int],
        wide: bool,
        longest: int,
        k: int,
        best: tuple[int, int],
        indices: tuple[int, int],
        device: int,
        stream: int,
        workspace: tuple[int, int],
        /,
    ) -> None: ...
    def plan(self, dtype: np.dtype[Any], len: int, row: int, what: str, /) -> Plan: ...

class Plan:
    """What a sort will do: its engine, algorithm, passes and memory."""

    @property
    def engine(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def threads(self) -> int: ...
    @property
    def passes(self) -> int: ...
    @property
    def host_memory(self) -> int: ...
    @property
    def device_memory(self) -> int: ...
    def _repr_html_(self) -> str: ...

class Device:
    """Something that a sort can run on."""

    @property
    def engine(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def units(self) -> int: ...

def command(arguments: list[str]) -> int: ...
def devices() -> list[Device]: ...
def tune(*, engine: str = "auto", quick: bool = False, seconds: float | None = None) -> list[tuple[str, int | None]]: ...

networks: ModuleType
