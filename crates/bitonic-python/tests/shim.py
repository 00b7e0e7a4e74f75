"""Runs tests of the installed NumPy against our functions.

A test module of NumPy is read, and every use of a function that we have is replaced: `np.sort` by `ours.sort`, and `array.sort` by
`ours.method(array, "sort")`. Calls that ask for what we do not have go on to NumPy, and the reason is noted.
"""

from __future__ import annotations

import ast
import importlib.util
import types
from collections import Counter
from operator import index
from typing import Any, Callable

import numpy as np

import bitonic

FUNCTIONS = {"sort", "argsort", "partition", "argpartition", "searchsorted", "lexsort", "unique"}
METHODS = FUNCTIONS - {"lexsort", "unique"}

# What went to whom: (function, "ours" or why not) -> number of calls.
calls: Counter[tuple[str, str]] = Counter()

# Why a call goes on to NumPy. Nothing else does.
REASONS = {
    "a masked array: refused with a TypeError",
    "a dtype that is refused with a TypeError: longdouble, strings, bytes, objects, structures, void",
    "keyword kind= or order=, which we do not have",
    "complex keys in searchsorted: refused with a TypeError",
    "not an array: the method of a list or of a scalar",
}
MASKED, DTYPE, KEYWORD, COMPLEX, NOT_AN_ARRAY = (
    next(reason for reason in REASONS if word in reason)
    for word in ("masked", "longdouble", "kind=", "complex keys", "not an array")
)


def is_taken(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biuMm" or (dtype.kind == "f" and dtype.itemsize <= 8) or dtype in (
        np.dtype(np.complex64),
        np.dtype(np.complex128),
        np.dtype(np.complex64).newbyteorder(),
        np.dtype(np.complex128).newbyteorder(),
    )


def refusal(*arrays: Any) -> str | None:
    for array in arrays:
        if isinstance(array, np.ma.MaskedArray):
            return MASKED
        if not is_taken(np.asanyarray(array).dtype):
            return DTYPE
    return None


KINDS = (None, "quicksort", "mergesort", "heapsort", "stable", "q", "h", "m", "s", "quick", "merge", "heap")


class Ours:
    """Our functions under NumPy's names."""

    def _take(self, name: str, reason: str | None) -> bool:
        calls[name, reason or "ours"] += 1
        return reason is None

    def sort(self, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
        reason = KEYWORD if order is not None or kind not in KINDS or (kind and stable is not None) else refusal(a)
        if self._take("sort", reason):
            return bitonic.sort(a, axis, stable=bool(stable) or kind in ("mergesort", "stable", "m", "s"))
        return np.sort(a, axis, kind, order, stable=stable)

    def argsort(self, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
        reason = KEYWORD if order is not None or kind not in KINDS or (kind and stable is not None) else refusal(a)
        if self._take("argsort", reason):
            return bitonic.argsort(a, axis)
        return np.argsort(a, axis, kind, order, stable=stable)

    def partition(self, a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
        reason = KEYWORD if order is not None or kind != "introselect" else refusal(a)
        if self._take("partition", reason):
            return bitonic.partition(a, kth, axis)
        return np.partition(a, kth, axis, kind, order)

    def argpartition(self, a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
        reason = KEYWORD if order is not None or kind != "introselect" else refusal(a)
        if self._take("argpartition", reason):
            return bitonic.argpartition(a, kth, axis)
        return np.argpartition(a, kth, axis, kind, order)

    def searchsorted(self, a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
        reason = refusal(a, v)
        if reason is None and "c" in (np.asarray(a).dtype.kind, np.asarray(v).dtype.kind):
            reason = COMPLEX
        if self._take("searchsorted", reason):
            return bitonic.searchsorted(a, v, side, sorter)
        return np.searchsorted(a, v, side, sorter)

    def lexsort(self, keys: Any, axis: int = -1) -> Any:
        if self._take("lexsort", refusal(*keys) if len(keys) else None):
            return bitonic.lexsort(keys, axis)
        return np.lexsort(keys, axis)

    def unique(self, ar: Any, *args: Any, **kwargs: Any) -> Any:
        if self._take("unique", refusal(ar)):
            return bitonic.unique(ar, *args, **kwargs)
        return np.unique(ar, *args, **kwargs)

    def method(self, of: Any, name: str) -> Callable[..., Any]:
        """A method of an array as our function; methods of anything else as they are."""
        if not isinstance(of, np.ndarray):
            calls[name, NOT_AN_ARRAY] += 1
            return getattr(of, name)  # type: ignore[no-any-return]
        if name in ("sort", "partition"):
            return lambda *args, **kwargs: self._in_place(of, name, *args, **kwargs)
        return lambda *args, **kwargs: getattr(self, name)(of, *args, **kwargs)

    def _in_place(self, of: np.ndarray[Any, Any], name: str, *args: Any, **kwargs: Any) -> None:
        kind, order = kwargs.get("kind"), kwargs.get("order")
        if name == "sort":
            reason = KEYWORD if order is not None or kind not in KINDS else refusal(of)
            if self._take("sort", reason):
                kwargs.pop("kind", None), kwargs.pop("order", None)
                stable = bool(kwargs.pop("stable", None)) or kind in ("mergesort", "stable", "m", "s")
                return bitonic.sort_inplace(of, *args, **kwargs, stable=stable)
            return of.sort(*args, **kwargs)
        index(kwargs.get("axis", -1))  # What is flattened cannot be written back.
        of[...] = self.partition(of, *args, **kwargs)
        return None


ours = Ours()


class Replace(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        is_numpy = isinstance(node.value, ast.Name) and node.value.id == "np"
        if not isinstance(node.ctx, ast.Load) or node.attr not in (FUNCTIONS if is_numpy else METHODS):
            return node
        name = ast.Name("_ours", ast.Load())
        if is_numpy:
            return ast.copy_location(ast.Attribute(name, node.attr, ast.Load()), node)
        method = ast.Attribute(name, "method", ast.Load())
        return ast.copy_location(ast.Call(method, [node.value, ast.Constant(node.attr)], []), node)


def load(name: str) -> types.ModuleType:
    """A test module of NumPy, with our functions in it."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None, f"{name} is not in the installed NumPy"
    with open(spec.origin, encoding="utf-8") as file:
        tree = ast.fix_missing_locations(Replace().visit(ast.parse(file.read(), spec.origin)))
    module = types.ModuleType(f"ours.{name}")
    module.__file__ = spec.origin
    module.__dict__["_ours"] = ours
    module.__package__ = name.rpartition(".")[0]
    exec(compile(tree, spec.origin, "exec"), module.__dict__)
    for function in FUNCTIONS & set(module.__dict__):
        module.__dict__[function] = getattr(ours, function)
    return module
