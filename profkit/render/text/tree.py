"""Call tree of a text report: a compact flame view and an indented tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from profkit.model.profile import Node
from profkit.render.cells import left_cut, middle_cut
from profkit.render.escape import MAX_NAME, short, visible
from profkit.render.formatting import alike, count, place
from profkit.render.options import Activity, Terminal
from profkit.render.text.layout import FAINT, Column, filled, heat, room_left, section, table
from profkit.render.text.tables import share_text
from profkit.render.views.sampled import Report
from profkit.render.views.tree import TreeKind, TreeRow, guides, shorten_chains, tree_rows
from profkit.transforms.origin import package_of

_WIDEST = 100
_NARROWEST = 60
_ROWS = 8
_MIN_NAMED = 4
"""Minimum cells of a call that shows its name; narrower calls show only an edge."""
_EDGE = "▏"
_FILLING = "·"
"""Filling that shows a call's width without colours."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Position of a call in its row, in cells."""

    start: int
    end: int
    node: Node


def flame_block(report: Report, terminal: Terminal) -> Iterator[RenderableType]:
    """Yield the flame view if the terminal is wide enough and there are at least two rows."""
    width = min(terminal.width or _WIDEST, _WIDEST)
    rows = flame_rows(report.tree, width)
    if width < _NARROWEST or len(rows) < 2:
        return
    yield section("Flame", "each call as wide as its share, below its caller")
    for row in rows:
        yield _line(row, report)


def flame_rows(root: Node, width: int) -> list[list[Cell]]:
    """Return at most eight rows of calls.

    Of a beginning that all samples share, keep only the last call. If there are more than eight rows, keep
    only the last of successive rows with the same edges.
    """
    if not root.total_weight:
        return []
    top = _after_shared_beginning(root)
    scale = width / top.total_weight
    row = [Cell(0, width, top)] if top.frame.name else _below(Cell(0, width, top), scale)
    rows: list[list[Cell]] = []
    while any(cell.end - cell.start >= _MIN_NAMED for cell in row):
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
    """Return the callees of a call, from its left edge; omit those narrower than a cell."""
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


_MIN_PLACE = 12


def tree_block(report: Report, terminal: Terminal) -> Iterator[RenderableType]:
    """Yield the tree of calls down to the minimum share in the options."""
    options = report.options
    least = options.min_share or 0.0
    rows = tree_rows(report.tree, report.scale, least, report.is_library, options.depth)
    rows = rows if options.show_all else shorten_chains(rows)
    columns = _columns(rows, report)
    room = room_left(columns, terminal)
    calls = [_call(row, guide, report, room) for row, guide in zip(rows, guides(rows, room), strict=True)]
    remarks = [] if options.show_all else ["library calls folded"]
    if report.tree_activity is not Activity.ALL and report.activity.waiting:
        remarks.append(f"only {report.tree_activity.value} samples")
    remarks += ["an approximation: the file has no stacks"] if report.stated else []
    yield section("Call tree", "; ".join(remarks))
    yield table([*columns, Column("call", calls, "left")])


def _columns(rows: Sequence[TreeRow], report: Report) -> list[Column]:
    scale = report.scale
    times = alike([row.total_s for row in rows])
    selves = [share_text(row.self_share, scale) if row.self_samples else Text() for row in rows]
    columns = [
        Column("total", [share_text(row.total_share, scale) for row in rows]),
        Column("time", [Text(time, style=FAINT) for time in times]),
        Column("self", selves),
    ]
    return [column for column in columns if column.head != "time" or scale.weight_s is not None]


def _call(row: TreeRow, guide: str, report: Report, room: int | None) -> Text:
    text = Text(guide, style=FAINT)
    left = None if room is None else max(8, room - len(guide))
    name = _name(row, left)
    text.append(name, style=f"not dim {heat(row.total_share)}" if row.kind is TreeKind.CALL else "italic")
    where = _where(row, report)
    left = None if left is None else left - cell_len(name) - 2
    if where and (left is None or left >= min(_MIN_PLACE, cell_len(where))):
        text.append(f"  {left_cut(where, left)}")
    return text


def _name(row: TreeRow, room: int | None) -> str:
    name = {
        TreeKind.SMALL: f"… {count(row.hidden, 'smaller call')}",
        TreeKind.CHAIN: f"⋮ {count(row.hidden, 'nested call')}",
    }.get(row.kind) or row.name
    return short(name) if room is None else middle_cut(name, min(room, MAX_NAME))


def _where(row: TreeRow, report: Report) -> str:
    if row.kind is TreeKind.LIBRARY and not report.options.show_all:
        return f"[{short(package_of(row.file))}]"
    return short(place(row.file, row.line, report.run.info.process.cwd))
