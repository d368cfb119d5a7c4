"""Benchmarks of isolated calls, and other process pools: `python -m benchmarks.pool`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.suite import run_suite

MEASUREMENTS = {
    "small_calls": "many small calls, two at a time, beside other pools",
    "first_call": "the first call of a program, beside other pools",
    "memory_watch": "a timed loop in a worker whose memory is watched closely, beside one that is not",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    return run_suite("pool", MEASUREMENTS, arguments)


if __name__ == "__main__":
    sys.exit(main())
