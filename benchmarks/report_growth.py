"""How the cost of a report grows from ten thousand to a million samples, a tenth as many stacks each.

The slope of log cost over log size, by least squares: 1 is linear. A round takes all sizes in one fresh
process, the smallest first; what Python and imports cost is left out.
"""

from __future__ import annotations

import json
from math import log
from pathlib import Path
from statistics import linear_regression, median

from benchmarks.children import PROGRAMS, caching_environment, output_of
from benchmarks.figures import Figure
from benchmarks.pairs import estimate
from benchmarks.report_commands import keep_made_run
from profkit.units import format_duration

NAME = "report_growth"
_SIZES = (10_000, 100_000, 1_000_000)
_RENDERERS = ("text", "html")
_BOUND = 1.15
"""Caches make what is large a little slower; a step from n to n log n would have a slope of 1.1."""


def measure(quick: bool) -> list[Figure]:
    """The slope of each renderer."""
    sizes = _SIZES[:2] if quick else _SIZES
    runs = [keep_made_run(size) for size in sizes]
    return [_figure(name, sizes, runs, 2 if quick else 9) for name in _RENDERERS]


def _figure(renderer: str, sizes: tuple[int, ...], runs: list[str], rounds: int) -> Figure:
    taken = [_costs_s(renderer, runs) for _ in range(rounds)]
    found = estimate([_slope(sizes, costs_s) for costs_s in taken])
    medians = [format_duration(median(costs_s)) for costs_s in zip(*taken, strict=True)]
    told = ", ".join(f"{size:,}: {cost}" for size, cost in zip(sizes, medians, strict=True))
    return Figure(
        NAME, f"{renderer}: slope of log cost over log samples", found.median, "", _BOUND,
        interval=found.interval, spread=found.spread, detail=f"{told}; {rounds} rounds",
    )  # fmt: skip


def _costs_s(renderer: str, runs: list[str]) -> list[float]:
    program = str(PROGRAMS / "report_cost.py")
    costs: list[float] = json.loads(
        output_of([program, renderer, *runs], caching_environment(Path("compiled")))
    )
    return costs


def _slope(sizes: tuple[int, ...], costs_s: list[float]) -> float:
    return linear_regression([log(size) for size in sizes], [log(cost) for cost in costs_s]).slope
