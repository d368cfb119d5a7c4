"""Report of a label's history: a curve and a table for each series, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from profkit.comparing.history import is_beyond_noise
from profkit.model.history import History, Point, Quantity, Series
from profkit.render.document import (
    Block,
    Cell,
    Column,
    Document,
    Remark,
    Role,
    Section,
    Table,
    Title,
    Trend,
    TrendPoint,
    cells,
)
from profkit.render.escape import short
from profkit.render.formatting import Tone, change, count, counts_alike, moment, times_alike
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.measured_comparison import input_text
from profkit.render.views.measurement_warnings import warning_text
from profkit.units import short_id

QUANTITIES = {
    Quantity.MEDIAN_S: "median time",
    Quantity.INSTRUCTIONS: "instructions",
    Quantity.PER_CALL_S: "time of one call",
}
_CURVE = 40
_LEVELS = "▁▂▃▄▅▆▇█"
_COMMIT = 10
_MINUTES = 16
_DAYS = 10
"""Characters of a formatted time up to its minute, and up to its day."""
_SMALLEST = 0.02
"""Smallest range, as a part of the largest value, that fills the height of a curve."""


def history(found: History, options: ReportOptions = DEFAULTS) -> Document:
    """Yield the newest points of each series, 20 by default."""
    limit = options.rows(20, 20)
    yield Title(found.label, "history", "History of")
    for series in found.series:
        yield from _series(series, found, limit, is_drawn=options.whole)
    have_warnings = any(point.warnings for series in found.series for point in series.points[-limit:])
    if have_warnings and not options.whole:
        yield Remark("! has warnings: `profkit report RUN` shows them", gap=True)


def _series(series: Series, found: History, limit: int, *, is_drawn: bool) -> Iterator[Block]:
    heading = "" if series.name == found.label else f"  {short(series.name, 60)}"
    heading += _executions(series, found)
    yield Section(f"{QUANTITIES[series.quantity].capitalize()}{heading}", _range(series))
    if is_drawn:
        yield _trend(series, limit)
    else:
        yield Remark(curve([point.value for point in series.points], _CURVE), Tone.PLAIN)
    yield _table(series, limit, is_drawn=is_drawn)
    if (hidden := len(series.points) - limit) > 0:
        yield Remark(f"… and {count(hidden, 'older commit')}")
    if series.spread is not None:
        yield Remark(input_text(series.spread))


def _executions(series: Series, found: History) -> str:
    """Return what distinguishes a series of counts from others of the same order."""
    alike = [one for one in found.series if (one.name, one.quantity) == (series.name, series.quantity)]
    return f"  {count(series.number or 0, 'execution')} at a time" if len(alike) > 1 else ""


def curve(values: Sequence[float], width: int) -> str:
    """Draw the last values as columns, scaled between their minimum and maximum."""
    newest = values[-width:]
    least, most = min(newest), max(newest)
    # Otherwise a change of 0.1 % would fill the whole height.
    span = max(most - least, most * _SMALLEST) or 1.0
    bottom = (least + most - span) / 2
    return "".join(_LEVELS[min(7, int((value - bottom) / span * 8))] for value in newest)


def _trend(series: Series, limit: int) -> Trend:
    points = series.points[-limit:]
    values = _figures(series.quantity, [point.value for point in points])
    first, last = points[0], points[-1]
    ends = f"{_commit(first)} to {_commit(last)}: {values[0]} to {values[-1]}"
    ratio = f", {change(last.value / first.value)}" if first.value > 0 else ""
    return Trend(
        title=f"{QUANTITIES[series.quantity]} of {short(series.name)} over {count(len(points), 'commit')}",
        summary=f"From {ends}{ratio}" if len(points) > 1 else f"{_commit(first)}: {values[0]}",
        points=[_trend_point(series, *one) for one in zip(points, values, strict=True)],
        is_time=series.quantity is not Quantity.INSTRUCTIONS,
    )


def _trend_point(series: Series, point: Point, value: str) -> TrendPoint:
    interval = _interval(series, point)
    bounds = f"95 % interval {interval}" if interval else "no interval"
    is_exact = series.quantity is Quantity.INSTRUCTIONS and not interval
    said = [_commit(point), value, *([] if is_exact else [bounds]), count(len(point.runs), "run")]
    words = " · ".join([*said, moment(point.started_ns)[:_DAYS], *map(warning_text, point.warnings)])
    return TrendPoint(_commit(point), point.value, point.low, point.high, words, bool(point.warnings))


def _range(series: Series) -> str:
    first, last = series.points[0].value, series.points[-1].value
    points = count(len(series.points), "commit")
    is_one = first <= 0 or len(series.points) == 1
    return f"of {points}" if is_one else f"{change(last / first)} over {points}"


def _table(series: Series, limit: int, *, is_drawn: bool) -> Table:
    places = range(len(series.points) - 1, max(-1, len(series.points) - 1 - limit), -1)
    points = [series.points[place] for place in places]
    values = _figures(series.quantity, [point.value for point in points])
    starts = (moment(point.started_ns)[:_MINUTES] for point in points)
    warnings = cells(("; ".join(map(warning_text, point.warnings)) for point in points), Tone.WARN)
    have_warnings = is_drawn and any(point.warnings for point in points)
    return Table(
        [
            Column("", cells(("!" if point.warnings else "" for point in points), Tone.WARN)),
            Column("commit", cells(map(_commit, points)), Role.WORDS),
            Column("first run", cells(starts, Tone.FAINT)),
            Column("value", cells(values, Tone.STRONG)),
            Column("95 % interval", cells((_interval(series, point) for point in points), Tone.FAINT)),
            Column("change", [_change(series, place) for place in places]),
            Column("runs", cells((str(len(point.runs)) for point in points), Tone.FAINT)),
            *([Column("warnings", warnings, Role.PROSE)] if have_warnings else []),
        ]
    )


def _commit(point: Point) -> str:
    """Return the abbreviated commit, or the first run if the commit is unknown."""
    return short(point.commit, 200)[:_COMMIT] if point.commit else f"run {short_id(point.runs[0])}"


def _figures(quantity: Quantity, values: Sequence[float]) -> list[str]:
    """Format the values of a quantity in one unit, so that they compare in a column."""
    return counts_alike(values) if quantity is Quantity.INSTRUCTIONS else times_alike(values)


def _interval(series: Series, point: Point) -> str:
    if point.low is None or point.high is None:
        return ""
    return " – ".join(_figures(series.quantity, [point.low, point.high]))


def _change(series: Series, place: int) -> Cell:
    ratio = series.changes[place]
    if ratio is None:
        return Cell()
    if not is_beyond_noise(series, place):
        return Cell(change(ratio), Tone.FAINT)
    return Cell(change(ratio), Tone.BAD if ratio > 1 else Tone.STRONG)
