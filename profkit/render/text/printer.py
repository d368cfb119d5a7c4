"""Printer of documents as text, for terminals and pipes, with layout by rich."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from profkit.render.cells import middle_cut
from profkit.render.document import (
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Facts,
    Flame,
    Lines,
    Nested,
    Remark,
    Section,
    Sentences,
    Table,
    Title,
)
from profkit.render.escape import visible
from profkit.render.formatting import Part, count
from profkit.render.options import PIPE, Terminal
from profkit.render.text.columns import FAINT, GAP, GLUE, STYLES, TITLE, drawn_columns
from profkit.render.text.flame import flame_lines

_END = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")
"""Spaces and style codes at the end of a line."""
_UNLIMITED = 10_000
"""Width for unlimited terminals, in cells: wider than any line, since names and sources are cut earlier."""
_WIDEST = 100
"""Widest rule and flame view, in cells."""
_GLUED = 40
"""Longest part that does not break at its spaces, in characters."""
_ENDS = 40
"""Lines that are listed at each end of a longer text; JSON has all lines."""
_MAX_INDENT = 20
_SECOND = 60
"""Cells before what is added to a line, if the line is not longer."""


def print_text(document: Document, terminal: Terminal = PIPE) -> str:
    """Return a document fitted to a terminal's width, without trailing spaces or a final line break."""
    console = Console(
        file=io.StringIO(),
        width=terminal.width or _UNLIMITED,
        color_system="256" if terminal.color else None,
        force_terminal=terminal.color,
        force_jupyter=False,  # else it also displays the text as HTML in a notebook
        no_color=not terminal.color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        # `Terminal` has already taken NO_COLOR, COLUMNS and the like into account.
        _environ={},
    )
    with console.capture() as captured:
        for block in document:
            for one in _renderables(block, terminal):
                console.print(one)
    lines = captured.get().replace(GLUE, " ").strip("\n").split("\n")
    return "\n".join(_END.sub(lambda end: end[0].replace(" ", ""), line) for line in lines)


def _renderables(block: Block, terminal: Terminal) -> Iterator[RenderableType]:
    match block:
        case Title():
            yield from _title(block, min(terminal.width or _WIDEST, _WIDEST))
        case Section(title, remark):
            head = Text(f"\n{visible(title)}", style=TITLE)
            yield head.append(f"  {visible(remark)}" if remark else "", style=f"not bold {FAINT}")
        case Sentences(texts, tone):
            for number, text in enumerate(texts):
                yield Text(visible(text), style="" if number else STYLES[tone])
        case Facts(rows, gap):
            if rows:
                yield from [Text()] * gap
                yield _fact_grid(rows)
        case Table(columns):
            yield _grid(columns, terminal)
        case Remark(text, tone, gap):
            yield from [Text()] * gap
            yield Text(visible(text), style=STYLES[tone])
        case Lines():
            yield from _lines(block)
        case Flame():
            yield from flame_lines(block, min(terminal.width or _WIDEST, _WIDEST))
        case Nested(blocks, folded) if not folded:
            yield Text()
            for inner in blocks:
                yield from _renderables(inner, terminal)


def _title(title: Title, width: int) -> Iterator[Text]:
    """Yield the label on the left, its identity on the right, and a rule below them."""
    identity = visible(title.identity)
    line = Text(middle_cut(title.label, max(20, width - len(identity) - 2)), style=TITLE)
    line.append(" " * max(2, width - line.cell_len - len(identity)))
    yield line.append(identity, style=FAINT)
    yield Text("─" * width, style=FAINT)


def _fact_grid(rows: Sequence[Fact]) -> Grid:
    """Build a grid of facts with right-justified names; a repeated name is shown once."""
    grid = Grid.grid(padding=(0, GAP, 0, 0))
    grid.add_column(justify="right", style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    previous = ""
    for fact in rows:
        grid.add_row("" if fact.name == previous else fact.name, _parts(fact.parts))
        previous = fact.name
    return grid


def _parts(parts: Iterable[Part]) -> Text:
    line = Text()
    for number, part in enumerate(parts):
        line.append(f"{GLUE}· " if number else "", style=FAINT)
        text = part.text if len(part.text) > _GLUED else part.text.replace(" ", GLUE)
        line.append(text, style=STYLES[part.tone])
    return line


def _grid(columns: Sequence[Column], terminal: Terminal) -> Grid:
    """Build a table without lines; columns are as wide as their cells and have faint headings."""
    drawn = drawn_columns(columns, terminal)
    grid = Grid(
        box=None,
        padding=(0, GAP, 0, 0),
        show_edge=False,
        show_header=any(column.head for column in drawn),
        header_style=FAINT,
        pad_edge=False,
    )
    for column in drawn:
        overflow: Literal["fold", "ellipsis"] = "fold" if column.folds else "ellipsis"
        grid.add_column(
            Text(column.head), justify=column.justify, no_wrap=not column.folds, overflow=overflow
        )
    for row in zip(*(column.cells for column in drawn), strict=True):
        grid.add_row(*row)
    return grid


def _lines(block: Lines) -> Iterator[RenderableType]:
    yield from [Text()] * block.gap
    if block.head:
        yield Text(visible(block.head), style=STYLES[block.tone], overflow="fold")
    shown = list(block.lines)
    if len(shown) > 2 * _ENDS and not block.whole:
        hidden = Cell(f"    … {count(len(shown) - 2 * _ENDS, 'more line')}")
        shown = [*shown[:_ENDS], hidden, *shown[-_ENDS:]]
    for cell in shown:
        # A line keeps its indentation when it is folded.
        text = visible(cell.text.lstrip(" "))
        margin = min(len(cell.text) - len(cell.text.lstrip(" ")), _MAX_INDENT)
        line = Text(text, overflow="fold")
        if cell.more:
            line.append(f"{' ' * max(GAP, _SECOND - len(cell.text))}{visible(cell.more)}", style=FAINT)
        yield Padding(line, (0, 0, 0, margin))
