"""Shares and times according to samples, compared with clocks read inside the program.

The bounds allow for chance: a share p of n samples misses by 3 standard deviations of the binomial
distribution, 3 √(p (1 - p) / n), in 3 of 1,000 runs even with a perfect sampler.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter, sleep

from benchmarks.attached import finished_run
from benchmarks.figures import Figure
from benchmarks.work import fixed_work, renamed, turns_for
from profkit import Run, profile
from profkit.calls.keywords import ProfilerOptions
from profkit.transforms.tables import function_rows

Steps = Mapping[str, Callable[[], object]]
_MIN_POINTS, _ALLOWANCE_POINTS, _MIN_PERCENT = 2.5, 0.5, 5.0


def measure(quick: bool) -> list[Figure]:
    """Measure two mixtures with known shares, and a region that fills a third of its session."""
    duration_s = 1.0 if quick else 30.0
    split, mixture = known_split(), mixed_work()
    return [
        _share_figure("50/30/20 split", split, {}, duration_s),
        _share_figure(f"Python, sleep, hashing, {_last(mixture)}", mixture, {}, duration_s),
        _share_figure("the same, blocking=False", mixture, {"blocking": False}, duration_s),
        _time_figure(duration_s),
    ]


def known_split() -> Steps:
    """Return the same work under three names, five, three and two times."""
    unit = turns_for(0.001)
    names = {"half": 5, "three_tenths": 3, "fifth": 2}
    return {name: partial(renamed(fixed_work, name), unit * times) for name, times in names.items()}


def mixed_work() -> Steps:
    """Return typical work: the interpreter, sleep, C code without the GIL, and with the GIL or torch."""
    turns, data = turns_for(0.004), bytes(4 * 2**20)

    def python() -> object:
        return fixed_work(turns)

    def waiting() -> object:
        sleep(0.003)
        return None

    def hashing() -> object:
        return hashlib.sha256(data).digest()

    return {"python": python, "waiting": waiting, "hashing": hashing, **_in_c()}


def _in_c() -> Steps:
    """Return a matrix product, or sorting if torch is not installed."""
    try:
        import torch
    except ImportError:
        words = [str(number * 7919 % 10007) for number in range(20_000)]

        def sorting() -> object:
            return sorted(words)

        return {"sorting": sorting}
    torch.set_num_threads(1)
    matrix = torch.ones(448, 448)

    def matmul() -> object:
        return matrix @ matrix

    return {"matmul": matmul}


def _last(steps: Steps) -> str:
    return [*steps][-1]


def _share_figure(what: str, steps: Steps, options: ProfilerOptions, duration_s: float) -> Figure:
    """Return the share with the largest error, relative to its bound."""
    named: ProfilerOptions = {**options, "label": what}
    decorated = profile(**named)(_mixing)
    spent_s = decorated(steps, duration_s)
    run = finished_run(decorated)
    wall_s, seen = math.fsum(spent_s.values()), _shares(run, steps)
    worst = max(
        (_missed(name, seen[name], spent_s[name] / wall_s, run.info.samples) for name in steps),
        key=lambda missed: missed.value - (missed.bound or 0.0),
    )
    return Figure(
        f"{what}: largest error of a share", worst.value, "points", worst.bound, certain=True,
        detail=f"{worst.detail}, {run.info.samples:,} samples",
    )  # fmt: skip


def _mixing(steps: Steps, duration_s: float) -> dict[str, float]:
    """Run all steps repeatedly, in random order, and return the total time of each."""
    rng, order = random.Random(2), list(steps)
    spent_s = dict.fromkeys(steps, 0.0)
    end_s = perf_counter() + duration_s
    while perf_counter() < end_s:
        rng.shuffle(order)
        for name in order:
            start_s = perf_counter()
            steps[name]()
            spent_s[name] += perf_counter() - start_s
    return spent_s


def _shares(run: Run, steps: Steps) -> dict[str, float]:
    """Return each step's share of samples; a step's function is the last part of its name."""
    if run.profile is None or not run.info.samples:
        raise RuntimeError("the run has no samples")
    rows = {row.name.rpartition(".")[2]: row.total_weight for row in function_rows(run.profile)}
    return {name: rows.get(name, 0) / run.profile.total_weight for name in steps}


def _missed(name: str, seen: float, true: float, samples: int) -> Figure:
    chance_points = 300 * math.sqrt(true * (1 - true) / samples)
    bound = max(_MIN_POINTS, chance_points) + _ALLOWANCE_POINTS
    detail = f"{name}: {seen:.1%} of samples, {true:.1%} of time"
    return Figure(name, abs(seen - true) * 100, "points", bound, detail=detail)


def _time_figure(duration_s: float) -> Figure:
    """Compare a region's samples times the session's period with its wall time."""
    turns = turns_for(0.010)
    decorated = profile(label="a third")(fixed_work)
    wall_s, end_s = 0.0, perf_counter() + duration_s
    while perf_counter() < end_s:
        start_s = perf_counter()
        decorated(turns)
        wall_s += perf_counter() - start_s
        fixed_work(2 * turns)
    run = finished_run(decorated)
    if run.profile is None or not run.info.samples:
        raise RuntimeError("the run has no samples")
    sampled_s = run.profile.total_weight * run.profile.period_ns / 1e9
    filled = wall_s / run.info.session_s
    # The first call waits for the session to begin, which may take long on a busy machine.
    chance_percent = 300 * math.sqrt(max(0.0, 1 - filled) / run.info.samples)
    return Figure(
        "a region's time from samples: its error", abs(sampled_s / wall_s - 1) * 100, "%",
        max(_MIN_PERCENT, chance_percent), certain=True,
        detail=f"{sampled_s:.2f} of {wall_s:.2f} s, {filled:.0%} of all; {run.info.samples:,} samples",
    )  # fmt: skip
