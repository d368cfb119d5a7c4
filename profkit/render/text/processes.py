"""The processes of a merged run as text, and the functions whose shares differ between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.run import Merged
from profkit.render.escape import short
from profkit.render.page import Page
from profkit.render.places import place
from profkit.render.process_rows import DifferingRow, ProcessRow, differing_rows, odd_words, process_rows
from profkit.render.report import Report
from profkit.render.text.layout import Column, remark, room_left, section, table
from profkit.render.text.palette import FAINT, heat
from profkit.render.text.tables import names_and_places
from profkit.render.words import count, moment, percent

_ODD = 3
"""Processes that are named for a function."""
_WIDE = 80
"""Narrower pages have neither hosts nor the moments at which processes started."""


def process_blocks(report: Report, page: Page) -> Iterator[RenderableType]:
    """Both tables; nothing for a single run."""
    if report.run.merged is None:
        return
    limit = report.options.limit
    rows = process_rows(report.run.merged)
    yield section("Processes", "by their share of all samples")
    yield table(_processes(rows[:limit], report, page))
    if limit is not None and len(rows) > limit:
        yield remark(f"… and {len(rows) - limit:,} more")
    yield from _differing(report.run.merged, report, page)


def _processes(rows: Sequence[ProcessRow], report: Report, page: Page) -> list[Column]:
    total = report.scale.total
    cpu = [f"{row.cpu_share * 100:.0f} %" if row.cpu_share is not None else "" for row in rows]
    columns = [
        Column("share", [Text(percent(row.share, total), style=heat(row.share)) for row in rows]),
        Column("samples", [Text(count(row.samples)) for row in rows]),
        Column("calls", [Text(count(row.calls)) for row in rows]),
        Column("CPU", [Text(text) for text in cpu]),
        Column("pid", [Text(str(row.pid)) for row in rows]),
    ]
    if page.width is None or page.width >= _WIDE:
        started = [Text(moment(row.started_ns)[:19], style=FAINT) for row in rows]
        columns.append(Column("started", started, "left"))
        columns.append(Column("host", [Text(short(row.host)) for row in rows], "left"))
    return columns


def _differing(merged: Merged, report: Report, page: Page) -> Iterator[RenderableType]:
    rows = differing_rows(merged)
    limit = report.options.limit
    shown = rows[:limit]
    if not shown:
        if len(merged.processes) > 1:
            yield remark("No function's share differs between the processes by more than noise and 5 points.")
        return
    yield section("Shares that differ between processes", "of a function and the library calls it makes")
    yield table(_functions(shown, report, page))
    if len(rows) > len(shown):
        yield remark(f"… and {count(len(rows) - len(shown), 'more function')}")


def _functions(rows: Sequence[DifferingRow], report: Report, page: Page) -> list[Column]:
    total, cwd = report.scale.total, report.run.info.process.cwd
    columns = [
        Column("all", [Text(percent(row.share, total), style=heat(row.share)) for row in rows]),
        Column("differs: share in pid", [Text(short(odd_words(row, _ODD))) for row in rows], "left"),
    ]
    styles = [FAINT if report.is_library(row.file) else "" for row in rows]
    places = [short(place(row.file, row.line, cwd)) for row in rows]
    return columns + names_and_places([row.name for row in rows], styles, places, room_left(columns, page))
