"""Text of a trace of torch.profiler: operators, ranges, kernels, and a timeline of threads and streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.trace import Operator, Trace
from profkit.render.escape import short, visible
from profkit.render.formatting import alike, count, percent, sparkline
from profkit.render.options import ReportOptions, Sort, Terminal
from profkit.render.text.layout import FAINT, GAP, Column, heat, remark, room_left, section, table
from profkit.render.views.operators import (
    busy_share,
    device_sentence,
    share_of_span,
    sorted_operators,
    trace_sentence,
)
from profkit.units import format_duration

_ORDERS = {Sort.SELF: "by self CPU time", Sort.TOTAL: "by total CPU time", Sort.NAME: "by name"}
_LIMIT = 15
_WIDEST_SHAPES = 40
_CELLS, _FEWEST_CELLS = 60, 10
_ENOUGH = 1000


def trace_blocks(trace: Trace | None, options: ReportOptions, terminal: Terminal) -> Iterator[RenderableType]:
    """Yield the tables of a trace; nothing without one."""
    if trace is None:
        return
    limit = options.limit or _LIMIT
    rows = sorted_operators(trace, options)
    yield section("Operators", _ORDERS[options.sort])
    yield remark(trace_sentence(trace))
    if sentence := device_sentence(trace):
        yield Text(sentence)
    yield table(_operator_columns(rows[:limit], trace, terminal))
    if len(rows) > limit:
        yield remark(f"… and {count(len(rows) - limit, 'more operator')}")
    yield from _ranges(trace, limit)
    yield from _kernels(trace, limit, terminal)
    yield from _timeline(trace, terminal)


def _operator_columns(rows: Sequence[Operator], trace: Trace, terminal: Terminal) -> list[Column]:
    shares = [share_of_span(row.self_cpu_ns, trace) for row in rows]
    cpu = alike([t / 1e9 for row in rows for t in (row.self_cpu_ns, row.total_cpu_ns)])
    columns = [
        Column("self", [Text(percent(share, _ENOUGH), style=heat(share)) for share in shares]),
        Column("self CPU", [Text(time) for time in cpu[::2]]),
        Column("total CPU", [Text(time) for time in cpu[1::2]]),
    ]
    if trace.devices:
        device = alike([t / 1e9 for row in rows for t in (row.self_device_ns, row.total_device_ns)])
        columns.append(Column("self GPU", [Text(time) for time in device[::2]]))
        columns.append(Column("total GPU", [Text(time) for time in device[1::2]]))
    columns.append(Column("calls", [Text(count(row.calls)) for row in rows]))
    columns.append(Column("operator", [Text(short(row.name)) for row in rows], "left"))
    room = room_left(columns, terminal)
    width = _WIDEST_SHAPES if room is None else min(room, _WIDEST_SHAPES)
    if width >= len("shapes"):
        shapes = [Text(short(row.shapes, width), style=FAINT) for row in rows]
        columns.append(Column("shapes", shapes, "left"))
    return columns


def _ranges(trace: Trace, limit: int) -> Iterator[RenderableType]:
    rows = sorted(trace.ranges, key=lambda row: -row.total_cpu_ns)[:limit]
    if not rows:
        return
    yield section("Ranges", "regions of profkit, and record_function of the program")
    columns = [
        Column("time", [Text(time) for time in alike([row.total_cpu_ns / 1e9 for row in rows])]),
        Column("calls", [Text(count(row.calls)) for row in rows]),
    ]
    if trace.devices:
        columns.insert(
            1, Column("GPU", [Text(t) for t in alike([row.total_device_ns / 1e9 for row in rows])])
        )
    yield table([*columns, Column("range", [Text(short(row.name)) for row in rows], "left")])


def _kernels(trace: Trace, limit: int, terminal: Terminal) -> Iterator[RenderableType]:
    rows = trace.kernels[:limit]
    if not rows:
        return
    yield section("Kernels and copies", "by time on the GPU")
    columns = [
        Column("time", [Text(time) for time in alike([row.total_ns / 1e9 for row in rows])]),
        Column("calls", [Text(count(row.calls)) for row in rows]),
        Column("kind", [Text(visible(row.kind)) for row in rows], "left"),
    ]
    room = room_left(columns, terminal)
    names = [Text(short(row.name, 100 if room is None else max(20, room))) for row in rows]
    yield table([*columns, Column("name", names, "left")])


def _timeline(trace: Trace, terminal: Terminal) -> Iterator[RenderableType]:
    if not trace.lanes:
        return
    busy = Column("busy", [Text(busy_share(lane.busy_ns, trace)) for lane in trace.lanes])
    names = Column("thread or stream", [Text(short(lane.name, 30)) for lane in trace.lanes], "left")
    room = room_left([busy, names], terminal)
    cells = _CELLS if room is None else max(_FEWEST_CELLS, min(_CELLS, room - GAP))
    yield section("Timeline", f"of the last traced call, {format_duration(trace.last_span_ns / 1e9)}")
    drawn = Column("", [Text(sparkline(lane.busy, cells)) for lane in trace.lanes], "left")
    yield table([busy, drawn, names])
