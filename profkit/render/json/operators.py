"""JSON of a trace of torch.profiler, as part of a run's report and of its page."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from profkit.model.trace import Lane, Trace
from profkit.render.formatting import sparkline
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.operators import device_sentence, sorted_operators, trace_sentence

_CELLS = 60


def trace_object(
    trace: Trace, options: ReportOptions = DEFAULTS, write: Callable[[str], str] = str
) -> dict[str, object]:
    """Return all of a trace; times are in nanoseconds. `write` escapes texts from the program."""
    rows = [
        dataclasses.replace(row, name=write(row.name), shapes=write(row.shapes))
        for row in sorted_operators(trace, options)[: options.limit]
    ]
    ranges = [dataclasses.replace(row, name=write(row.name)) for row in trace.ranges]
    kernels = [dataclasses.replace(row, name=write(row.name), kind=write(row.kind)) for row in trace.kernels]
    return {
        **dataclasses.asdict(trace),
        "operators": [dataclasses.asdict(row) for row in rows],
        "ranges": [dataclasses.asdict(row) for row in ranges],
        "kernels": [dataclasses.asdict(row) for row in kernels],
        "lanes": [_lane(lane, write) for lane in trace.lanes],
        "device_busy_share": trace.device_busy_share if trace.devices else None,
        "summary": [sentence for sentence in (trace_sentence(trace), device_sentence(trace)) if sentence],
    }


def _lane(lane: Lane, write: Callable[[str], str]) -> dict[str, object]:
    fields = dataclasses.asdict(dataclasses.replace(lane, name=write(lane.name)))
    return {**fields, "drawn": sparkline(lane.busy, _CELLS)}
