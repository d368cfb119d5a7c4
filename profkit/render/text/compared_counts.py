"""Compared instruction counts as text: a table, the difference by function, and by calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from profkit.model.comparison import (
    CallDelta,
    CountsCompared,
    FunctionDelta,
    MeasuredComparison,
    OrderCompared,
)
from profkit.render.escape import code_block, short
from profkit.render.formatting import Tone, count, counts_alike
from profkit.render.options import ReportOptions
from profkit.render.terminal import Terminal
from profkit.render.text.layout import FAINT, TONES, Column, remark, room_left, section, table
from profkit.render.text.tables import names_and_places
from profkit.render.text.tree import guides
from profkit.render.views.measured_comparison import TONES_OF, delta_cell, function_text, signed, signed_alike
from profkit.transforms.origin import standard_file

WHAT = "instructions of one execution with all that is called, without memory allocators"
_ROOM_FOR_ALL = 90
_LONGEST_CALL = 80
"""Of a function in Markdown, which has no width; templates have names of a thousand characters."""


def calls_block(
    calls: Sequence[CallDelta], whose: str, limit: int, terminal: Terminal
) -> Iterator[RenderableType]:
    """The calls in which both sides differ, callers first; nothing where none are known."""
    rows = calls[:limit]
    if not rows:
        return
    yield section(f"Difference by call{whose}", WHAT)
    deltas, before, after = _figures(rows)
    figures = [
        Column(
            "Δ", [Text(text, style=TONES[_call_tone(row)]) for text, row in zip(deltas, rows, strict=True)]
        ),
        Column("A", [Text(text, style=FAINT) for text in before]),
        Column("B", [Text(text, style=FAINT) for text in after]),
    ]
    room = room_left(figures, terminal)
    # On a narrow terminal the names need all that the lines before them leave.
    narrow = room is not None and room < _ROOM_FOR_ALL
    drawn = [
        f"{guide}{row.name}{'' if narrow else _through(row)}"
        for guide, row in zip(guides(rows, room), rows, strict=True)
    ]
    places = ["" if narrow else short(standard_file(row.file)) for row in rows]
    yield table([*figures, *names_and_places(drawn, [""] * len(rows), places, room)])
    if len(calls) > len(rows):
        yield remark(f"… and {count(len(calls) - len(rows), 'more call')}")


def calls_markdown(calls: Sequence[CallDelta], limit: int) -> str:
    """The same as a block of code; empty where no calls are known."""
    rows = calls[:limit]
    if not rows:
        return ""
    columns = [[head, *cells] for head, cells in zip(("Δ", "A", "B"), _figures(rows), strict=True)]
    widths = [max(map(len, column)) for column in columns]
    calls_drawn = [
        f"{guide}{short(row.name, _LONGEST_CALL)}{_through(row)}  "
        f"{short(standard_file(row.file), _LONGEST_CALL)}"
        for guide, row in zip(guides(rows, None), rows, strict=True)
    ]
    lines = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)), call]).rstrip()
        for *cells, call in zip(*columns, ["call", *calls_drawn], strict=True)
    ]
    more = [f"… and {count(len(calls) - len(rows), 'more call')}"] if len(calls) > len(rows) else []
    return code_block([*lines, *more])


def _figures(rows: Sequence[CallDelta]) -> tuple[list[str], list[str], list[str]]:
    both = counts_alike([row.a for row in rows] + [row.b for row in rows])
    return signed_alike([row.delta for row in rows]), both[: len(rows)], both[len(rows) :]


def _through(row: CallDelta) -> str:
    return f" (through {count(row.through, 'call')})" if row.through else ""


def _call_tone(row: CallDelta) -> Tone:
    return Tone.BAD if row.delta > 0 else Tone.STRONG


_LIMIT, _LIMIT_OF_FEW, _FEW = 15, 5, 4
"""Functions of one order, and for each of at most so many."""
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Grid:
    """Orders by label and threads, and by language and runtime, as cells `ΔI → final (± %)`."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[str, str], OrderCompared]


def grid_of(comparison: MeasuredComparison) -> Grid:
    """The orders whose instructions were compared; a place that two would share becomes two rows."""
    cells: dict[tuple[str, str], OrderCompared] = {}
    for order in comparison.orders:
        if order.counts is None:
            continue
        row, column = _place(order)
        cells[(row if (row, column) not in cells else order.name, column)] = order
    rows = tuple(dict.fromkeys(row for row, _ in cells))
    return Grid(rows, tuple(dict.fromkeys(column for _, column in cells)), cells)


def _place(order: OrderCompared) -> tuple[str, str]:
    info = order.a[0].info.order
    labels = dict(info.labels)
    language = labels.pop("language", info.language.value)
    runtime = labels.pop("runtime", "")
    threads = [count(info.num_threads, "thread")] if info.num_threads > 1 else []
    told = ", ".join([*labels.values(), *threads])
    name = f"{info.label} ({told})" if told else info.label
    return short(name, _LONGEST), short(" ".join(filter(None, (language, runtime))), _LONGEST)


def counts_table(comparison: MeasuredComparison) -> Iterator[RenderableType]:
    """The grid, where several orders were counted."""
    grid = grid_of(comparison)
    if len(grid.cells) < 2:
        return
    yield section("Instructions", "of one execution, without memory allocators: Δ → B (change)")
    names = Column("order", [Text(row) for row in grid.rows], "left")
    figures = [
        Column(column, [_cell(grid.cells.get((row, column))) for row in grid.rows]) for column in grid.columns
    ]
    yield table([names, *figures])


def _cell(order: OrderCompared | None) -> Text:
    if order is None or order.counts is None:
        return Text()
    return Text(delta_cell(order.counts), style=TONES[TONES_OF[order.counts.verdict]])


def shown_deltas(
    comparison: MeasuredComparison, options: ReportOptions
) -> list[tuple[OrderCompared, CountsCompared, int]]:
    """Orders whose functions differ, each with how many to show; none of many, unless a limit is given."""
    counted = [
        (order, order.counts) for order in comparison.orders if order.counts and order.counts.functions
    ]
    if options.limit is None and len(counted) > _FEW:
        return []
    limit = options.limit or (_LIMIT if len(counted) == 1 else _LIMIT_OF_FEW)
    return [(order, counts, limit) for order, counts in counted]


def deltas_block(
    comparison: MeasuredComparison, options: ReportOptions, terminal: Terminal
) -> Iterator[RenderableType]:
    """The functions that differ, the largest difference first."""
    shown = shown_deltas(comparison, options)
    for order, counts, limit in shown:
        whose = "" if len(comparison.orders) == 1 else f" of {short(order.name, 60)}"
        names = ", names as they hold in both environments" if counts.standardized else ""
        yield section(f"Difference by function{whose}", f"own instructions of one execution{names}")
        yield _table(counts.functions[:limit], terminal)
        if len(counts.functions) > limit:
            yield remark(f"… and {count(len(counts.functions) - limit, 'more function')}")
        yield remark(f"Memory allocators, which are not counted: {signed(counts.allocators.delta)}")
        yield from calls_block(counts.calls, whose, limit, terminal)
    if not shown and any(order.counts and order.counts.functions for order in comparison.orders):
        yield Text()
        yield remark("Difference by function: compare one order, or give a limit.")


def _table(rows: Sequence[FunctionDelta], terminal: Terminal) -> RenderableType:
    both = counts_alike([row.a for row in rows] + [row.b for row in rows])
    deltas = signed_alike([row.delta for row in rows])
    figures = [
        Column("Δ", [Text(text, style=TONES[_tone(row)]) for text, row in zip(deltas, rows, strict=True)]),
        Column("A", [Text(text, style=FAINT) for text in both[: len(rows)]]),
        Column("B", [Text(text, style=FAINT) for text in both[len(rows) :]]),
    ]
    told = [function_text(row.name) for row in rows]
    names, places = [name for name, _ in told], [place for _, place in told]
    return table([*figures, *names_and_places(names, [""] * len(rows), places, room_left(figures, terminal))])


def _tone(row: FunctionDelta) -> Tone:
    return Tone.BAD if row.delta > 0 else Tone.STRONG
