"""Text report of a comparison of sampled runs: headline, changed functions, changed calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from profkit.model.comparison import (
    Change,
    Compared,
    Estimate,
    FunctionComparison,
    Grade,
    SampledComparison,
)
from profkit.render.cells import left_cut, middle_cut
from profkit.render.escape import MAX_NAME, short
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
from profkit.render.views.sampled_comparison import (
    DiffRow,
    bounded_points,
    bounded_share,
    diff_rows,
    points,
    rule_sentence,
    runs_of,
    share,
    shares_sentence,
    summary,
    times,
    warnings_of,
)
from profkit.render.views.tree import guides

_LIMIT = 15
_MAX_UNCHANGED = 5
"""Functions within noise that are shown after those that changed, the most different first."""
_MAX_CALLS = 20
_MIN_WIDTHS = {"bounds": 60, "time": 84, "total": 110, "all bounds": 140}
"""Minimum terminal widths for these columns, and for intervals of differences and of all shares."""
_STYLES = {Change.MORE: "bold color(160)", Change.LESS: "bold color(34)", Change.NOISE: FAINT}


def sampled_comparison_text(
    comparison: SampledComparison, options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE
) -> str:
    """Return the report of a comparison, fitted to the terminal's width."""
    return compose(_blocks(comparison, options, terminal), terminal)


def _blocks(
    comparison: SampledComparison, options: ReportOptions, terminal: Terminal
) -> Iterator[RenderableType]:
    yield from comparison_head(summary(comparison), runs_of(comparison))
    yield from _functions(comparison, options, terminal)
    yield from _tree(comparison, options, terminal)
    yield Text()
    yield remark(rule_sentence(comparison))
    if comparison.grade is Grade.UNCONFIRMED:
        yield remark(
            "Unconfirmed: the noise between runs is assumed; record three runs per side to measure it."
        )
    yield from comparison_notes(f"warning on {sides}: {text}" for sides, text in warnings_of(comparison))
    yield from comparison_notes(f"note: {finding_text(note)}" for note in comparison.notes)


def _functions(
    comparison: SampledComparison, options: ReportOptions, terminal: Terminal
) -> Iterator[RenderableType]:
    limit = options.limit or _LIMIT
    changed = len(comparison.changed)
    rows = comparison.functions[: min(limit, changed + _MAX_UNCHANGED) if not options.show_all else None]
    totals = _fits(terminal, "total")
    compared = [row.own if totals else row.reported for row in rows]
    columns = [
        Column("A", [_share(one, one.a, terminal) for one in compared]),
        Column("B", [_share(one, one.b, terminal) for one in compared]),
        Column("points", [_difference(one, terminal) for one in compared]),
    ]
    if totals:
        columns.append(Column("total points", [_difference(row.total, terminal) for row in rows]))
    if _fits(terminal, "time") and any(row.own_s for row in rows):
        wide = _fits(terminal, "all bounds")
        own_s = [Text(times(row.own_s, bounded=wide), style=FAINT) for row in rows]
        columns.append(Column("self time per call", own_s))
    styles = [_STYLES[row.reported.difference.change] for row in rows]
    places = [short(place(row.file, row.line, comparison.cwd)) for row in rows]
    names = [
        f"{row.name} (total)" if one is not row.own else row.name
        for row, one in zip(rows, compared, strict=True)
    ]
    columns += names_and_places(names, styles, places, room_left(columns, terminal))
    yield section("Functions", "self shares in A and B; differences within noise are dimmed")
    yield table(columns)
    yield from _omitted(comparison.functions[len(rows) :])
    if sentence := shares_sentence(comparison):
        yield remark(sentence)


def _fits(terminal: Terminal, column: str) -> bool:
    return terminal.width is None or terminal.width >= _MIN_WIDTHS[column]


def _share(compared: Compared, side: Estimate, terminal: Terminal) -> Text:
    style = FAINT if compared.difference.change is Change.NOISE else ""
    return Text(bounded_share(side) if _fits(terminal, "all bounds") else share(side), style=style)


def _difference(compared: Compared, terminal: Terminal) -> Text:
    difference = compared.difference
    text = bounded_points(difference) if _fits(terminal, "bounds") else points(difference.value)
    return Text(text, style=_STYLES[difference.change])


def _omitted(rows: Sequence[FunctionComparison]) -> Iterator[Text]:
    """Yield a line for omitted functions that changed, and one for those inside the noise."""
    if changed := sum(row.changed for row in rows):
        yield remark(f"… and {count(changed, 'more changed function')}")
    noise = [abs(row.own.difference.value) for row in rows if not row.changed]
    if noise:
        yield remark(
            f"… and {count(len(noise), 'more function')} within noise, "
            f"with differences of up to {100 * max(noise):.1f} points"
        )


def _tree(
    comparison: SampledComparison, options: ReportOptions, terminal: Terminal
) -> Iterator[RenderableType]:
    rows = diff_rows(comparison, show_all=options.show_all, most=None if options.show_all else _MAX_CALLS)
    if not rows:
        return
    columns = [
        Column("A", [Text(f"{100 * row.a:.1f} %", style=FAINT) for row in rows]),
        Column("B", [Text(f"{100 * row.b:.1f} %", style=FAINT) for row in rows]),
        Column("points", [Text(points(row.difference), style=_call_style(row)) for row in rows]),
    ]
    room = room_left(columns, terminal)
    calls = [_call(row, guide, comparison, room) for row, guide in zip(rows, guides(rows, room), strict=True)]
    yield section(
        "Changed calls",
        "shares including callees" + ("" if options.show_all else "; library calls folded"),
    )
    yield table([*columns, Column("call", calls, "left")])


def _call_style(row: DiffRow) -> str:
    if not row.changed:
        return FAINT
    return _STYLES[Change.MORE if row.difference > 0 else Change.LESS]


def _call(row: DiffRow, guide: str, comparison: SampledComparison, room: int | None) -> Text:
    left = None if room is None else max(8, room - len(guide))
    name = short(row.name) if left is None else middle_cut(row.name, min(left, MAX_NAME))
    text = Text(guide, style=FAINT).append(
        name, style=f"not dim {_call_style(row)}" if row.changed else FAINT
    )
    where = short(place(row.file, row.line, comparison.cwd))
    where += f" (through {count(row.through, 'call')})" if row.through else ""
    left = None if left is None else left - cell_len(name) - 2
    if where and (left is None or left >= min(12, cell_len(where))):
        text.append(f"  {left_cut(where, left)}", style=FAINT)
    return text
