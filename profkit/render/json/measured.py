"""JSON report of measured runs: one object; and the digest that identifies what was measured.

All numbers but `raw` are per execution of the statement. Figures are null if an order's mode excludes them
or if they failed. The options can omit `functions`, the largest part, which is then null. Characters
outside ASCII are escaped.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Sequence

from profkit.model.function_counts import PythonCounts
from profkit.model.measurement import Freshness, InstructionCounts, MeasuredIn, MeasuredRun, OrderInfo, Timing
from profkit.render.formatting import iso_moment
from profkit.render.json.sampled import dumps, note_objects, order_object, process_object, quality_object
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.measured import OrderRow, TimeRow, UsageRow, order_rows

MEASURED_SCHEMA = "profkit.measured-report/1"
_TIMES = (
    "number", "processes", "blocks", "zygotes", "min_s", "median_s", "interval_s", "cpu_share",
    "involuntary_switches",
)  # fmt: skip
"""Fields of a `TimeRow` in the report, beside the times themselves."""
_ENVIRONMENT = frozenset(("file", "line", "source_cmd", "env", "program"))
"""Fields of an order that do not define it: its source and environment; `what` has the whole program."""


def measured_json(
    runs: Sequence[MeasuredRun], options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the report of measured runs, in their order; raise `UsageError` if the options name a thread."""
    rows = order_rows(runs, options)
    infos = [run.info for run in runs]
    ended_ns = [info.last_ns for info in infos]
    content = {
        "digest": digest([info.order for info in infos]),
        "started": iso_moment(min(info.started_ns for info in infos)) if infos else None,
        "ended": iso_moment(max(ended_ns)) if infos else None,
        "orders": [_order_object(row, functions=options.functions) for row in rows],
    }
    return dumps(MEASURED_SCHEMA, content)


def digest(orders: Iterable[OrderInfo]) -> str:
    """Return sixteen digits that depend only on the orders' definitions, not on sequence or environment."""
    definitions = sorted(json.dumps(_definition(order), sort_keys=True) for order in orders)
    return hashlib.blake2b("\n".join(definitions).encode("ascii"), digest_size=8).hexdigest()


def _definition(order: OrderInfo) -> dict[str, object]:
    fields = {name: value for name, value in order_object(order).items() if name not in _ENVIRONMENT}
    return {"label": order.label, **fields}


def _order_object(row: OrderRow, *, functions: bool) -> dict[str, object]:
    info, measured = row.run.info, row.run.measurement
    return {
        "id": info.id,
        "batch": info.batch,
        "label": info.label,
        **order_object(info.order),
        "started": iso_moment(info.started_ns),
        "duration_s": info.duration_s,
        **_times(row.times, measured.timing if measured else None),
        "quality": quality_object(row.warnings, trusted=row.trusted),
        "instructions": _instructions(row, row.counts, functions=functions) if row.counts else None,
        "notes": note_objects(info.notes),
        "error": info.error,
        "process": process_object(info.process),
        "machine": info.machine,
    }


def _times(row: TimeRow | None, timing: Timing | None) -> dict[str, object]:
    return {
        **{name: getattr(row, name, None) for name in _TIMES},
        "times_s": timing.times_s if timing else None,
        "usage": _usage(row.usage) if row and row.usage else None,
        "measured_in": _measured_in(timing.measured_in) if timing else None,
        "state": _state(timing.freshness) if timing else None,
    }


def _usage(row: UsageRow) -> dict[str, object]:
    return {
        "user_s": row.user_s,
        "system_s": row.system_s,
        "peak_bytes": row.peak_bytes,
        "most_bytes": row.most_bytes,
        "executions": [dataclasses.asdict(one) for one in row.each],
    }


def _state(freshness: Freshness) -> dict[str, object]:
    return {
        "fresh": freshness.fresh,
        "changes": list(freshness.changes),
        "why_not": freshness.why_not or None,
        "subtracted_s": freshness.loop_s,
    }


def _measured_in(place: MeasuredIn) -> dict[str, object]:
    return {
        "tool": place.tool.value,
        "preload": place.preload.value,
        "python": place.python,
        "packages": dict(place.packages),
        "isolated": place.isolated,
    }


def _instructions(row: OrderRow, counts: InstructionCounts, *, functions: bool) -> dict[str, object]:
    return {
        "number": counts.number,
        "raw": list(counts.raw),
        "baseline": counts.baseline,
        "net": counts.net,
        "stripped": counts.stripped,
        "events": dict(counts.events),
        "measured_in": _measured_in(counts.measured_in),
        "state": _state(counts.freshness),
        "functions": _functions(row) if functions else None,
        "python": None if counts.python is None else _python(row, counts.python, functions=functions),
    }


def _python(row: OrderRow, python: PythonCounts, *, functions: bool) -> dict[str, object]:
    rows = [
        {
            "name": function.name,
            "file": function.file,
            "line": function.line or None,
            "exclusive": function.exclusive,
            "inclusive": function.inclusive,
            "calls": function.calls,
        }
        for function in row.python
    ]
    return {
        "net": python.net,
        "elsewhere": python.elsewhere,
        "missing": python.missing or None,
        "functions": rows if functions else None,
    }


def _functions(row: OrderRow) -> list[dict[str, object]]:
    return [
        {
            "name": function.full_name,
            "object": function.object,
            "exclusive": function.exclusive,
            "inclusive": function.inclusive,
            "calls": function.calls,
        }
        for function in row.functions
    ]
