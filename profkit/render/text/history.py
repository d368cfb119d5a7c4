"""Text of a label's history: a curve and a table for each series, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.comparing.history import is_beyond_noise
from profkit.model.history import History, Point, Quantity, Series
from profkit.render.escape import short
from profkit.render.formatting import Tone, change, count, counts_alike, moment, times_alike
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.text.layout import FAINT, TITLE, TONES, Column, compose, remark, section, table, title
from profkit.render.views.measured_comparison import input_text

QUANTITIES = {
    Quantity.MEDIAN_S: "median time",
    Quantity.INSTRUCTIONS: "instructions",
    Quantity.PER_CALL_S: "time of one call",
}
_LIMIT = 20
_CURVE = 40
_LEVELS = "▁▂▃▄▅▆▇█"
_COMMIT = 10
_MINUTES = 16
"""Characters of a formatted time up to its minute."""
_SMALLEST = 0.02
"""Smallest range, as a part of the largest value, that fills the height of a curve."""


def history_text(history: History, options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE) -> str:
    """Return the newest points of each series, 20 by default."""
    return compose(_blocks(history, options.limit or _LIMIT, terminal), terminal)


def _blocks(history: History, limit: int, terminal: Terminal) -> Iterator[RenderableType]:
    yield from title(history.label, "history", terminal)
    for series in history.series:
        heading = "" if series.name == history.label else f"  {short(series.name, 60)}"
        heading += _executions(series, history)
        yield section(f"{QUANTITIES[series.quantity].capitalize()}{heading}", _range(series))
        yield Text(curve([point.value for point in series.points], _CURVE))
        yield _table(series, limit)
        hidden = len(series.points) - limit
        if hidden > 0:
            yield remark(f"… and {count(hidden, 'older commit')}")
        if series.spread is not None:
            yield remark(input_text(series.spread))
    if any(point.warnings for series in history.series for point in series.points[-limit:]):
        yield Text()
        yield remark("! has warnings: `profkit report RUN` shows them")


def _executions(series: Series, history: History) -> str:
    """Return what distinguishes a series of counts from others of the same order."""
    alike = [one for one in history.series if (one.name, one.quantity) == (series.name, series.quantity)]
    return f"  {count(series.number or 0, 'execution')} at a time" if len(alike) > 1 else ""


def curve(values: Sequence[float], cells: int) -> str:
    """Draw the last values as columns, scaled between their minimum and maximum."""
    newest = values[-cells:]
    least, most = min(newest), max(newest)
    # Otherwise a change of 0.1 % would fill the whole height.
    span = max(most - least, most * _SMALLEST) or 1.0
    bottom = (least + most - span) / 2
    return "".join(_LEVELS[min(7, int((value - bottom) / span * 8))] for value in newest)


def commit_text(point: Point) -> str:
    """Return the abbreviated commit, or the first run if the commit is unknown."""
    return short(point.commit, 200)[:_COMMIT] if point.commit else f"run {point.runs[0]}"


def _range(series: Series) -> str:
    first, last = series.points[0].value, series.points[-1].value
    points = count(len(series.points), "commit")
    return (
        f"of {points}" if first <= 0 or len(series.points) == 1 else f"{change(last / first)} over {points}"
    )


def _table(series: Series, limit: int) -> RenderableType:
    places = range(len(series.points) - 1, max(-1, len(series.points) - 1 - limit), -1)
    points = [series.points[place] for place in places]
    values = figures(series.quantity, [point.value for point in points])
    return table(
        [
            Column("", [Text("!" if point.warnings else "", style=TONES[Tone.WARN]) for point in points]),
            Column("commit", [Text(commit_text(point)) for point in points], "left"),
            Column("first run", [Text(moment(point.started_ns)[:_MINUTES], style=FAINT) for point in points]),
            Column("value", [Text(value, style=TITLE) for value in values]),
            Column("95 % interval", [Text(_interval(series, point), style=FAINT) for point in points]),
            Column("change", [_change(series, place) for place in places]),
            Column("runs", [Text(str(len(point.runs)), style=FAINT) for point in points]),
        ]
    )


def figures(quantity: Quantity, values: Sequence[float]) -> list[str]:
    """Format the values of a quantity in one unit, so that they compare in a column."""
    return counts_alike(values) if quantity is Quantity.INSTRUCTIONS else times_alike(values)


def _interval(series: Series, point: Point) -> str:
    if point.low is None or point.high is None:
        return ""
    return " – ".join(figures(series.quantity, [point.low, point.high]))


def _change(series: Series, place: int) -> Text:
    ratio = series.changes[place]
    if ratio is None:
        return Text()
    if not is_beyond_noise(series, place):
        return Text(change(ratio), style=FAINT)
    return Text(change(ratio), style=TONES[Tone.BAD if ratio > 1 else Tone.STRONG])
