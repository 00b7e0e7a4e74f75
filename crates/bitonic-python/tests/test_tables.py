"""Tables of pandas, polars and pyarrow, against their own sorts."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

import bitonic

LENGTH = 500
RANDOM = np.random.default_rng(5)
DAYS = [datetime.datetime(2020, 1, 1) + datetime.timedelta(days=int(day)) for day in RANDOM.integers(0, 9, LENGTH)]
COLUMNS: dict[str, list[Any]] = {
    "number": RANDOM.integers(-3, 3, LENGTH).tolist(),
    "real": (RANDOM.integers(-3, 3, LENGTH) / 2).tolist(),
    "word": [["pear", "apple", "fig", "Äpfel"][choice] for choice in RANDOM.integers(0, 4, LENGTH)],
    "flag": (RANDOM.integers(0, 2, LENGTH) == 1).tolist(),
    "day": DAYS,
    "row": list(range(LENGTH)),
}
GAPS = {name: [None if place % 7 == 3 else value for place, value in enumerate(values)] for name, values in COLUMNS.items()}
GAPS["row"] = COLUMNS["row"]
QUESTIONS = [("number", False), ("real", True), ("word", False), ("word", True), ("flag", True), ("day", False)]


def expected(columns: dict[str, list[Any]], by: list[str], descending: list[bool]) -> list[int]:
    """The rows in order by definition: stable sorts from the last column to the first, missing values last."""
    rows = list(range(LENGTH))
    for name, order in reversed(list(zip(by, descending))):
        values = columns[name]
        # `reverse` keeps rows that are equal in order.
        there = sorted((row for row in rows if values[row] is not None), key=lambda row: values[row], reverse=order)
        rows = there + [row for row in rows if values[row] is None]
    return rows


def makers() -> list[Any]:
    def pandas(columns: dict[str, list[Any]]) -> Any:
        return pytest.importorskip("pandas").DataFrame(columns)

    def pandas_nullable(columns: dict[str, list[Any]]) -> Any:
        return pytest.importorskip("pandas").DataFrame(columns).convert_dtypes()

    def polars(columns: dict[str, list[Any]]) -> Any:
        return pytest.importorskip("polars").DataFrame(columns)

    def pyarrow(columns: dict[str, list[Any]]) -> Any:
        return pytest.importorskip("pyarrow").table(columns)

    return [pandas, pandas_nullable, polars, pyarrow]


@pytest.mark.parametrize("make", makers())
@pytest.mark.parametrize("columns", [COLUMNS, GAPS], ids=["whole", "gaps"])
@pytest.mark.parametrize("first", QUESTIONS)
@pytest.mark.parametrize("second", QUESTIONS)
def test_tables(make: Any, columns: dict[str, list[Any]], first: tuple[str, bool], second: tuple[str, bool]) -> None:
    table = make(columns)
    by, descending = [first[0], second[0]], [first[1], second[1]]
    found = bitonic.sort_table(table, by, descending)
    assert type(found) is type(table)
    rows = found["row"]
    rows = rows.to_pylist() if hasattr(rows, "to_pylist") else rows.to_list()
    assert rows == expected(columns, by, descending)


def test_wrong_columns_are_named() -> None:
    table = pytest.importorskip("polars").DataFrame({"a": [1]})
    with pytest.raises(ValueError, match="'a'"):
        bitonic.sort_table(table, "b")
    with pytest.raises(ValueError, match="one for every column"):
        bitonic.sort_table(table, "a", [True, False])
