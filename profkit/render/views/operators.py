"""Content of the report of a trace that all formats share: operators, ranges, devices and lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from profkit.model.trace import Operator, Trace
from profkit.render.formatting import count, percent
from profkit.render.options import ReportOptions, Sort
from profkit.units import format_duration

_BUSY = 0.8
"""Part of the time from which on a busy device is the bottleneck."""
_IDLE = 0.5
"""Part of the time below which a device waits for the program most of the time."""
_ENOUGH = 1000
"""Denominator for shares of times, which are exact to a tenth of a percent."""


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


def busy_share(busy_ns: int, trace: Trace) -> str:
    """Return the part of the last traced call in which a lane was busy."""
    return percent(busy_ns / trace.last_span_ns if trace.last_span_ns else 0.0, _ENOUGH)


def share_of_span(time_ns: int, trace: Trace) -> float:
    """Return a time as a part of the traced time."""
    return time_ns / trace.span_ns if trace.span_ns else 0.0
