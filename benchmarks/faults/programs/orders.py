"""Measure orders one after the other, and log those that are done: `orders.py LOG WAY`."""

from __future__ import annotations

import sys
from typing import Literal, cast

from benchmarks.faults.programs.owned import OwnLog
from profkit import measure_all, profile, work_order
from profkit.errors import ProfkitError

LOG = OwnLog(sys.argv[1])
STATEMENTS = ("sum(range(100))", "sorted(range(50))", "' '.join(['word'] * 20)")


Mode = Literal["timer", "callgrind"]


def measured(mode: Mode) -> None:
    """Measure each statement separately."""
    for statement in STATEMENTS:
        order = work_order(statement, mode=mode, quick=True, timeout_s=5.0, retries=0)
        try:
            runs = measure_all([order])
        except ProfkitError as error:
            LOG.write("failed", type(error).__name__)
            continue
        for run in runs:
            LOG.write("failed" if run.info.error else "kept", run.info.id)


def decorated(mode: Mode) -> None:
    """Call a function that is measured in the background, and at exit."""

    @profile(mode=mode, quick=True, timeout_s=5.0, retries=0)
    def ordered(values: list[int]) -> list[int]:
        return sorted(values)

    for length in (10, 100):
        ordered(list(range(length)))
    for run in ordered.runs:
        LOG.write("failed" if run.info.error else "kept", run.info.id)


if __name__ == "__main__":
    LOG.write("begun")
    {"measured": measured, "decorated": decorated}[sys.argv[2]](cast(Mode, sys.argv[3]))
    print("done")
