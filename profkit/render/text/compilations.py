"""Text of the compilations of a process: frames by phases, and the compiler's hottest passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.compilations import Compilations, Pass
from profkit.render.escape import short, visible
from profkit.render.formatting import alike, count, moment, percent, place
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Sort, Terminal
from profkit.render.text.layout import (
    FAINT,
    TITLE,
    Column,
    compose,
    heat,
    remark,
    room_left,
    section,
    table,
    title,
)
from profkit.render.text.tables import names_and_places
from profkit.render.views.compilations import (
    NESTED,
    FrameRow,
    cell_text,
    frame_rows,
    has_nested,
    headline,
    phase_names,
    sorted_passes,
)

_LIMIT = 15
_ORDERS = {Sort.SELF: "by self time", Sort.TOTAL: "by time including callees", Sort.NAME: "by name"}


def compilations_text(
    found: Compilations, options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE
) -> str:
    """Return the frames by phases, and the hottest passes."""
    return compose(_blocks(found, options, terminal), terminal)


def _blocks(found: Compilations, options: ReportOptions, terminal: Terminal) -> Iterator[RenderableType]:
    process = found.process
    yield from title("Compilations", f"process {process.pid}", terminal)
    yield Text(headline(found), style=TITLE)
    versions = f"torch {process.torch}, " if process.torch else ""
    yield remark(f"{versions}Python {process.python}, {moment(_started_ns(found))}")
    limit = options.limit or _LIMIT
    yield from _frames(found, limit, terminal)
    yield from _passes(found, options, limit, terminal)


def _started_ns(found: Compilations) -> int:
    return min(info.started_ns for info in found.infos)


def _frames(found: Compilations, limit: int, terminal: Terminal) -> Iterator[RenderableType]:
    rows = frame_rows(found)
    yield section("Frames", "wall time of each phase")
    yield table(_frame_columns(rows[:limit], found, terminal))
    if len(rows) > limit:
        yield remark(f"… and {count(len(rows) - limit, 'more frame')}")
    if has_nested(found):
        yield remark(NESTED)


def _frame_columns(rows: Sequence[FrameRow], found: Compilations, terminal: Terminal) -> list[Column]:
    times = alike([row.frame.total_s for row in rows])
    shares = [row.frame.total_s / found.total_s if found.total_s else 0.0 for row in rows]
    columns = [
        Column("frame", [Text(short(row.number)) for row in rows], "left"),
        Column("total", [Text(time, style=heat(share)) for time, share in zip(times, shares, strict=True)]),
    ]
    for number, name in enumerate(phase_names(found)):
        columns.append(Column(short(name), [Text(cell_text(row.cells[number])) for row in rows]))
    columns.append(Column("samples", [Text(count(row.frame.samples), style=FAINT) for row in rows]))
    cwd = found.process.cwd
    places = [short(place(row.frame.file, row.frame.line, cwd)) for row in rows]
    names = [row.frame.function for row in rows]
    return columns + names_and_places(names, [""] * len(rows), places, room_left(columns, terminal))


def _passes(
    found: Compilations, options: ReportOptions, limit: int, terminal: Terminal
) -> Iterator[RenderableType]:
    rows = sorted_passes(found, options)
    if not rows:
        return
    order = _ORDERS[options.sort]
    yield section("Hottest passes", f"{order}, with what they call outside of the compiler")
    yield table(_pass_columns(rows[:limit], found, terminal))
    if len(rows) > limit:
        yield remark(f"… and {count(len(rows) - limit, 'more function')}")


def _pass_columns(rows: Sequence[Pass], found: Compilations, terminal: Terminal) -> list[Column]:
    weight = found.weight
    columns = [
        Column(
            "self", [Text(percent(row.own / weight, weight), style=heat(row.own / weight)) for row in rows]
        ),
        Column("time", [Text(time) for time in alike([row.own * found.sample_s or None for row in rows])]),
        Column("total", [Text(percent(row.total / weight, weight)) for row in rows]),
        Column("stage", [Text(visible(row.stage)) for row in rows], "left"),
    ]
    places = [short(place(row.file, row.line, found.process.cwd)) for row in rows]
    return columns + names_and_places(
        [row.name for row in rows], [""] * len(rows), places, room_left(columns, terminal)
    )
