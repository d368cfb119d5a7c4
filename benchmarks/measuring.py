"""Benchmarks of measuring: its cost and accuracy, and torch's own tools: `python -m benchmarks.measuring`."""

from __future__ import annotations

import sys

from benchmarks.suite import run_suite

MEASUREMENTS = {
    "round_trips": "from an order to its numbers, compared with a cold worker that imports torch",
    "callgrind": "counted statements, compared with torch's collect_callgrind",
    "cpp": "a C++ statement, compared with torch's collect_callgrind",
    "determinism": "counts of seven statements over forks, zygotes, heaps and hash seeds",
    "agreement": "the same statements, compared with torch's counts",
    "operators": "ten operators of the suite in Python and C++, compared with torch's counts",
    "steady_counts": "counts under load and in other environments, and gates of unchanged code",
    "changes": "functions that change their arguments, and others: which are detected",
    "verdicts": "a statement compared with itself, and with one that is 2 % slower",
    "spread": "the same statement in cold, in forked and in several zygotes' processes",
    "many_orders": "300 orders in a row",
    "fleet": "suites on three workers of Dask, compared with one worker and with themselves",
}


if __name__ == "__main__":
    sys.exit(run_suite("measuring", MEASUREMENTS))
