"""Trace of torch.profiler: operators, ranges, kernels and lanes; whether a device is the bottleneck."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from profkit.model.trace import Operator, Trace
from profkit.render.document import (
    Block,
    Cell,
    Column,
    Curve,
    Remark,
    Role,
    Section,
    Table,
    cells,
    more_than,
    shares,
)
from profkit.render.escape import short
from profkit.render.formatting import Tone, alike, count, percent
from profkit.render.options import ReportOptions, Sort
from profkit.units import format_duration

_BUSY = 0.8
"""Part of the time from which on a busy device is the bottleneck."""
_IDLE = 0.5
"""Part of the time below which a device waits for the program most of the time."""
_ENOUGH = 1000
"""Denominator for shares of times, which are exact to a tenth of a percent."""
_ORDERS = {Sort.SELF: "by self CPU time", Sort.TOTAL: "by total CPU time", Sort.NAME: "by name"}
_WIDEST_SHAPES = 40


def trace_blocks(trace: Trace | None, options: ReportOptions) -> Iterator[Block]:
    """Yield the tables of a trace; nothing without one."""
    if trace is None:
        return
    limit = options.rows(15, 15)
    rows = sorted_operators(trace, options)
    yield Section("Operators", _ORDERS[options.sort])
    yield Remark(trace_sentence(trace))
    if sentence := device_sentence(trace):
        yield Remark(sentence, Tone.PLAIN)
    yield Table(_operator_columns(rows[:limit], trace))
    yield from more_than(len(rows[:limit]), len(rows), "operator")
    yield from _ranges(trace, limit)
    yield from _kernels(trace, limit)
    if trace.lanes:
        busy = [
            percent(one.busy_ns / trace.last_span_ns if trace.last_span_ns else 0.0, _ENOUGH)
            for one in trace.lanes
        ]
        yield Section("Timeline", f"of the last traced call, {format_duration(trace.last_span_ns / 1e9)}")
        yield Table(
            [
                Column("busy", cells(busy)),
                Column("", [Curve(lane.busy) for lane in trace.lanes], Role.CURVE, brief=False),
                Column("thread or stream", cells(short(lane.name, 30) for lane in trace.lanes), Role.ASIDE),
            ]
        )


def _operator_columns(rows: Sequence[Operator], trace: Trace) -> list[Column]:
    of_span = [share_of_span(row.self_cpu_ns, trace) for row in rows]
    cpu = alike([t / 1e9 for row in rows for t in (row.self_cpu_ns, row.total_cpu_ns)])
    device = alike([t / 1e9 for row in rows for t in (row.self_device_ns, row.total_device_ns)])
    of_devices = [Column("self GPU", cells(device[::2])), Column("total GPU", cells(device[1::2]))]
    shapes = cells((short(row.shapes, _WIDEST_SHAPES) for row in rows), Tone.FAINT)
    return [
        Column("self", shares((percent(share, _ENOUGH) for share in of_span), of_span)),
        Column("self CPU", cells(cpu[::2])),
        Column("total CPU", cells(cpu[1::2])),
        *(of_devices if trace.devices else []),
        Column("calls", cells(count(row.calls) for row in rows)),
        Column("operator", cells(row.name for row in rows), Role.NAME),
        Column("shapes", shapes, Role.ASIDE),
    ]


def _ranges(trace: Trace, limit: int) -> Iterator[Block]:
    rows = sorted(trace.ranges, key=lambda row: -row.total_cpu_ns)[:limit]
    if not rows:
        return
    device = Column("GPU", cells(alike([row.total_device_ns / 1e9 for row in rows])))
    yield Section("Ranges", "regions of profkit, and record_function of the program")
    yield Table(
        [
            Column("time", cells(alike([row.total_cpu_ns / 1e9 for row in rows]))),
            *([device] if trace.devices else []),
            Column("calls", cells(count(row.calls) for row in rows)),
            Column("range", cells(row.name for row in rows), Role.NAME),
        ]
    )


def _kernels(trace: Trace, limit: int) -> Iterator[Block]:
    rows = trace.kernels[:limit]
    if not rows:
        return
    yield Section("Kernels and copies", "by time on the GPU")
    yield Table(
        [
            Column("time", cells(alike([row.total_ns / 1e9 for row in rows]))),
            Column("calls", cells(count(row.calls) for row in rows)),
            Column("kind", [Cell(row.kind) for row in rows], Role.WORDS),
            Column("name", cells(row.name for row in rows), Role.NAME),
        ]
    )


def trace_sentence(trace: Trace) -> str:
    """Return how much was traced."""
    operators = count(sum(one.calls for one in trace.operators), "operator call")
    calls = count(trace.calls, "call")
    return f"{operators} in {calls}, {format_duration(trace.span_ns / 1e9)}, by torch.profiler"


def device_sentence(trace: Trace) -> str:
    """Return whether a device or the program is the bottleneck; empty without a device."""
    if not trace.devices:
        return ""
    share = trace.device_busy_share
    devices = "the GPU was" if trace.devices == 1 else f"the {trace.devices} GPUs were"
    said = f"In the traced calls {devices} busy {percent(share, _ENOUGH)} of the time"
    if share >= _BUSY:
        return f"{said}: the GPU is the bottleneck, not the Python code that launches its work."
    if share < _IDLE:
        return f"{said}: it waits for the program, and faster Python code helps more than faster kernels."
    return f"{said}."


def sorted_operators(trace: Trace, options: ReportOptions) -> Sequence[Operator]:
    """Return all operators in the order of the options; self and total are of the CPU."""
    keys: dict[Sort, Callable[[Operator], tuple[int, str]]] = {
        Sort.SELF: lambda row: (-row.self_cpu_ns, row.name),
        Sort.TOTAL: lambda row: (-row.total_cpu_ns, row.name),
        Sort.NAME: lambda row: (0, row.name),
    }
    return sorted(trace.operators, key=keys[options.sort])


def share_of_span(time_ns: int, trace: Trace) -> float:
    """Return a time as a part of the traced time."""
    return time_ns / trace.span_ns if trace.span_ns else 0.0
