"""History of a label's results by commit: one series per order and quantity; which changes exceed noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TypeAlias, TypeVar

from profkit.comparing.instructions import MIN_DELTA, MIN_EFFECT, noise_of_runs, spread_of_runs
from profkit.comparing.measured import names_of
from profkit.comparing.times import MIN_PROCESSES, minima_of
from profkit.model.history import History, Point, Quantity, Series
from profkit.model.measurement import (
    COUNT_WARNINGS,
    AnyRun,
    MeasuredRun,
    MeasurementWarning,
    OrderInfo,
    WarningCode,
)
from profkit.model.notes import Note, NoteCode
from profkit.model.run import Run
from profkit.stats.means import t_quantile
from profkit.stats.ranks import median_interval

_R = TypeVar("_R", Run, MeasuredRun)

Figures = tuple[float, float | None, float | None]
"""A value and its interval."""
_Warnings: TypeAlias = Mapping[NoteCode | WarningCode, MeasurementWarning | Note]


def history_of(label: str, runs: Sequence[AnyRun], committed_s: Mapping[str, int] | None = None) -> History:
    """Return the history of a label from all of its runs, in any order; skip runs without numbers.

    Points are sorted by commit time; a commit without one in `committed_s` is placed by its first run.
    """
    ordered = sorted(runs, key=lambda run: (run.info.started_ns, run.info.id))
    sampled = [run for run in ordered if isinstance(run, Run) and run.info.outermost_calls]
    measured = [run for run in ordered if isinstance(run, MeasuredRun) and run.measurement is not None]
    series = (*_measured(measured), *_sampled(label, sampled))
    return History(label, tuple(_in_order(one, committed_s or {}) for one in series))


def _in_order(series: Series, committed_s: Mapping[str, int]) -> Series:
    def place(point: Point) -> float:
        return committed_s.get(point.commit, point.started_ns / 1e9)

    return replace(series, points=tuple(sorted(series.points, key=place)))


def _measured(runs: Sequence[MeasuredRun]) -> Iterator[Series]:
    orders: dict[object, list[MeasuredRun]] = {}
    for run in runs:
        order = run.info.order
        orders.setdefault((order.labels, order.num_threads, order.language), []).append(run)
    each = sorted(orders.values(), key=lambda same: _place(same[0].info.order))
    for name, same in zip(names_of([same[0] for same in each]), each, strict=True):
        timed = [run for run in same if run.measurement is not None and run.measurement.timing is not None]
        if timed:
            yield Series(name, Quantity.MEDIAN_S, _points(timed, _time, _warnings_of_times))
        yield from _counted(name, same)


def _counted(name: str, runs: Sequence[MeasuredRun]) -> Iterator[Series]:
    """Yield a series for each number of executions counted at a time, since it changes the count."""
    by_number: dict[int, list[MeasuredRun]] = {}
    for run in runs:
        if run.measurement is not None and run.measurement.instructions is not None:
            by_number.setdefault(run.measurement.instructions.number, []).append(run)
    for number, counted in sorted(by_number.items(), reverse=True):
        points = _points(counted, _instructions, _warnings_of_counts)
        yield Series(name, Quantity.INSTRUCTIONS, points, number, spread_of_runs(counted))


def _place(order: OrderInfo) -> tuple[object, ...]:
    return order.language.value, order.num_threads, order.labels


def _sampled(label: str, runs: Sequence[Run]) -> Iterator[Series]:
    if runs:
        yield Series(label, Quantity.PER_CALL_S, _points(runs, _call, _warnings_of_samples))


def _points(
    runs: Sequence[_R],
    figures: Callable[[Sequence[_R]], Figures],
    warnings: Callable[[_R], _Warnings],
) -> tuple[Point, ...]:
    groups: dict[str, list[_R]] = {}
    for run in runs:
        groups.setdefault(run.info.process.git_commit or f"run {run.info.id}", []).append(run)
    return tuple(
        Point(
            group[0].info.process.git_commit or "",
            group[0].info.started_ns,
            *figures(group),
            tuple(run.info.id for run in group),
            tuple({code: one for run in group for code, one in warnings(run).items()}.values()),
        )
        for group in groups.values()
    )


def _time(runs: Sequence[MeasuredRun]) -> Figures:
    """Return the median of runs if there are enough, else of processes: runs differ more."""
    sides = [minima_of(run.measurement.timing) for run in runs if run.measurement and run.measurement.timing]
    values = [median(side) for side in sides]
    if len(values) < MIN_PROCESSES:
        values = [least for side in sides for least in side]
    return median(values), *(median_interval(values) or (None, None))


def _instructions(runs: Sequence[MeasuredRun]) -> Figures:
    return min(run.info.instructions for run in runs if run.info.instructions is not None), None, None


def _call(runs: Sequence[Run]) -> Figures:
    """Return the mean time per call of runs, in logarithms, and its interval by Student's t."""
    logs = [math.log(max(run.info.wall_s / run.info.outermost_calls, 1e-12)) for run in runs]
    mean = math.fsum(logs) / len(logs)
    if len(logs) == 1:
        return math.exp(mean), None, None
    variance = math.fsum((value - mean) ** 2 for value in logs) / (len(logs) - 1)
    width = t_quantile(0.05, len(logs) - 1) * math.sqrt(variance / len(logs))
    return math.exp(mean), math.exp(mean - width), math.exp(mean + width)


def _warnings_of_samples(run: Run) -> _Warnings:
    return {note.code: note for note in run.info.warnings}


def _warnings_of_times(run: MeasuredRun) -> _Warnings:
    """Return the warnings about times by code, except that of spread, which the interval shows."""
    omitted = (WarningCode.SPREAD, *COUNT_WARNINGS)
    return {warning.code: warning for warning in run.info.warnings if warning.code not in omitted}


def _warnings_of_counts(run: MeasuredRun) -> _Warnings:
    return {warning.code: warning for warning in run.info.warnings if warning.code in COUNT_WARNINGS}


def is_beyond_noise(series: Series, place: int) -> bool:
    """Return whether a point's interval does not overlap that of the previous point.

    Instructions are exact, except for the spread of runs of one commit.
    """
    now, before = series.points[place], series.points[place - 1]
    if series.quantity is Quantity.INSTRUCTIONS:
        noise = max(MIN_EFFECT, noise_of_runs(series.spread))
        return abs(now.value - before.value) > max(noise * min(now.value, before.value), MIN_DELTA)
    if now.low is None or now.high is None or before.low is None or before.high is None:
        return False
    return now.low > before.high or now.high < before.low
