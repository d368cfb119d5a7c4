"""Flame view of a call tree in terminal cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from profkit.model.profile import Node
from profkit.render.document import Flame
from profkit.render.escape import visible
from profkit.render.text.columns import FAINT, TITLE, filled

_NARROWEST = 60
_ROWS = 8
_MIN_NAMED = 4
"""Minimum cells of a call that shows its name; narrower calls show only an edge."""
_EDGE = "▏"
_FILLING = "·"
"""Filling that shows a call's width without colours."""


@dataclass(frozen=True, slots=True)
class Area:
    """Position of a call in its row, in cells."""

    start: int
    end: int
    node: Node


def flame_lines(flame: Flame, width: int) -> Iterator[Text]:
    """Yield the heading and the rows if there is enough width, and at least two rows."""
    rows = flame_rows(flame.root, width)
    if width < _NARROWEST or len(rows) < 2:
        return
    head = Text("\nFlame", style=TITLE)
    yield head.append("  each call as wide as its share, below its caller", style=f"not bold {FAINT}")
    for row in rows:
        yield _line(row, flame)


def flame_rows(root: Node, width: int) -> list[list[Area]]:
    """Return at most eight rows of calls.

    Of a beginning that all samples share, keep only the last call. If there are more than eight rows, keep
    only the last of successive rows with the same edges.
    """
    if not root.total_weight:
        return []
    top = _after_shared_beginning(root)
    scale = width / top.total_weight
    row = [Area(0, width, top)] if top.frame.name else _below(Area(0, width, top), scale)
    rows: list[list[Area]] = []
    while any(cell.end - cell.start >= _MIN_NAMED for cell in row):
        rows.append(row)
        row = [child for cell in row for child in _below(cell, scale)]
    if len(rows) > _ROWS:
        rows = [row for row, below in zip(rows, [*rows[1:], []], strict=True) if _edges(row) != _edges(below)]
    return rows[:_ROWS]


def _edges(row: Sequence[Area]) -> list[tuple[int, int]]:
    return [(cell.start, cell.end) for cell in row]


def _after_shared_beginning(root: Node) -> Node:
    top = root
    while len(top.children) == 1 and not top.self_weight:
        top = top.children[0]
    return top


def _below(cell: Area, scale: float) -> list[Area]:
    """Return the callees of a call, from its left edge; omit those narrower than a cell."""
    cells, weight = [], 0
    for child in cell.node.children:
        start = cell.start + round(weight * scale)
        weight += child.total_weight
        end = min(cell.end, cell.start + round(weight * scale))
        if end > start:
            cells.append(Area(start, end, child))
    return cells


def _line(row: Sequence[Area], flame: Flame) -> Text:
    line = Text(no_wrap=True)
    for cell in row:
        line.append(" " * (cell.start - line.cell_len))
        share = cell.node.total_weight / flame.total if flame.total else 0.0
        colors = filled(share, library=flame.is_library(cell.node.frame.file))
        label = _label(cell, share)
        line.append(label.plain, style=colors.text)
        line.append(_FILLING * (cell.end - cell.start - label.cell_len), style=colors.area)
    return line


def _label(cell: Area, share: float) -> Text:
    """Return the call's name and share, cut to the cell's width."""
    room = cell.end - cell.start - 1
    if room < _MIN_NAMED - 1:
        return Text(_EDGE)
    name = Text(visible(cell.node.frame.name))
    if name.cell_len > room and "[" not in name.plain:
        # The last part of a qualified name identifies it best; libraries and processes have none.
        name = Text(name.plain.rpartition(".")[2])
    percentage = f" {share * 100:.0f} %"
    if name.cell_len + len(percentage) <= room:
        name.append(percentage)
    name.truncate(room, overflow="ellipsis")
    return Text(_EDGE) + name
