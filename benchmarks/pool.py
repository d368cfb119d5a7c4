"""Benchmarks of isolated calls, and other process pools: `python -m benchmarks.pool`."""

from __future__ import annotations

import sys

from benchmarks.suite import run_suite

MEASUREMENTS = {
    "small_calls": "many small calls, two at a time, compared with other pools",
    "first_call": "the first call of a program, compared with other pools",
    "memory_watch": "a timed loop in a worker whose memory is checked often, compared with rarely",
}


if __name__ == "__main__":
    sys.exit(run_suite("pool", MEASUREMENTS))
