"""A peer of `bitonic bench gpu`: sorts the same keys on the same GPU with PyTorch.

The protocol is described at the top of peers/cub/peer.cu. PyTorch sorts no unsigned integers wider than 8 bits, so these are
handed to it as signed ones with the highest bit turned over, which have the same order; turning it is not in the time.
torch.sort always finds the indices, too. With values, gathering them by these indices is in the time.
"""

import sys
import time

SIGN = {"u32": -(1 << 31), "u64": -(1 << 63)}


class Peer:
    def __init__(self, torch, device):
        self.torch = torch
        torch.cuda.set_device(device)
        self.stream = torch.cuda.Stream()
        self.types = {
            "u32": torch.int32,
            "i32": torch.int32,
            "f32": torch.float32,
            "u64": torch.int64,
            "i64": torch.int64,
            "f64": torch.float64,
        }

    def description(self):
        torch = self.torch
        return f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, {torch.cuda.get_device_name()}"

    def answer(self, line):
        verb, *words = line.split()
        if verb == "keys":
            return self.take_keys(*words)
        if verb == "run":
            return self.run(*words)
        if verb == "result":
            return self.write_result(*words)
        raise ValueError(f"unknown question: {line}")

    def take_keys(self, key_type, rows, row_length, keys_file, values_file=None):
        torch = self.torch
        if key_type not in self.types:
            raise ValueError(f"PyTorch has no keys of type {key_type}")
        self.key_type = key_type
        self.unsorted = self.values = self.keys = self.indices = self.moved = None  # Memory for the next ones.
        shape = (int(rows), int(row_length)) if int(rows) > 1 else (int(row_length),)
        unsorted = read_file(torch, keys_file, self.types[key_type])
        self.unsorted = self.turn_sign(unsorted.cuda()).view(shape)
        self.keys = torch.empty_like(self.unsorted)
        self.indices = torch.empty(shape, dtype=torch.int64, device="cuda")
        if values_file is not None:
            self.values = read_file(torch, values_file, torch.int32).cuda()
            self.moved = torch.empty_like(self.values)
        self.name = "sort" if self.values is None else "sort_and_gather"
        torch.cuda.synchronize()
        return f"sorts {self.name}"

    def run(self, name, microseconds):
        if name != self.name:
            raise ValueError(f"there is no sort {name} for these keys")
        until = time.monotonic() + float(microseconds) * 1e-6
        with self.torch.cuda.stream(self.stream):
            self.time_one()
            while time.monotonic() < until:
                self.time_one()
            nanoseconds = self.time_one()
        return f"time {nanoseconds:.0f}"

    def time_one(self):
        before, behind = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.keys.zero_()  # So that what is fetched is what the last sort has made.
        self.stream.synchronize()
        before.record()
        self.sort()
        behind.record()
        behind.synchronize()
        return before.elapsed_time(behind) * 1e6

    def sort(self):
        torch = self.torch
        torch.sort(self.unsorted, dim=-1, out=(self.keys, self.indices))
        if self.values is not None:
            torch.gather(self.values, 0, self.indices, out=self.moved)

    def write_result(self, keys_file, values_file=None):
        write_file(self.torch, self.turn_sign(self.keys.clone()), keys_file)
        if values_file is not None and self.moved is not None:
            write_file(self.torch, self.moved, values_file)
        return "written"

    def turn_sign(self, numbers):
        sign = SIGN.get(self.key_type)
        return numbers if sign is None else numbers.bitwise_xor_(sign)


def read_file(torch, name, number_type):
    with open(name, "rb") as file:
        return torch.frombuffer(bytearray(file.read()), dtype=number_type)


def write_file(torch, numbers, name):
    numbers = numbers.contiguous().view(-1)
    memory = bytearray(numbers.numel() * numbers.element_size())
    torch.frombuffer(memory, dtype=numbers.dtype).copy_(numbers)
    with open(name, "wb") as file:
        file.write(memory)


def say(answer):
    print(" ".join(answer.split()), flush=True)


def main():
    try:
        import torch
    except Exception as error:
        say(f"error PyTorch cannot be imported: {error}")
        return 1
    if not torch.cuda.is_available():
        say("error this PyTorch finds no CUDA device")
        return 1
    peer = Peer(torch, int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    say(f"ready {peer.description()}")
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
