"""Run a fixed amount of pure Python: `busy.py (profiled | bare) ROUNDS`.

It prints `ready` after its imports, waits for a line, and works. Both variants import the same.
"""

from __future__ import annotations

import sys

from benchmarks.work import pure_python
from profkit import profile

if __name__ == "__main__":
    work = profile(pure_python) if sys.argv[1] == "profiled" else pure_python
    print("ready", flush=True)
    sys.stdin.readline()
    work(int(sys.argv[2]))
