"""Markdown of a trace of torch.profiler, as part of a run's report."""

from __future__ import annotations

from collections.abc import Iterator

from profkit.model.trace import Operator, Trace
from profkit.render.escape import code, plain, table
from profkit.render.formatting import count
from profkit.render.options import ReportOptions
from profkit.render.views.operators import device_sentence, sorted_operators, trace_sentence
from profkit.units import format_duration

_LIMIT = 15


def trace_parts(trace: Trace | None, options: ReportOptions) -> Iterator[str]:
    """Yield the operators and the ranges of a trace; nothing without one."""
    if trace is None:
        return
    limit = options.limit or _LIMIT
    yield "## Operators"
    yield " ".join(filter(None, (f"{plain(trace_sentence(trace))}.", device_sentence(trace))))
    device = ["self GPU:", "total GPU:"] if trace.devices else []
    yield table(
        ["self CPU:", "total CPU:", *device, "calls:", "operator", "shapes"],
        [_cells(row, trace) for row in sorted_operators(trace, options)[:limit]],
    )
    if trace.ranges:
        rows = sorted(trace.ranges, key=lambda row: -row.total_cpu_ns)[:limit]
        yield table(
            ["time:", "calls:", "range"],
            [[format_duration(row.total_cpu_ns / 1e9), count(row.calls), code(row.name)] for row in rows],
        )


def _cells(row: Operator, trace: Trace) -> list[str]:
    times_ns = [row.self_cpu_ns, row.total_cpu_ns]
    times_ns += [row.self_device_ns, row.total_device_ns] if trace.devices else []
    times = [format_duration(time_ns / 1e9) for time_ns in times_ns]
    return [*times, count(row.calls), code(row.name), code(row.shapes) if row.shapes else ""]
