"""``python -m bitonic``: the command `bitonic`, which sorts files, draws and proves networks and measures sorts.

It is the same code as the program of that name, and does the same: ``python -m bitonic --help``.
"""

from __future__ import annotations

import signal
import sys

from bitonic import _core


def main() -> int:
    # Python would note Ctrl-C for when the command is done. One that was ignored before, as by nohup, stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.command(["bitonic", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
