"""The call tree of a text report: figures on the left, guides and names on the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from profkit.render.escape import MAX_NAME, short
from profkit.render.page import Page
from profkit.render.places import package_of, place
from profkit.render.report import Report
from profkit.render.text.costs import share_text
from profkit.render.text.layout import Column, left_cut, middle_cut, room_left, section, table
from profkit.render.text.palette import FAINT, heat
from profkit.render.tree_rows import TreeKind, TreeRow, shorten_chains, tree_rows
from profkit.render.words import alike, count

_DEEPEST = 24
"""Levels of guides that are drawn where the page sets no limit."""
_LEAST_PLACE = 12


def tree_block(report: Report, page: Page) -> Iterator[RenderableType]:
    """The tree of calls down to the smallest share that the options ask for."""
    options = report.options
    rows = tree_rows(report.tree, report.scale, options.min_share or 0.0, report.is_library)
    rows = rows if options.show_all else shorten_chains(rows)
    columns = _figures(rows, report)
    room = room_left(columns, page)
    calls = [_call(row, guide, report, room) for row, guide in zip(rows, guides(rows, room), strict=True)]
    remarks = [] if options.show_all else ["library calls folded"]
    remarks += ["an approximation: the file has no stacks"] if report.stated else []
    yield section("Call tree", "; ".join(remarks))
    yield table([*columns, Column("call", calls, "left")])


def _figures(rows: Sequence[TreeRow], report: Report) -> list[Column]:
    scale = report.scale
    times = alike([row.total_s for row in rows])
    selves = [share_text(row.self_share, scale) if row.self_samples else Text() for row in rows]
    columns = [
        Column("total", [share_text(row.total_share, scale) for row in rows]),
        Column("time", [Text(time, style=FAINT) for time in times]),
        Column("self", selves),
    ]
    return [column for column in columns if column.head != "time" or scale.weight_s is not None]


class Placed(Protocol):
    """A row of any tree."""

    @property
    def depth(self) -> int:
        """Levels above it."""

    @property
    def last(self) -> bool:
        """The last of its siblings."""


def guides(rows: Sequence[Placed], room: int | None) -> list[str]:
    """The lines before each row that show whose child it is; of deep ones the right end."""
    most = _DEEPEST * 2 if room is None else max(4, room // 2)
    drawn: list[str] = []
    open_levels: list[bool] = []
    for row in rows:
        del open_levels[row.depth :]
        above = "".join("│ " if more else "  " for more in open_levels[1:])
        own = ("└ " if row.last else "├ ") if row.depth else ""
        drawn.append(left_cut(above + own, most))
        open_levels.append(not row.last)
    return drawn


def _call(row: TreeRow, guide: str, report: Report, room: int | None) -> Text:
    text = Text(guide, style=FAINT)
    left = None if room is None else max(8, room - len(guide))
    name = _name(row, left)
    text.append(name, style=f"not dim {heat(row.total_share)}" if row.kind is TreeKind.CALL else "italic")
    where = _where(row, report)
    left = None if left is None else left - cell_len(name) - 2
    if where and (left is None or left >= min(_LEAST_PLACE, cell_len(where))):
        text.append(f"  {left_cut(where, left)}")
    return text


def _name(row: TreeRow, room: int | None) -> str:
    name = {
        TreeKind.SMALL: f"… {count(row.hidden, 'smaller call')}",
        TreeKind.CHAIN: f"⋮ {count(row.hidden, 'call')}, each from the one above",
    }.get(row.kind) or row.name
    return short(name) if room is None else middle_cut(name, min(room, MAX_NAME))


def _where(row: TreeRow, report: Report) -> str:
    if row.kind is TreeKind.LIBRARY and not report.options.show_all:
        return f"[{short(package_of(row.file))}]"
    return short(place(row.file, row.line, report.run.info.process.cwd))
