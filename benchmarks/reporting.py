"""Benchmarks of reports, pages and comparisons: cost and accuracy: `python -m benchmarks.reporting`."""

from __future__ import annotations

import sys

from benchmarks.suite import run_suite

MEASUREMENTS = {
    "large_reports": "reports of a million samples, as whole commands",
    "large_runs": "two million lines, JSON, comparisons and imports, as whole commands",
    "rank_growth": "what grows with the samples of a rank and the ranks of a job",
    "store_growth": "what grows with the runs of a store and with its writers: commands, look-ups, pushes",
    "report_growth": "the cost of reports of ten thousand to a million samples",
    "browser": "the page of a million samples in Chromium",
    "peer_pages": "pages of profkit and of other tools for one program",
    "call_graphs": "self and total of functions from files of cProfile and Callgrind",
    "compared_runs": "comparisons of sampled runs, of the same program and of a slower one",
    "compared_timers": "comparisons of timer runs, of the same statement and of a slower one",
}


if __name__ == "__main__":
    sys.exit(run_suite("reporting", MEASUREMENTS))
