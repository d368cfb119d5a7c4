"""Growth of a report's cost from ten thousand to a million samples, with a tenth as many stacks each.

The slope of log cost over log size, by least squares: 1 is linear. Fixed costs of a report lower the slope
from the smallest size, but hardly from the second. A round takes all sizes in one fresh process, the smallest
first; the cost of Python and imports is excluded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import log
from pathlib import Path
from statistics import linear_regression, median

from benchmarks.children import PROGRAMS, caching_environment, output_of
from benchmarks.figures import Figure
from benchmarks.pairs import median_figure
from benchmarks.report_commands import keep_made_run
from profkit.units import format_duration

_SIZES = (10_000, 100_000, 1_000_000)
_RENDERERS = ("text", "html")
_BOUND = 1.15
"""Caches slow down large reports a little; an n log n algorithm would have a slope of 1.1."""


def measure(quick: bool) -> list[Figure]:
    """Return the slopes of each renderer, from each size but the largest."""
    sizes = _SIZES[:2] if quick else _SIZES
    runs = [keep_made_run(size) for size in sizes]
    figures = []
    for renderer in _RENDERERS:
        rounds = [_costs_s(renderer, runs) for _ in range(2 if quick else 9)]
        figures += [_figure(renderer, sizes, rounds, first) for first in range(len(sizes) - 1)]
    return figures


def _figure(renderer: str, sizes: Sequence[int], rounds: Sequence[Sequence[float]], first: int) -> Figure:
    slopes = [_slope(sizes[first:], costs_s[first:]) for costs_s in rounds]
    medians = [format_duration(median(costs_s)) for costs_s in zip(*rounds, strict=True)]
    costs = ", ".join(f"{size:,}: {cost}" for size, cost in zip(sizes, medians, strict=True))
    what = f"{renderer}: slope of log cost over log samples, from {sizes[first]:,}"
    return median_figure(what, slopes, "", _BOUND, f"{costs}; {len(rounds)} rounds")


def _costs_s(renderer: str, runs: Sequence[str]) -> list[float]:
    program = str(PROGRAMS / "report_cost.py")
    costs: list[float] = json.loads(
        output_of([program, renderer, *runs], caching_environment(Path("compiled")))
    )
    return costs


def _slope(sizes: Sequence[int], costs_s: Sequence[float]) -> float:
    return linear_regression([log(size) for size in sizes], [log(cost) for cost in costs_s]).slope
