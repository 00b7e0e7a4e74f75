"""What is not in NumPy: errors, other libraries' arrays, subclasses, plans, networks."""

from __future__ import annotations

import doctest
import importlib
import os
import pathlib
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import xml.etree.ElementTree
from typing import Any

import numpy as np
import pytest

import bitonic
from bitonic import networks

MODULES = ["", "._arrays", "._machine", "._selecting", "._sorted", "._sorting", "._tables", ".networks"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name: str) -> None:
    if name == "._tables":
        pytest.importorskip("pandas")
    module = importlib.import_module("bitonic" + name)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("of", [bitonic.devices, networks.Network, networks.generate, networks.kinds, networks.merge, networks.top_k, networks.parse])
def test_examples_of_the_compiled_part(of: Any) -> None:
    examples = doctest.DocTestFinder(exclude_empty=False).find(of, of.__name__, module=False)
    runner = doctest.DocTestRunner()
    for example in examples:
        runner.run(example)
    assert runner.summarize().attempted > 0 and runner.summarize().failed == 0


def test_examples_of_the_readme() -> None:
    readme = pathlib.Path(__file__).parent.parent / "README.md"
    result = doctest.testfile(str(readme), module_relative=False)
    assert result.failed == 0 and result.attempted > 5


def test_every_public_name_has_help() -> None:
    for name in bitonic.__all__:
        assert getattr(bitonic, name).__doc__, name


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: bitonic.sort(np.array(["b", "a"])), TypeError, "<U1"),
        (lambda: bitonic.sort(np.array([2, 1], object)), TypeError, "object"),
        (lambda: bitonic.sort(np.array([2, 1], np.longdouble)), TypeError, "float64"),
        (lambda: bitonic.sort(np.ma.array([2, 1])), TypeError, "numpy.ma"),
        (lambda: bitonic.sort([2, 1], nan="first"), ValueError, "'total'"),
        (lambda: bitonic.sort([2, 1], engine="quantum"), ValueError, "opencl"),
        (lambda: bitonic.sort([2, 1], threads=0), ValueError, "None for all cores"),
        (lambda: bitonic.sort([2, 1], out=np.zeros(3, int)), ValueError, "shape"),
        (lambda: bitonic.sort([2, 1], offsets=[0, 3]), ValueError, "offset number 1 is 3"),
        (lambda: bitonic.sort([2, 1], offsets=[-1, 1]), ValueError, "count from 0"),
        (lambda: bitonic.sort([[2, 1]], offsets=[0, 1]), ValueError, "one axis"),
        (lambda: bitonic.sort(np.array(5)), np.exceptions.AxisError, "axis"),
        (lambda: bitonic.sort([2.0, 1.0], stable=True, oblivious=True), ValueError, "nan='total'"),
        (lambda: bitonic.sort_inplace([2, 1]), TypeError, "bitonic.sort(a)"),
        (lambda: bitonic.argsort([2, 1], index_dtype="int8"), ValueError, "'uint32'"),
        (lambda: bitonic.topk([2, 1], 3), ValueError, "from 0 to 2"),
        (lambda: bitonic.topk([2, 1], -1, offsets=[0, 2]), ValueError, "from 0 upwards"),
        (lambda: bitonic.topk([2, 1], 1, offsets=[0, 3]), ValueError, "offset number 1 is 3"),
        (lambda: bitonic.topk([2j, 1], 1, offsets=[0, 2]), TypeError, "one segment at a time"),
        (lambda: bitonic.partition([2, 1], 2), ValueError, "from -2 to 1"),
        (lambda: bitonic.sort_pairs([2, 1], [1]), ValueError, "one value for every key"),
        (lambda: bitonic.lexsort([[1], [1, 2]]), ValueError, "one shape"),
        (lambda: bitonic.searchsorted([1, 2], 1, side="up"), ValueError, "'right'"),
        (lambda: bitonic.merge([[1]], [2]), ValueError, "one axis"),
        (lambda: bitonic.explain(10, operation="shuffle"), ValueError, "argsort"),
        (lambda: bitonic.tune(engine="cpu"), ValueError, "needs no tuning"),
        (lambda: bitonic.tune(seconds=-1), ValueError, "not a time that can be waited"),
        (lambda: bitonic.sort_table([1], "a"), TypeError, "pandas"),
        (lambda: networks.generate("bogus", 4), ValueError, "bitonic"),
        (lambda: networks.generate("bitonic", 4).apply([1]), ValueError, "4"),
        (lambda: networks.parse("(0,0)"), ValueError, ""),
    ],
)
def test_errors_name_the_way_out(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)


def test_read_only_arrays_are_refused_in_place_and_sorted_into_copies() -> None:
    keys = np.array([3, 1, 2])
    keys.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        bitonic.sort_inplace(keys)
    with pytest.raises(ValueError, match="read-only"):
        bitonic.sort([3, 1, 2], out=keys)
    assert bitonic.sort(keys).tolist() == [1, 2, 3]
    assert keys.tolist() == [3, 1, 2]


def test_subclasses_are_kept() -> None:
    class Tagged(np.ndarray[Any, Any]):
        pass

    keys = np.array([3, 1, 2]).view(Tagged)
    for found in (bitonic.sort(keys), bitonic.argsort(keys), bitonic.partition(keys, 1), bitonic.unique(keys)):
        assert type(found) is Tagged
    assert isinstance(bitonic.sort(np.matrix([[3, 1], [2, 4]]), axis=0), np.matrix)


def test_the_compiled_part_refuses_arrays_that_are_not_ready() -> None:
    from bitonic._core import Sorter

    options = Sorter(False, True, "last", "cpu", None, False)
    keys = np.zeros(64, np.uint8)
    with pytest.raises(ValueError, match="share memory"):
        options.argsort(keys, keys.view(np.uint32), [0, 1])
    with pytest.raises(ValueError, match="contiguous"):
        options.sort(keys[::2])
    with pytest.raises(TypeError, match="another machine"):
        options.sort(np.zeros(4, ">i4"))
    with pytest.raises(ValueError, match="room for 3"):
        options.argsort(keys, np.zeros(3, np.int64))
    with pytest.raises(TypeError, match="different dtypes"):
        options.merge(keys, np.zeros(4, np.int8), np.zeros(68, np.uint8))


def test_indices_that_do_not_fit_are_refused() -> None:
    from bitonic._core import Sorter

    # Memory that nobody touches: the keys are refused before they are read.
    keys = np.empty(2**31 + 1, np.uint8)
    with pytest.raises(ValueError, match="do not fit 31 bits: ask for index_dtype='int64'"):
        Sorter(False, True, "last", "cpu", None, False).argsort(keys, np.zeros(1, np.int32), [0, 1])


def test_the_interpreter_is_left_to_others_while_sorting() -> None:
    keys = np.random.default_rng(1).random(4_000_000)
    during: list[int] = []
    done = threading.Event()

    def count() -> None:
        number = 0
        while not done.is_set():
            number += 1
        during.append(number)

    other = threading.Thread(target=count)
    other.start()
    found = bitonic.sort(keys, threads=1)
    done.set()
    other.join()
    assert during[0] > 0 and bitonic.is_sorted(found)


def test_plans_and_devices() -> None:
    plan = bitonic.explain(np.zeros((3, 1000)), 0, engine="cpu", threads=1)
    assert (plan.engine, plan.threads) == ("cpu", 1)
    assert plan._repr_html_().startswith("<pre>3000 f64 keys in 1000 rows of 3") and "1 thread" in repr(plan)
    assert str(bitonic.explain(10**6, dtype="float32", operation="argsort", engine="cpu"))
    assert bitonic.devices()[0].units >= 1


def test_networks_are_drawn_and_proved() -> None:
    for kind in networks.kinds():
        network = networks.generate(kind, 8)
        xml.etree.ElementTree.fromstring(network._repr_svg_())
        assert network.prove().holds, kind
    assert networks.merge(3, 4, merging="odd-even").prove()
    assert networks.top_k(9, 3).prove()
    assert networks.generate("bitonic", 0).apply([]) == []


def test_torch_tensors_come_back_as_tensors() -> None:
    torch = pytest.importorskip("torch")
    keys = torch.tensor([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]])
    found = bitonic.sort(keys, descending=True)
    assert torch.equal(found, torch.sort(keys, descending=True).values)
    bitonic.sort_inplace(keys)
    assert keys.tolist() == [[1, 2, 3], [7, 8, 9]]
    assert isinstance(bitonic.topk(keys, 2).indices, torch.Tensor)


class Foreign:
    """An array of another library in the processor's memory, that speaks DLPack."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    @staticmethod
    def from_dlpack(array: np.ndarray[Any, Any]) -> Foreign:
        return Foreign(np.from_dlpack(array))

    def __array_namespace__(self) -> type[Foreign]:
        return Foreign


def test_arrays_of_other_libraries_come_back_as_theirs() -> None:
    foreign = Foreign(np.array([3, 1, 2]))
    found = bitonic.sort(foreign)
    assert isinstance(found, Foreign) and found.array.tolist() == [1, 2, 3]
    bitonic.sort_inplace(foreign)
    assert foreign.array.tolist() == [1, 2, 3]


class OnDevice:
    """What an array on a CUDA device says of itself."""

    def __init__(self, typestr: str, strides: tuple[int, ...] | None = None, read_only: bool = False) -> None:
        self.__cuda_array_interface__ = {
            "data": (4096, read_only),
            "typestr": typestr,
            "shape": (2, 3),
            "strides": strides,
            "version": 3,
        }


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: bitonic.topk(OnDevice("<i4"), 1), TypeError, "a.cpu()"),
        (lambda: bitonic.sort(OnDevice("<M8[s]")), ValueError, "nan='total'"),
        (lambda: bitonic.sort(OnDevice("<i4"), out=np.zeros(1)), TypeError, "without out="),
        (lambda: bitonic.sort(OnDevice("<i4")), TypeError, "sort_inplace on a copy"),
        (lambda: bitonic.sort_inplace(OnDevice("<i4"), 0), ValueError, "last axis"),
        (lambda: bitonic.sort_inplace(OnDevice("<i4"), engine="cpu"), ValueError, "leave engine out"),
        (lambda: bitonic.sort_inplace(OnDevice("<i4"), oblivious=True), ValueError, "obliviously"),
        (lambda: bitonic.sort_inplace(OnDevice("<i4"), offsets=[0, 1]), TypeError, "segments"),
        (lambda: bitonic.sort_inplace(OnDevice("<i4", strides=(4, 8))), ValueError, "contiguous"),
        (lambda: bitonic.sort_inplace(OnDevice("<i4", read_only=True)), ValueError, "read-only"),
        (lambda: bitonic.argsort(OnDevice("<i4")), TypeError, "a.cpu()"),
    ],
)
def test_what_arrays_on_a_gpu_are_refused_has_a_way_out(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)


@pytest.mark.skipif(any(device.engine == "cuda" for device in bitonic.devices()), reason="there is a CUDA device")
def test_without_a_driver_an_array_on_a_gpu_is_an_error() -> None:
    with pytest.raises(ValueError, match="cuda engine is not available"):
        bitonic.sort_inplace(OnDevice("<i4"))


def command(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """``python -m bitonic`` as a user of the package has it: without any other program on the path."""
    return subprocess.run(
        [sys.executable, "-m", "bitonic", *arguments],
        env={**os.environ, "PATH": os.defpath},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_sorts_what_it_is_given() -> None:
    done = command("sort", stdin="3\n1\n2\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n2\n3\n", "")
    done = command("top", "2", stdin="3\n1\n2\n")
    assert (done.returncode, done.stdout) == (0, "3\n2\n")


def test_the_command_reads_and_writes_numpy_files(tmp_path: pathlib.Path) -> None:
    keys = np.random.default_rng(1).standard_normal((100, 70)).astype(np.float32)
    # The name has a letter that is no byte of ASCII.
    source, target = tmp_path / "schlüssel.npy", tmp_path / "sorted.npy"
    np.save(source, keys)
    done = command("sort", str(source), "--rows", "-o", str(target))
    assert (done.returncode, done.stderr) == (0, "")
    np.testing.assert_array_equal(np.load(target), np.sort(keys, axis=1))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--version"], "bitonic "),
        (["--help"], "Usage: bitonic "),
        (["devices"], "engine "),
        (["explain", "--n", "1000"], "network"),
        (["network", "bitonic", "4"], "●"),
        (["ladder", "list"], "recursive"),
        (["tune", "--show"], ""),
    ],
)
def test_the_command_has_its_sub_commands(arguments: list[str], says: str) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stderr) == (0, "") and says in done.stdout


def test_the_command_ends_with_the_exit_codes_of_the_program() -> None:
    mistake = command("sort", "--no-such-flag")
    assert (mistake.returncode, mistake.stdout) == (2, "") and mistake.stderr.startswith("bitonic: unexpected argument")
    assert "see 'bitonic sort --help'" in mistake.stderr
    out_of_order = command("sort", "--check", stdin="2\n1\n")
    assert out_of_order.returncode == 1
    nothing = command()
    assert nothing.returncode == 2 and "Usage: bitonic" in nothing.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_the_command_answers_ctrl_c() -> None:
    # It waits for input that never ends.
    with subprocess.Popen([sys.executable, "-m", "bitonic", "sort"], stdin=subprocess.PIPE) as child:
        time.sleep(2)
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=20) == -signal.SIGINT


def test_the_package_brings_the_command_by_its_name() -> None:
    program = pathlib.Path(sysconfig.get_path("scripts")) / ("bitonic.exe" if os.name == "nt" else "bitonic")
    if not program.exists():
        pytest.skip("the package was not installed as a wheel")
    done = subprocess.run([program, "sort"], input="2\n1\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "1\n2\n")


def test_a_sort_answers_ctrl_c() -> None:
    program = """
import os, signal, threading
import numpy as np
import bitonic
keys, found = np.random.default_rng(1).random(10_000_000), None
threading.Timer(0.02, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    found = bitonic.sort(keys, threads=1)
except KeyboardInterrupt:
    print("stopped", found is None)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "stopped True\n"


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_of_either_sign_is_last(dtype: str, descending: bool) -> None:
    for negative in range(6):
        for positive in range(6):
            keys = np.array([-np.nan] * negative + [1.0, 2.0] + [np.nan] * positive, dtype)
            keys[:negative] = -np.abs(keys[:negative])
            for found in (bitonic.sort(keys, descending=descending), bitonic.sort(keys[::-1], descending=descending)):
                assert list(found[:2]) == ([2.0, 1.0] if descending else [1.0, 2.0])
                assert bool(np.isnan(found[2:]).all()) and found.size == keys.size


@pytest.mark.parametrize("dtype", ["int16", "U5", "complex128"])
@pytest.mark.parametrize("offsets", [[2], [2, 2], [0, 5, 5, 9], [3, 4, 8]])
def test_values_of_segments_may_be_of_any_dtype(dtype: str, offsets: list[int]) -> None:
    keys = np.array([3.0, -0.0, 0.0, 9.0, 1.0, 7.0, 2.0, 7.0, 1.0])
    found = bitonic.sort_pairs(keys, np.arange(9).astype(dtype), offsets=offsets, stable=True)
    expected = bitonic.sort_pairs(keys, np.arange(9), offsets=offsets, stable=True)
    np.testing.assert_array_equal(found[0].view("i8"), expected[0].view("i8"))
    np.testing.assert_array_equal(found[1], expected[1].astype(dtype))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "int32", "float32", "int64", "float64"])
@pytest.mark.parametrize("index_dtype", ["int64", "int32"])
@pytest.mark.parametrize("kth", [0, 1500, -1, [10, 2000]])
@pytest.mark.parametrize("values", [3, 100_000])
def test_partitions_of_many_keys(dtype: str, index_dtype: str, kth: Any, values: int) -> None:
    """Few values and many, in rows, with NaN and zeros of both signs where there are such."""
    keys = np.random.default_rng(3).integers(-values, values, (2, 3000)).astype(dtype)
    if keys.dtype.kind == "f":
        keys[0, ::7], keys[1, ::5] = np.nan, -0.0
    expected = np.sort(keys, axis=-1)
    order = bitonic.argpartition(keys, kth, index_dtype=index_dtype)
    assert order.dtype == index_dtype
    np.testing.assert_array_equal(np.sort(order, axis=-1), np.broadcast_to(np.arange(3000), (2, 3000)))
    for found in [np.take_along_axis(keys, order.astype(np.int64), -1), bitonic.partition(keys, kth)]:
        for place in np.atleast_1d(kth) % 3000:
            np.testing.assert_array_equal(found[:, place], expected[:, place])
            np.testing.assert_array_equal(np.sort(found[:, :place], axis=-1), expected[:, :place])
