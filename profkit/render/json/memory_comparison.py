"""JSON report of a comparison of memory runs: one object."""

from __future__ import annotations

import dataclasses

from profkit.model.comparison import Side
from profkit.model.memory_comparison import Amounts, FunctionMemory, MemoryComparison
from profkit.render.json.sampled import dumps, finding_object, run_object
from profkit.render.json.sampled_comparison import COMPARISON_SCHEMA
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.header import MEMORY
from profkit.render.views.memory_comparison import headline


def memory_comparison_json(
    comparison: MemoryComparison, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the report, limited only by the options; amounts are of one call."""
    return dumps(COMPARISON_SCHEMA, memory_comparison_parts(comparison, options))


def memory_comparison_parts(comparison: MemoryComparison, options: ReportOptions) -> dict[str, object]:
    """Return the parts of the report's object."""
    return {
        "mode": MEMORY,
        "headline": headline(comparison),
        "different": comparison.peak.change.value != "noise",
        "least": comparison.least,
        "least_bytes": comparison.least_bytes,
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "figures": {value.value: amounts_object(amounts) for value, amounts in comparison.figures},
        "value": comparison.value.value,
        "unit": comparison.value.unit.value,
        "functions": [_function(function) for function in comparison.functions[: options.limit]],
        "notes": [finding_object(note) for note in comparison.notes],
    }


def amounts_object(amounts: Amounts) -> dict[str, object]:
    """Return both sides with their ranges, the difference of the medians, and whether it counts."""
    return {
        "a": dataclasses.asdict(amounts.a),
        "b": dataclasses.asdict(amounts.b),
        "difference": amounts.difference,
        "ratio": amounts.ratio,
        "change": amounts.change.value,
    }


def _side(side: Side) -> dict[str, object]:
    return {"name": side.name, "runs": [run_object(info) for info in side.runs]}


def _function(function: FunctionMemory) -> dict[str, object]:
    return {
        "name": function.name,
        "file": function.file,
        "line": function.line,
        "changed": function.changed,
        "self": amounts_object(function.own),
        "total": amounts_object(function.total),
    }
