"""The hottest functions of instruction counts: their own instructions, and with all that they called."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.render.bars import bar
from profkit.render.escape import short
from profkit.render.measured.rows import FunctionRow, OrderRow
from profkit.render.measured.variants import names
from profkit.render.measured.words import counts_alike
from profkit.render.options import ReportOptions, Sort
from profkit.render.page import Page
from profkit.render.places import short_path
from profkit.render.text.layout import Column, remark, room_left, section, table
from profkit.render.text.palette import FAINT, heat
from profkit.render.text.tables import names_and_places
from profkit.render.words import count, percent

_LIMIT = 15
_LIMIT_OF_FEW, _FEW = 5, 4
"""Rows for each of at most so many orders; the tables of more are shown where a limit is asked for."""
_BAR = 6
_ROOM = {"exclusive": 60, "bar": 76, "inclusive": 96, "calls": 110}
"""The narrowest pages that have these columns."""
_ADDRESS = re.compile(r"^0x0+(?=[0-9a-f])")
_FINE = 1000
"""Shares of counts are exact, and shown with a decimal."""


def functions_block(rows: Sequence[OrderRow], options: ReportOptions, page: Page) -> Iterator[RenderableType]:
    """A table for each order that has counts; of many orders none, unless a limit is given."""
    named = zip(rows, names([row.run for row in rows]), strict=True)
    counted = [(row, name) for row, name in named if row.functions]
    if options.limit is None and len(counted) > _FEW:
        yield Text()
        yield remark("Hottest functions: report one order, or give a limit.")
        return
    limit = _LIMIT if len(rows) == 1 else _LIMIT_OF_FEW
    limit = limit if options.limit is None else options.limit
    for row, name in counted:
        whose = "" if len(rows) == 1 else f" of {short(name, 60)}"
        yield section(f"Hottest functions{whose}", _ORDERED[options.sort])
        yield _table(row.functions[:limit], row.run.info.process.cwd, page)
        hidden = row.functions_found - min(limit, len(row.functions))
        if hidden:
            yield remark(f"… and {count(hidden, 'more function')}")


_ORDERED = {
    Sort.SELF: "by own instructions",
    Sort.TOTAL: "by instructions with all that they call",
    Sort.NAME: "by name",
}


def _table(rows: Sequence[FunctionRow], cwd: str, page: Page) -> RenderableType:
    columns = _figures(rows, page)
    shown, places = [_name(row) for row in rows], [_where(row, cwd) for row in rows]
    styles = [heat(row.exclusive_share, "") for row in rows]
    return table([*columns, *names_and_places(shown, styles, places, room_left(columns, page))])


def _figures(rows: Sequence[FunctionRow], page: Page) -> list[Column]:
    most = max((row.exclusive_share for row in rows), default=0.0) or 1.0
    selves = [row.exclusive_share for row in rows]
    # The same decimals in both columns, so that all their figures compare.
    both = counts_alike([row.exclusive for row in rows] + [row.inclusive for row in rows])
    calls = counts_alike([row.calls or None for row in rows])
    columns = {
        "self": Column("self", [_share(share) for share in selves]),
        "bar": Column("", [Text(bar(share / most, _BAR), style=heat(share)) for share in selves], "left"),
        "exclusive": Column("exclusive", [Text(text) for text in both[: len(rows)]]),
        "total": Column("total", [_share(row.inclusive_share) for row in rows]),
        "inclusive": Column("inclusive", [Text(text) for text in both[len(rows) :]]),
        "calls": Column("calls", [Text(text, style=FAINT) for text in calls]),
    }
    width = page.width
    return [column for name, column in columns.items() if width is None or width >= _ROOM.get(name, 0)]


def _share(share: float) -> Text:
    # What the baseline had more of is a little below 0.
    return Text(percent(0.0 if -0.0005 < share < 0 else share, _FINE), style=heat(share))


def _name(row: FunctionRow) -> str:
    """The name, or the address of a function without one: `0x4fee40`."""
    return _ADDRESS.sub("0x", row.name)


def _where(row: FunctionRow, cwd: str) -> str:
    """The file from where it is known by, or the shared object of a function without one."""
    if not row.file:
        return short(f"[{posixpath.basename(row.object)}]") if row.object else ""
    # Of sources that were built elsewhere, `/build/python3.11/./Python/ceval.c`, the end tells.
    path = short_path(posixpath.normpath(row.file), cwd)
    return short("/".join(path.split("/")[-2:]) if path.startswith("/") else path)
