"""NumPy's own tests of sorting functions, run against ours."""

from __future__ import annotations

import re
from typing import Any

import shim

WORDS = re.compile(r"^test_.*(sort|partition|searchsorted|lexsort|unique)")

# Tests of NumPy that are left out, and why.
LEFT_OUT: dict[str, str] = {}

_multiarray = shim.load("numpy._core.tests.test_multiarray")
_setops = shim.load("numpy.lib.tests.test_arraysetops")


def _only_ours(of: type) -> type:
    """The class with its helpers and those of its tests that sort."""
    kept = {
        name: value
        for name, value in vars(of).items()
        if name not in ("__dict__", "__weakref__") and not name.startswith("test") or (WORDS.match(name) and name not in LEFT_OUT)
    }
    return type(of.__name__, of.__bases__, {**kept, "__module__": __name__})


TestMethods = _only_ours(_multiarray.TestMethods)
TestLexsort = type("TestLexsort", (_multiarray.TestLexsort,), {"__module__": __name__})
TestUnique = _only_ours(_setops.TestUnique)
for _name, _test in list(vars(_multiarray).items()):
    if callable(_test) and WORDS.match(_name) and _name not in LEFT_OUT:
        globals()[_name] = _test


def test_zz_the_calls_were_ours() -> None:
    """Runs last: the tests above called our functions, and NumPy's only for the reasons listed."""
    counted: dict[str, Any] = {name: shim.calls[name, "ours"] for name in sorted(shim.FUNCTIONS)}
    least = {"sort": 500, "argsort": 100, "partition": 500, "argpartition": 300, "searchsorted": 100, "lexsort": 5, "unique": 200}
    assert all(counted[name] >= least[name] for name in least), counted
    assert {reason for _, reason in shim.calls} <= shim.REASONS | {"ours"}
