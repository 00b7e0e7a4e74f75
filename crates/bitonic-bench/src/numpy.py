"""Sorts keys for the benchmark and says how long each sort took.

At the start: one line with numpy's version. Then, for every line `TYPE ROWS COLUMNS` followed by as many raw keys, a line
with the nanoseconds it took to sort the rows, followed by the sorted keys. Ends when its input ends.
"""

import gc
import sys
import time

import numpy

requests, answers = sys.stdin.buffer, sys.stdout.buffer
gc.disable()
answers.write(f"{numpy.__version__}\n".encode())
answers.flush()

for line in iter(requests.readline, b""):
    name, rows, columns = line.decode().split()
    dtype, rows, columns = numpy.dtype(name), int(rows), int(columns)
    keys = numpy.frombuffer(requests.read(rows * columns * dtype.itemsize), dtype)
    shape = (rows, columns) if rows > 1 else (columns,)
    # Twice, as all others: the first time wakes the core. A copy right before the clock: writable, and in the caches as far as it fits.
    work = numpy.empty_like(keys).reshape(shape)
    for _ in range(2):
        numpy.copyto(work, keys.reshape(shape))
        started = time.perf_counter_ns()
        work.sort(axis=-1)
        elapsed = time.perf_counter_ns() - started
    answers.write(f"{elapsed}\n".encode())
    answers.write(work.data.cast("B"))
    answers.flush()
