"""Call a decorated function until killed: `endless.py LABEL`. Prints `running` once it is sampled."""

from __future__ import annotations

import sys

from benchmarks.work import pure_python
from profkit import profile

if __name__ == "__main__":
    work = profile(label=sys.argv[1])(pure_python)
    work(1)
    print("running", flush=True)
    while True:
        work(100)
