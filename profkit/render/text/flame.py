"""The call tree as a compact flame view: a row a level, each call as wide as its share, root on top."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from profkit.model.profile import Node
from profkit.render.escape import visible
from profkit.render.page import Page
from profkit.render.report import Report
from profkit.render.text.layout import section
from profkit.render.text.palette import filled

_WIDEST = 100
_NARROWEST = 60
_ROWS = 8
_NAMED = 4
"""Cells from which a call has its name written in; narrower ones only show that they are there."""
_EDGE = "▏"
_FILLING = "·"
"""Shows without colours how far a call goes."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A call's place in its row, in cells."""

    start: int
    end: int
    node: Node


def flame_block(report: Report, page: Page) -> Iterator[RenderableType]:
    """The flame view, where the page is wide enough and there is more than one call to show."""
    width = min(page.width or _WIDEST, _WIDEST)
    rows = flame_rows(report.tree, width)
    if width < _NARROWEST or len(rows) < 2:
        return
    yield section("Flame", "each call as wide as its share, below its caller")
    for row in rows:
        yield _line(row, report)


def flame_rows(root: Node, width: int) -> list[list[Cell]]:
    """At most eight rows of calls.

    Beginnings that all samples share are left out but for their end, and where there are more than eight
    rows, all but the last of those that look the same.
    """
    if not root.total_weight:
        return []
    top = _after_shared_beginning(root)
    scale = width / top.total_weight
    row = [Cell(0, width, top)] if top.frame.name else _below(Cell(0, width, top), scale)
    rows: list[list[Cell]] = []
    while any(cell.end - cell.start >= _NAMED for cell in row):
        rows.append(row)
        row = [child for cell in row for child in _below(cell, scale)]
    if len(rows) > _ROWS:
        rows = [row for row, below in zip(rows, [*rows[1:], []], strict=True) if _edges(row) != _edges(below)]
    return rows[:_ROWS]


def _edges(row: Sequence[Cell]) -> list[tuple[int, int]]:
    return [(cell.start, cell.end) for cell in row]


def _after_shared_beginning(root: Node) -> Node:
    top = root
    while len(top.children) == 1 and not top.self_weight:
        top = top.children[0]
    return top


def _below(cell: Cell, scale: float) -> list[Cell]:
    """The calls that a call makes, from its left edge on; those without a cell of their own are left out."""
    cells, weight = [], 0
    for child in cell.node.children:
        start = cell.start + round(weight * scale)
        weight += child.total_weight
        end = min(cell.end, cell.start + round(weight * scale))
        if end > start:
            cells.append(Cell(start, end, child))
    return cells


def _line(row: Sequence[Cell], report: Report) -> Text:
    line = Text(no_wrap=True)
    for cell in row:
        line.append(" " * (cell.start - line.cell_len))
        share = report.scale.share(cell.node.total_weight)
        colors = filled(share, library=report.is_library(cell.node.frame.file))
        label = _label(cell, share)
        line.append(label.plain, style=colors.text)
        line.append(_FILLING * (cell.end - cell.start - label.cell_len), style=colors.area)
    return line


def _label(cell: Cell, share: float) -> Text:
    """The name and the share, as much of them as the cell has room for."""
    room = cell.end - cell.start - 1
    if room < _NAMED - 1:
        return Text(_EDGE)
    name = Text(visible(cell.node.frame.name))
    if name.cell_len > room and "[" not in name.plain:
        # The last part of a qualified name says most; libraries and processes have no qualified names.
        name = Text(name.plain.rpartition(".")[2])
    percentage = f" {share * 100:.0f} %"
    if name.cell_len + len(percentage) <= room:
        name.append(percentage)
    name.truncate(room, overflow="ellipsis")
    return Text(_EDGE) + name
