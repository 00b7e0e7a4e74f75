"""A peer of the CPU benchmark: sorts the same keys on the processor with numpy, on one thread.

The protocol is described at the top of peers/cub/peer.cu. There is no device, and there are no values. The time is that of one
call of ndarray.sort for all rows.
"""

import gc
import sys
import time

TYPES = {
    **{f"u{bits}": f"<u{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"i{bits}": f"<i{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"f{bits}": f"<f{bits // 8}" for bits in (16, 32, 64)},
}


class Peer:
    def __init__(self, numpy):
        self.numpy = numpy

    def answer(self, line):
        verb, *words = line.split()
        if verb == "keys":
            return self.take_keys(*words)
        if verb == "run":
            return self.run(*words)
        if verb == "result":
            return self.write_result(*words)
        raise ValueError(f"unknown question: {line}")

    def take_keys(self, key_type, rows, row_length, keys_file):
        if key_type not in TYPES:
            raise ValueError(f"numpy has no keys of type {key_type}")
        shape = (int(rows), int(row_length)) if int(rows) > 1 else (int(row_length),)
        self.unsorted = self.numpy.fromfile(keys_file, TYPES[key_type]).reshape(shape)
        self.keys = self.numpy.empty_like(self.unsorted)
        return "sorts sort"

    def run(self, name, microseconds):
        if name != "sort":
            raise ValueError(f"there is no sort {name} for these keys")
        until = time.monotonic() + float(microseconds) * 1e-6
        self.time_one()
        while time.monotonic() < until:
            self.time_one()
        return f"time {self.time_one()}"

    def time_one(self):
        # A copy right before the clock starts: in the caches as far as it fits, as with the other contenders.
        self.numpy.copyto(self.keys, self.unsorted)
        started = time.perf_counter_ns()
        self.keys.sort(axis=-1)
        return time.perf_counter_ns() - started

    def write_result(self, keys_file):
        self.keys.tofile(keys_file)
        return "written"


def say(answer):
    print(" ".join(answer.split()), flush=True)


def main():
    try:
        import numpy
    except Exception as error:
        say(f"error numpy cannot be imported: {error}")
        return 1
    gc.disable()
    peer = Peer(numpy)
    say(f"ready numpy {numpy.__version__}")
    for line in sys.stdin:
        if line.strip() == "end":
            break
        try:
            say(peer.answer(line))
        except Exception as error:
            say(f"error {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
