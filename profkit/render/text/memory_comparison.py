"""Text report of a comparison of memory runs."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from profkit.model.comparison import Change
from profkit.model.memory_comparison import MemoryComparison
from profkit.model.profile import Value
from profkit.render.escape import short
from profkit.render.formatting import count, place
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.text.layout import (
    FAINT,
    Column,
    comparison_head,
    comparison_notes,
    compose,
    remark,
    room_left,
    section,
    table,
)
from profkit.render.text.tables import names_and_places
from profkit.render.views.findings import finding_text
from profkit.render.views.memory import value_title
from profkit.render.views.memory_comparison import (
    difference,
    figure_name,
    quantity,
    rule_sentence,
    runs_of,
    spread_text,
    summary,
    where_from,
)

_LIMIT = 15
_MAX_UNCHANGED = 5
"""Unchanged functions that are shown after those that changed."""
_STYLES = {Change.MORE: "bold color(160)", Change.LESS: "bold color(34)", Change.NOISE: FAINT}


def memory_comparison_text(
    comparison: MemoryComparison, options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE
) -> str:
    """Return the report of a comparison, fitted to the terminal's width."""
    return compose(_blocks(comparison, options, terminal), terminal)


def _blocks(
    comparison: MemoryComparison, options: ReportOptions, terminal: Terminal
) -> Iterator[RenderableType]:
    yield from comparison_head(summary(comparison), runs_of(comparison))
    yield section("Figures", "of one call; median, and range over calls or runs")
    yield table(_figures(comparison))
    yield from _functions(comparison, options, terminal)
    yield Text()
    yield remark(rule_sentence(comparison))
    yield from comparison_notes(f"note: {finding_text(note)}" for note in comparison.notes)


def _figures(comparison: MemoryComparison) -> list[Column]:
    rows = comparison.figures
    return [
        Column("", [Text(figure_name(value)) for value, _ in rows], "left"),
        Column("A", [Text(spread_text(one.a, value)) for value, one in rows]),
        Column("B", [Text(spread_text(one.b, value)) for value, one in rows]),
        Column("difference", [_difference(one.change, difference(one, value)) for value, one in rows]),
    ]


def _difference(change: Change, text: str) -> Text:
    return Text(text, style=_STYLES[change])


def _functions(
    comparison: MemoryComparison, options: ReportOptions, terminal: Terminal
) -> Iterator[RenderableType]:
    limit, changed, value = options.limit or _LIMIT, len(comparison.changed), comparison.value
    rows = comparison.functions[: min(limit, changed + _MAX_UNCHANGED)]
    columns = [
        Column("A", [Text(quantity(row.reported.a.middle, value)) for row in rows]),
        Column("B", [Text(quantity(row.reported.b.middle, value)) for row in rows]),
        Column("difference", [_shown(row.reported.change, row.reported.difference, value) for row in rows]),
    ]
    styles = [_STYLES[row.reported.change] for row in rows]
    places = [short(place(row.file, row.line, comparison.cwd)) for row in rows]
    names = [where_from(row) for row in rows]
    columns += names_and_places(names, styles, places, room_left(columns, terminal))
    yield section("Functions", f"self, {value_title(value)}; unchanged ones are dimmed")
    yield table(columns)
    if len(comparison.functions) > len(rows):
        yield remark(f"… and {count(len(comparison.functions) - len(rows), 'more function')}")


def _shown(change: Change, number: float, value: Value) -> Text:
    sign = "+" if number > 0 else "−" if number < 0 else ""
    return _difference(change, f"{sign}{quantity(abs(number), value)}")
