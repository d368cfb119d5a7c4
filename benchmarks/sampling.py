"""Benchmarks of sampling: overhead and accuracy: `python -m benchmarks.sampling`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.suite import run_suite

MEASUREMENTS = {
    "imports": "what `import profkit` takes and loads",
    "calls": "what a profiled call and a block cost",
    "first_result": "the first block and its result, beside py-spy by hand",
    "slowdown": "what sampling takes from a program, by options and threads",
    "profilers": "what other profilers take from the same program",
    "accuracy": "shares and times from samples, beside the clock's",
    "attribution": "samples in the wrong region",
    "many_processes": "eight profiled processes at once",
    "recovery": "programs that are killed while they are sampled",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    return run_suite("sampling", MEASUREMENTS, arguments)


if __name__ == "__main__":
    sys.exit(main())
