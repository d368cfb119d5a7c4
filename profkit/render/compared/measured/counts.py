"""Instructions of two sides: a table over orders and environments, and the difference by function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from profkit.model.comparison import CountsCompared, FunctionDelta, MeasuredComparison, OrderCompared
from profkit.render.compared.measured.calls import calls_block
from profkit.render.compared.measured.sentences import TONES_OF
from profkit.render.compared.measured.words import delta_cell, function_text, signed, signed_alike
from profkit.render.escape import short
from profkit.render.measured.words import counts_alike
from profkit.render.options import ReportOptions
from profkit.render.page import Page
from profkit.render.text.layout import Column, remark, room_left, section, table
from profkit.render.text.palette import FAINT, TONES
from profkit.render.text.tables import names_and_places
from profkit.render.words import Tone, count

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
    comparison: MeasuredComparison, options: ReportOptions, page: Page
) -> Iterator[RenderableType]:
    """The functions that differ, the largest difference first."""
    shown = shown_deltas(comparison, options)
    for order, counts, limit in shown:
        whose = "" if len(comparison.orders) == 1 else f" of {short(order.name, 60)}"
        names = ", names as they hold in both environments" if counts.standardized else ""
        yield section(f"Difference by function{whose}", f"own instructions of one execution{names}")
        yield _table(counts.functions[:limit], page)
        if len(counts.functions) > limit:
            yield remark(f"… and {count(len(counts.functions) - limit, 'more function')}")
        yield remark(f"Memory allocators, which are not counted: {signed(counts.allocators.delta)}")
        yield from calls_block(counts.calls, whose, limit, page)
    if not shown and any(order.counts and order.counts.functions for order in comparison.orders):
        yield Text()
        yield remark("Difference by function: compare one order, or give a limit.")


def _table(rows: Sequence[FunctionDelta], page: Page) -> RenderableType:
    both = counts_alike([row.a for row in rows] + [row.b for row in rows])
    deltas = signed_alike([row.delta for row in rows])
    figures = [
        Column("Δ", [Text(text, style=TONES[_tone(row)]) for text, row in zip(deltas, rows, strict=True)]),
        Column("A", [Text(text, style=FAINT) for text in both[: len(rows)]]),
        Column("B", [Text(text, style=FAINT) for text in both[len(rows) :]]),
    ]
    told = [function_text(row.name) for row in rows]
    names, places = [name for name, _ in told], [place for _, place in told]
    return table([*figures, *names_and_places(names, [""] * len(rows), places, room_left(figures, page))])


def _tone(row: FunctionDelta) -> Tone:
    return Tone.BAD if row.delta > 0 else Tone.STRONG
