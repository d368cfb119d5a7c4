"""Verdicts: a statement beside itself, and beside one that does 2 % more."""

from __future__ import annotations

from benchmarks.figures import Figure
from profkit import measure_all
from profkit.comparing.timings import compare_timings
from profkit.measuring.orders import work_order
from profkit.model.measured_comparison import TimesCompared, Verdict
from profkit.stats import share_interval

NAME = "verdicts"
_WORK = "for _i in range({count}): t = _i * _i"
_COUNT, _MORE = 1000, 1020


def measure(quick: bool) -> list[Figure]:
    """Trials of 10 processes × 20 blocks each, interleaved."""
    trials = 5 if quick else 100
    alike = [_trial(_COUNT) for _ in range(trials)]
    slower = [_trial(_MORE) for _ in range(trials)]
    alarms = sum(found.verdict in (Verdict.SLOWER, Verdict.FASTER) for found in alike)
    missed = sum(found.verdict is not Verdict.SLOWER for found in slower)
    return [
        _share("A against A called different", alarms, trials, 2.0),
        _share("a true 2 % missed", missed, trials, 10.0),
    ]


def _trial(count: int) -> TimesCompared:
    orders = [
        work_order(_WORK.format(count=size), label=label, min_run_time_s=0.4)
        for label, size in (("a", _COUNT), ("b", count))
    ]
    a, b = measure_all(orders, interleaved=True, keep=False)
    if a.measurement is None or b.measurement is None or not (a.measurement.timing and b.measurement.timing):
        raise RuntimeError(a.info.error or b.info.error)
    return compare_timings(a.measurement.timing, b.measurement.timing)


def _share(what: str, hits: int, trials: int, bound: float) -> Figure:
    low, high = share_interval(hits, trials)
    return Figure(
        NAME, what, hits / trials * 100, "%", bound,
        interval=(low * 100, high * 100), detail=f"{hits} of {trials} trials",
    )  # fmt: skip
