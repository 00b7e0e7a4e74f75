"""DuckDB and Polars on tables like those of examples/compare.rs: python benchmarks/peers.py [ROWS [RUNS]]

Needs `pip install duckdb polars pyarrow numpy`. Both hold the table in memory, use all cores, and give the whole result as
Arrow columns. They take turns; a row has the median times in nanoseconds a row.
"""

from __future__ import annotations

import sys
import time
from statistics import median

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

QUERIES = {
    "key only": (["k"], ["k"], [False], None),
    "key + 1 column": (["k", "a"], ["k"], [False], None),
    "two keys + 4 columns": (["g", "k", "a", "i", "f", "s"], ["g", "k"], [False, True], None),
    "small key + 1 column": (["g", "a"], ["g"], [False], None),
    "float key + 1 column": (["f", "a"], ["f"], [True], None),
    "sorted key + 1 column": (["n", "a"], ["n"], [False], None),
    "limit 100": (["k", "a"], ["k"], [False], 100),
    "limit 100000": (["k", "a"], ["k"], [False], 100_000),
}


def table(rows: int) -> pa.Table:
    random = np.random.default_rng(1)
    ends = np.iinfo(np.int64)
    numbers = np.char.mod("name %d", random.integers(0, 1_000_000, min(rows, 1_000_000)))
    return pa.table(
        {
            "k": random.integers(ends.min, ends.max, rows),
            "a": random.integers(ends.min, ends.max, rows),
            "g": random.integers(0, 1000, rows).astype(np.int32),
            "i": random.integers(-(2**31), 2**31, rows).astype(np.int32),
            "f": random.random(rows),
            "n": np.arange(rows),
            "s": pa.array(numbers).take(pa.array(random.integers(0, len(numbers), rows))),
        }
    )


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    source = table(rows)
    connection = duckdb.connect()
    connection.execute("create table t as select * from source")
    frame = pl.from_arrow(source)
    assert isinstance(frame, pl.DataFrame)

    print(f"{rows} rows, nanoseconds a row, medians of {runs} runs")
    print(f"DuckDB {duckdb.__version__}, Polars {pl.__version__}\n")
    print("| query | DuckDB | Polars |\n|---|---:|---:|")
    for name, (columns, keys, descending, limit) in QUERIES.items():
        order = ", ".join(f"{key} desc" if down else key for key, down in zip(keys, descending, strict=True))
        query = f"select {', '.join(columns)} from t order by {order}" + (f" limit {limit}" if limit else "")
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(runs):
            start = time.perf_counter()
            found = connection.sql(query).to_arrow_table().num_rows
            times[0].append(time.perf_counter() - start)
            assert found == min(rows, limit or rows)
            start = time.perf_counter()
            lazy = frame.lazy().select(columns).sort(keys, descending=descending)
            found = (lazy.head(limit) if limit else lazy).collect().height
            times[1].append(time.perf_counter() - start)
            assert found == min(rows, limit or rows)
        print("| " + " | ".join([name, *(f"{median(each) * 1e9 / rows:.1f}" for each in times)]) + " |", flush=True)


if __name__ == "__main__":
    main()
