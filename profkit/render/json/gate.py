"""JSON report of a gate."""

from __future__ import annotations

import json

from profkit.model.comparison import Check
from profkit.render.json.sampled import dumps, finding_object
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.gate import GateReport

GATE_SCHEMA = "profkit.gate/1"


def gate_json(report: GateReport, _options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE) -> str:
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
            "comparison": json.loads(report.explanation) if report.explanation else None,
        },
    )


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
