"""Comparisons of sampled runs: a program with itself, and with a copy that has one slower function.

profkit records runs alternately, each in its own process. Then sides are drawn from them repeatedly. A
difference reported between runs of the same program is a false alarm. Draws share runs, so the intervals,
which treat them as independent, are too narrow.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import median

from benchmarks.children import PROGRAMS, environment, output_of
from benchmarks.figures import Figure
from benchmarks.pairs import share_figure
from profkit import Run
from profkit.comparing.sampled import compare_sampled
from profkit.config import CONFIG
from profkit.ingest.keep import ingest
from profkit.model.comparison import Change, SampledComparison
from profkit.store.runs import open_store

_RATE_HZ, _SECONDS = 500, 3.0
_SLOWED, _PLAIN = "smooth", 1.0
_LONGER = (1.35, 2.5)
"""Factors for a function with about a fifth of the time: it gains about five points, or twenty."""
_BOUND_PERCENT = 2.0
_SEED = 40


def measure(quick: bool) -> list[Figure]:
    """Measure false alarms and detected changes, for one run and for several runs per side."""
    count, seconds, draws = (4, 0.3, 10) if quick else (20, _SECONDS, 200)
    recorded = _recorded(count, seconds)
    dice = random.Random(_SEED)
    figures = []
    for runs in (1, 2) if quick else (1, 3, 5):
        alike = [_drawn(dice, recorded[_PLAIN], recorded[_PLAIN], runs) for _ in range(draws)]
        figures += [_alarms(runs, alike), _unseen(runs, alike)]
        for factor in _LONGER:
            changed = [_drawn(dice, recorded[_PLAIN], recorded[factor], runs) for _ in range(draws)]
            figures.append(_found(runs, factor, changed))
    return figures


def _recorded(count: int, seconds: float) -> dict[float, list[Run]]:
    """Return runs of all programs by factor, recorded alternately, since the machine's speed drifts."""
    factors = (_PLAIN, *_LONGER)
    for _ in range(count):
        for factor in factors:
            arguments = [_label(factor), str(seconds), str(_RATE_HZ), str(factor)]
            output_of([str(PROGRAMS / "mixed.py"), *arguments], environment())
    with open_store(CONFIG.store_url) as store:
        ingest(CONFIG.spool, store)
        return {
            factor: [
                run for info in store.runs(_label(factor)) if isinstance(run := store.load(info.id), Run)
            ]
            for factor in factors
        }


def _label(factor: float) -> str:
    return f"{_SLOWED} x {factor}"


def _drawn(dice: random.Random, a: Sequence[Run], b: Sequence[Run], runs: int) -> SampledComparison:
    """Compare two random sides without a common run."""
    if a is b:
        both = dice.sample(a, 2 * runs)
        return compare_sampled(both[:runs], both[runs:])
    return compare_sampled(dice.sample(a, runs), dice.sample(b, runs))


def _alarms(runs: int, alike: Sequence[SampledComparison]) -> Figure:
    hits = sum(comparison.different or _call_changed(comparison) for comparison in alike)
    return _share(f"A against A called different, {_runs(runs)}", hits, len(alike), _BOUND_PERCENT)


def _call_changed(comparison: SampledComparison) -> bool:
    return comparison.call_s is not None and comparison.call_s.difference.changed


def _found(runs: int, factor: float, changed: Sequence[SampledComparison]) -> Figure:
    hits = sum(
        function.name == _SLOWED and function.own.difference.change is Change.MORE
        for comparison in changed
        for function in comparison.changed
    )
    gains = [
        100 * function.own.difference.value
        for comparison in changed
        for function in comparison.functions
        if function.name == _SLOWED
    ]
    what = f"a function {factor:g} times as long found, {_runs(runs)}"
    return _share(what, hits, len(changed), None, f"; {median(gains):+.1f} points in the median")


def _unseen(runs: int, alike: Sequence[SampledComparison]) -> Figure:
    widths = [100 * comparison.unseen for comparison in alike]
    return Figure(
        f"widest half interval, {_runs(runs)}", median(widths), "points",
        spread=(min(widths), max(widths)), detail="a smaller difference can go unseen",
    )  # fmt: skip


def _share(what: str, hits: int, draws: int, bound: float | None, detail: str = "") -> Figure:
    return share_figure(what, hits, draws, bound, detail=f"{hits} of {draws} comparisons{detail}")


def _runs(count: int) -> str:
    return "one run per side" if count == 1 else f"{count} runs per side"
