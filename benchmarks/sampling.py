"""Benchmarks of sampling: overhead and accuracy: `python -m benchmarks.sampling`."""

from __future__ import annotations

import sys

from benchmarks.suite import run_suite

MEASUREMENTS = {
    "imports": "the time of `import profkit`, and what it loads",
    "calls": "the cost of a profiled call and of a block",
    "first_result": "the first block and its result, compared with py-spy by hand",
    "slowdown": "the slowdown by sampling, by options and threads",
    "profilers": "the slowdown by other profilers of the same program",
    "whole_programs": "a CPU-bound script under `profkit run` and under other profilers of whole programs",
    "sampler_rates": "the slowdown by sampler and rate, and how long samplers take to start",
    "torn_stacks": "stacks that never existed, by sampler",
    "tiny_calls": "the share of tiny calls, by sampler",
    "accuracy": "shares and times from samples, compared with the clock's",
    "attribution": "samples in the wrong region",
    "many_processes": "eight profiled processes at once",
    "inside_shares": "shares of a program that is sampled from inside, compared with the clock's",
    "denials": "how long the first call is held up where samplers are denied",
    "recovery": "programs that are killed while they are sampled",
}


if __name__ == "__main__":
    sys.exit(run_suite("sampling", MEASUREMENTS))
