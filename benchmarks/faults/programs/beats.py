"""Call and log a profiled function every two milliseconds: `beats.py LOG OPTIONS DURATION_S DEPTH`.

OPTIONS is a JSON object. It runs for its duration even if its sampler ends.
"""

from __future__ import annotations

import json
import sys
import time

from benchmarks.faults.programs.owned import OwnLog, spin
from profkit import profile

LOG = OwnLog(sys.argv[1])
DEPTH = int(sys.argv[4])


def descend(depth: int) -> None:
    """Work at the end of a deep stack."""
    if depth:
        descend(depth - 1)
    else:
        spin(0.002)


@profile(label="beats", **json.loads(sys.argv[2]))
def beat() -> None:
    """Make one call."""
    descend(DEPTH)
    LOG.write("beat", time.monotonic_ns())


if __name__ == "__main__":
    end_s = time.monotonic() + float(sys.argv[3])
    beat()
    LOG.write("begun", time.monotonic_ns())
    while time.monotonic() < end_s:
        beat()
    print("done")
