"""Run three sessions, one after the other, and log each that has ended: `phases.py LOG`."""

from __future__ import annotations

import sys

from benchmarks.faults.programs.owned import OwnLog, spin
from profkit import profile

LOG = OwnLog(sys.argv[1])
NAMES = ("first", "second", "third")


def work(label: str) -> int:
    """Make one call."""
    with LOG.call(label):
        spin(0.03)
    return 1


if __name__ == "__main__":
    calls = 0
    for position, name in enumerate(NAMES):
        # Another rate ends the session before.
        function = profile(label=name, rate=100 + 10 * position)(work)
        calls += sum(function(name) for _ in range(10))
        if position:
            LOG.write("over", NAMES[position - 1])
    print(calls, "calls")
