"""Half the time in calls of a tiny function, half in a loop without calls: the share that samples show.

A reader that does not stop the program may fail while a call begins or ends. If such rounds were left out,
code with many calls would have too few samples.
"""

from __future__ import annotations

import json
import math

from benchmarks.figures import Figure, check_enough
from benchmarks.sampled_child import HAS_READER, running, sampled
from profkit.model.profile import Profile
from profkit.samplers import cpython
from profkit.samplers.options import SamplerOptions

_RATE_HZ, _SLOW_HZ = 1000.0, 250.0
_BOUND_POINTS = 2.0
_FEWEST_SAMPLES = 5_000
PROGRAM = """
import json, select, sys, time

def tiny():
    return 1

def calls(count):
    for _ in range(count):
        tiny()

def loop(count):
    total = 0
    for number in range(count):
        total += number * number % 7

def time_of(function, count):
    start_s = time.perf_counter()
    function(count)
    return time.perf_counter() - start_s

for _ in range(20):
    unit_s = {function: time_of(function, 20_000) / 20_000 for function in (calls, loop)}
spent_s = {"calls": 0.0, "loop": 0.0}
print("begun", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    for function in (calls, loop):
        spent_s[function.__name__] += time_of(function, round(0.01 / unit_s[function]))
print(json.dumps(spent_s))
"""


def measure(quick: bool) -> list[Figure]:
    """Measure the error of the calls' share for each sampler."""
    duration_s, fewest = (0.5, 1) if quick else (30.0, _FEWEST_SAMPLES)
    cases = [("py-spy, blocking", SamplerOptions("pyspy", rate_hz=_SLOW_HZ, blocking=True), 0)]
    if HAS_READER:
        options = SamplerOptions("cpython", rate_hz=_RATE_HZ)
        cases += [("cpython", options, cpython.RETRIES), ("cpython without retries", options, 0)]
    return [figure for case in cases for figure in _figures(*case, duration_s, fewest)]


def _figures(
    what: str, options: SamplerOptions, retries: int, duration_s: float, fewest: int
) -> list[Figure]:
    with running(PROGRAM) as process:
        recorded = sampled(process.pid, options, duration_s, retries)
        output, _ = process.communicate("end\n")
    spent_s = json.loads(output)
    true = spent_s["calls"] / math.fsum(spent_s.values())
    weights, leaves = _weights(recorded.profile)
    samples = weights["calls"] + weights["loop"]
    check_enough(samples, fewest, what)
    seen = weights["calls"] / samples
    dropped = recorded.recording.errors
    chance_points = 300 * math.sqrt(true * (1 - true) / samples)
    detail = f"{seen:.1%} of {samples:,} samples, {true:.1%} of time; {dropped:,} rounds dropped"
    error = abs(seen - true) * 100
    return [
        Figure(f"{what}: error of the share of calls", error, "points",
               max(_BOUND_POINTS, chance_points), certain=True, detail=detail),
        Figure(f"{what}: share of calls with the tiny function as leaf",
               100 * leaves["tiny"] / max(1, weights["calls"]), "%"),
    ]  # fmt: skip


def _weights(profile: Profile) -> tuple[dict[str, int], dict[str, int]]:
    """Return the samples that each function is in, and those in which it is the leaf."""
    totals = dict.fromkeys(("calls", "loop", "tiny"), 0)
    leaves = dict(totals)
    for sample in profile.samples:
        names = [profile.frames[frame].name for frame in profile.stacks[sample.stack]]
        for name in totals:
            totals[name] += sample.weight * (name in names)
            leaves[name] += sample.weight * (names[-1] == name)
    return totals, leaves
