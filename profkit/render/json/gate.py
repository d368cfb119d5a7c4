"""JSON report of a gate."""

from __future__ import annotations

from collections.abc import Mapping

from profkit.model.comparison import Check, MeasuredComparison
from profkit.model.memory_comparison import MemoryComparison
from profkit.render.json.measured_comparison import SCHEMA, comparison_parts
from profkit.render.json.memory_comparison import memory_comparison_parts
from profkit.render.json.sampled import dumps, finding_object
from profkit.render.json.sampled_comparison import COMPARISON_SCHEMA, sampled_comparison_parts
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.gate import Comparison, GateReport

GATE_SCHEMA = "profkit.gate/1"


def gate_json(report: GateReport, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE) -> str:
    """Return the gate's result, its exit code, and the comparison as an object, null if there is none."""
    result = report.result
    return dumps(
        GATE_SCHEMA,
        {
            "outcome": result.outcome.value,
            "exit_code": report.exit_code,
            "baseline": result.baseline,
            "max_slowdown": result.limit,
            "checks": [_check(check) for check in result.checks],
            "comparison": None if report.comparison is None else _comparison(report.comparison, options),
        },
    )


def _comparison(comparison: Comparison, options: ReportOptions) -> Mapping[str, object]:
    if isinstance(comparison, MeasuredComparison):
        return {"schema": SCHEMA, **comparison_parts(comparison, options)}
    if isinstance(comparison, MemoryComparison):
        return {"schema": COMPARISON_SCHEMA, **memory_comparison_parts(comparison, options)}
    return {"schema": COMPARISON_SCHEMA, **sampled_comparison_parts(comparison, options)}


def _check(check: Check) -> dict[str, object]:
    interval = None if check.low is None else (check.low, check.high)
    return {
        "name": check.name,
        "measure": check.measure.value,
        "outcome": check.outcome.value,
        "ratio": check.ratio,
        "interval": interval,
        "reasons": [finding_object(reason) for reason in check.reasons],
    }
