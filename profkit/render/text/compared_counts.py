"""Text of compared instruction counts: a table, differences by function and by call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.comparison import (
    CallDelta,
    FunctionDelta,
    MeasuredComparison,
    OrderCompared,
    PythonFunctionDelta,
)
from profkit.render.escape import short
from profkit.render.formatting import Tone, count, counts_alike, signed, signed_alike
from profkit.render.options import ReportOptions, Terminal
from profkit.render.text.layout import FAINT, TONES, Column, remark, room_left, section, table
from profkit.render.text.tables import names_and_places
from profkit.render.views.measured_comparison import (
    PYTHON_WHAT,
    TONES_OF,
    WHAT,
    call_figures,
    delta_cell,
    function_text,
    grid_of,
    python_place,
    shown_deltas,
    through_text,
)
from profkit.render.views.tree import guides
from profkit.transforms.origin import standard_file

_ROOM_FOR_PLACES = 90


def calls_block(
    calls: Sequence[CallDelta], owner: str, limit: int, terminal: Terminal
) -> Iterator[RenderableType]:
    """Yield a table of the calls in which the sides differ, callers first; nothing if there are none."""
    rows = calls[:limit]
    if not rows:
        return
    yield section(f"Difference by call{owner}", WHAT)
    deltas, before, after = call_figures(rows)
    figures = [
        Column("Δ", [Text(text, style=TONES[_tone(row)]) for text, row in zip(deltas, rows, strict=True)]),
        Column("A", [Text(text, style=FAINT) for text in before]),
        Column("B", [Text(text, style=FAINT) for text in after]),
    ]
    room = room_left(figures, terminal)
    # On a narrow terminal, names need all the space beside the figures.
    narrow = room is not None and room < _ROOM_FOR_PLACES
    drawn = [
        f"{guide}{row.name}{'' if narrow else through_text(row)}"
        for guide, row in zip(guides(rows, room), rows, strict=True)
    ]
    places = ["" if narrow else short(standard_file(row.file)) for row in rows]
    yield table([*figures, *names_and_places(drawn, [""] * len(rows), places, room)])
    if len(calls) > len(rows):
        yield remark(f"… and {count(len(calls) - len(rows), 'more call')}")


def counts_table(comparison: MeasuredComparison) -> Iterator[RenderableType]:
    """Yield the table of counts of several orders; nothing if fewer than two were counted."""
    grid = grid_of(comparison)
    if len(grid.cells) < 2:
        return
    yield section("Instructions", "per execution, without memory allocators: Δ → B (change)")
    names = Column("name", [Text(row) for row in grid.rows], "left")
    figures = [
        Column(column, [_cell(grid.cells.get((row, column))) for row in grid.rows]) for column in grid.columns
    ]
    yield table([names, *figures])


def _cell(order: OrderCompared | None) -> Text:
    if order is None or order.counts is None:
        return Text()
    return Text(delta_cell(order.counts), style=TONES[TONES_OF[order.counts.verdict]])


def deltas_block(
    comparison: MeasuredComparison, options: ReportOptions, terminal: Terminal
) -> Iterator[RenderableType]:
    """Yield tables of the functions and calls that differ, the largest difference first."""
    deltas = shown_deltas(comparison, options)
    for order, counts, limit in deltas:
        owner = "" if len(comparison.orders) == 1 else f" of {short(order.name, 60)}"
        names = ", with standardized names" if counts.standardized else ""
        if counts.python:
            yield section(f"Difference by Python function{owner}", PYTHON_WHAT)
            yield _python_table(counts.python[:limit], terminal)
            if len(counts.python) > limit:
                yield remark(f"… and {count(len(counts.python) - limit, 'more function')}")
        kind = "native function" if counts.python else "function"
        yield section(f"Difference by {kind}{owner}", f"self instructions per execution{names}")
        yield _function_table(counts.functions[:limit], terminal)
        if len(counts.functions) > limit:
            yield remark(f"… and {count(len(counts.functions) - limit, 'more function')}")
        yield remark(f"Memory allocators, not included: {signed(counts.allocators.delta)}")
        yield from calls_block(counts.calls, owner, limit, terminal)
    if not deltas and any(order.counts and order.counts.functions for order in comparison.orders):
        yield Text()
        yield remark(
            "Differences by function are hidden for several statements: compare one, or set a limit."
        )


def _python_table(rows: Sequence[PythonFunctionDelta], terminal: Terminal) -> RenderableType:
    functions = [(short(row.name), python_place(row)) for row in rows]
    return _delta_table(rows, functions, terminal)


def _function_table(rows: Sequence[FunctionDelta], terminal: Terminal) -> RenderableType:
    return _delta_table(rows, [function_text(row.name) for row in rows], terminal)


def _delta_table(
    rows: Sequence[FunctionDelta | PythonFunctionDelta],
    functions: Sequence[tuple[str, str]],
    terminal: Terminal,
) -> RenderableType:
    both = counts_alike([row.a for row in rows] + [row.b for row in rows])
    deltas = signed_alike([row.delta for row in rows])
    figures = [
        Column("Δ", [Text(text, style=TONES[_tone(row)]) for text, row in zip(deltas, rows, strict=True)]),
        Column("A", [Text(text, style=FAINT) for text in both[: len(rows)]]),
        Column("B", [Text(text, style=FAINT) for text in both[len(rows) :]]),
    ]
    names, places = [name for name, _ in functions], [place for _, place in functions]
    return table([*figures, *names_and_places(names, [""] * len(rows), places, room_left(figures, terminal))])


def _tone(row: CallDelta | FunctionDelta | PythonFunctionDelta) -> Tone:
    return Tone.BAD if row.delta > 0 else Tone.STRONG
