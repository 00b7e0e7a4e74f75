"""``python -m bitonic``: the command `bitonic`, which sorts files, draws and proves networks and measures sorts.

The command is a program of its own. It is looked for beside this interpreter, then on the path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig


def main() -> int:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    command = shutil.which("bitonic", path=path)
    if command is None:
        print("the command bitonic is not installed: install it with 'cargo install bitonic-cli'", file=sys.stderr)
        return 127
    return subprocess.run([command, *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
