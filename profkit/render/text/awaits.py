"""Table of a text report: where calls were suspended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.region import RegionKind
from profkit.model.run import RunInfo
from profkit.render.escape import short
from profkit.render.formatting import count, percent, place
from profkit.render.options import Terminal
from profkit.render.text.layout import FAINT, Column, heat, remark, room_left, section, table
from profkit.render.text.tables import names_and_places
from profkit.render.views.awaits import await_titles, mean_tasks
from profkit.render.views.sampled import Report
from profkit.transforms.unsampled_time import AwaitShare, await_shares
from profkit.units import format_duration

_LIMIT = 15
_DIGITS = 1000
"""Shares are exact, so they have a decimal."""


def await_table(report: Report, terminal: Terminal) -> Iterator[RenderableType]:
    """Yield the lines at which calls or tasks were suspended, the longest first; nothing if none is known."""
    info = report.run.info
    found = await_shares(info)
    if not found:
        return
    lines = found[: report.options.limit or _LIMIT]
    places = [line.place for line in lines]
    columns = [
        *_figures(lines, info),
        Column("awaiting", [Text(short(one.awaited)) for one in places], "left"),
    ]
    where = [short(place(one.file, one.line, info.process.cwd)) for one in places]
    columns += names_and_places(
        [one.function for one in places], [FAINT] * len(places), where, room_left(columns, terminal)
    )
    yield section(*await_titles(info))
    yield table(columns)
    if len(found) > len(lines):
        yield remark(f"… and {count(len(found) - len(lines), 'more line')}")


def _figures(lines: Sequence[AwaitShare], info: RunInfo) -> list[Column]:
    if info.region.kind is RegionKind.PROGRAM:
        return [Column("tasks", [Text(mean_tasks(line)) for line in lines])]
    return [
        Column("share", [Text(percent(line.share, _DIGITS), style=heat(line.share)) for line in lines]),
        Column("time", [Text(format_duration(line.suspended_s)) for line in lines]),
        Column("times", [Text(count(line.place.times)) for line in lines]),
    ]
