"""Tables of pandas, polars and pyarrow.

Every library hands out a column as numbers that have its order: numbers and times as they are, everything else as the ranks that the
library itself gives. What is missing is a key of its own before them, so that it comes last in both directions.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Sequence

import numpy as np

from bitonic._arrays import Array
from bitonic._sorting import lexsort

# The numbers of a column, and which of them are missing; None where NaN and NaT say that.
Column = tuple[Array, "Array | None"]


def sort_table(
    table: Any,
    by: str | Sequence[str],
    descending: bool | Sequence[bool] = False,
    *,
    threads: int | None = None,
) -> Any:
    """A pandas or polars DataFrame or a pyarrow Table, sorted by columns, the first of ``by`` first.

    The sort is stable. ``descending`` is one value, or one for every column. Missing values come last.

    >>> import bitonic, pandas
    >>> table = pandas.DataFrame({"town": ["b", "a", "b"], "people": [3, 5, 4]})
    >>> bitonic.sort_table(table, ["town", "people"], descending=[False, True])
      town  people
    1    a       5
    2    b       4
    0    b       3
    """
    root = type(table).__module__.partition(".")[0]
    if root not in _LIBRARIES:
        raise TypeError(
            f"a {type(table).__name__} is not a table that is sorted here: pass a pandas or polars DataFrame or a pyarrow Table"
        )
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise ValueError("by is empty: name one column or more")
    orders = [descending] * len(names) if isinstance(descending, bool) else list(descending)
    if len(orders) != len(names):
        raise ValueError(f"there are {len(names)} columns but {len(orders)} values of descending: give one for every column")
    known = list(table.column_names if root == "pyarrow" else table.columns)
    column_of, rows_of = _LIBRARIES[root]
    keys: list[Array] = []
    directions: list[bool] = []
    for name, order in zip(reversed(names), reversed(orders)):
        if name not in known:
            raise ValueError(f"there is no column {name!r}: use one of {', '.join(map(repr, known))}")
        values, missing = column_of(table, name)
        keys.append(values)
        directions.append(bool(order))
        if missing is not None and missing.any():
            keys.append(missing)
            directions.append(False)
    return rows_of(table, lexsort(keys, descending=directions, threads=threads))


def _is_number(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biufMm" and dtype.itemsize <= 8


def _pandas_column(table: Any, name: str) -> Column:
    pandas = sys.modules["pandas"]
    column = table[name]
    if column.ndim != 1:
        raise ValueError(f"there are {column.shape[1]} columns {name!r}: give every column a name of its own")
    if _is_number(column.dtype):
        return column.to_numpy(), None
    if isinstance(column.dtype, pandas.DatetimeTZDtype):
        return column.dt.tz_convert(None).to_numpy(), None
    if isinstance(column.dtype, pandas.CategoricalDtype):
        codes = column.cat.codes.to_numpy()
    elif _is_number(getattr(column.dtype, "numpy_dtype", None)):
        return column.to_numpy(column.dtype.numpy_dtype, na_value=column.dtype.numpy_dtype.type(0)), column.isna().to_numpy()
    else:
        codes, _ = pandas.factorize(column, sort=True)
    return codes, codes < 0


def _polars_column(table: Any, name: str) -> Column:
    column = table[name]
    dtype = column.dtype
    missing = column.is_null().to_numpy()
    if dtype.is_temporal():
        column = column.to_physical()
    elif not (dtype.is_integer() or dtype.is_float() or dtype == sys.modules["polars"].Boolean):
        column = column.rank("dense")
    values = column.fill_null(strategy="zero") if missing.any() and column.dtype.is_numeric() else column
    values = values.fill_null(False) if missing.any() and not column.dtype.is_numeric() else values
    return values.to_numpy(), missing


def _pyarrow_column(table: Any, name: str) -> Column:
    import pyarrow.compute as compute
    from pyarrow import types

    column = table.column(name)
    missing = np.asarray(compute.is_null(column))
    if types.is_temporal(column.type) and not types.is_interval(column.type):
        column = column.cast("int32" if column.type.bit_width == 32 else "int64")
    elif not (types.is_integer(column.type) or types.is_floating(column.type) or types.is_boolean(column.type)):
        column = compute.rank(column, sort_keys="ascending", tiebreaker="dense")
    if missing.any():
        column = compute.fill_null(column, False if types.is_boolean(column.type) else 0)
    return np.asarray(column), missing


_LIBRARIES: dict[str, tuple[Callable[[Any, str], Column], Callable[[Any, Array], Any]]] = {
    "pandas": (_pandas_column, lambda table, order: table.take(order)),
    "polars": (_polars_column, lambda table, order: table[order]),
    "pyarrow": (_pyarrow_column, lambda table, order: table.take(order)),
}
