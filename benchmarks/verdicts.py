"""Verdicts on a statement compared with itself, and with one that does 2 % more."""

from __future__ import annotations

from benchmarks.figures import Figure
from benchmarks.pairs import share_figure
from profkit import measure_all
from profkit.comparing.times import compare_timings
from profkit.measuring.orders import work_order
from profkit.model.comparison import TimesCompared, Verdict

_WORK = "for _i in range({count}): t = _i * _i"
_COUNT = 1000


def measure(quick: bool) -> list[Figure]:
    """Compare in trials of 10 processes × 20 blocks each, interleaved."""
    trials = 5 if quick else 100
    return [alarms(trials), missed(trials, per_cent=2, bound=10.0)]


def alarms(trials: int) -> Figure:
    """Count comparisons of a statement with itself that report slower or faster."""
    found = [_trial(_COUNT).verdict for _ in range(trials)]
    hits = sum(verdict in (Verdict.SLOWER, Verdict.FASTER) for verdict in found)
    return share_figure("A against A called different", hits, trials, 2.0, detail=_of(hits, trials))


def missed(trials: int, per_cent: int, bound: float) -> Figure:
    """Count comparisons with a statement that does more which do not report slower."""
    found = [_trial(_COUNT + _COUNT * per_cent // 100).verdict for _ in range(trials)]
    hits = sum(verdict is not Verdict.SLOWER for verdict in found)
    return share_figure(f"a true {per_cent} % missed", hits, trials, bound, detail=_of(hits, trials))


def _of(hits: int, trials: int) -> str:
    return f"{hits} of {trials} trials"


def _trial(count: int) -> TimesCompared:
    orders = [
        work_order(_WORK.format(count=size), label=label, min_run_time_s=0.4)
        for label, size in (("a", _COUNT), ("b", count))
    ]
    a, b = measure_all(orders, interleaved=True, keep=False)
    if a.measurement is None or b.measurement is None or not (a.measurement.timing and b.measurement.timing):
        raise RuntimeError(a.info.error or b.info.error)
    return compare_timings(a.measurement.timing, b.measurement.timing)
