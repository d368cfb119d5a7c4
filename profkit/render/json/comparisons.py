"""JSON of comparisons of sampled, memory and measured runs, and of gates: one object each.

Figures that were not measured or could not be compared are null."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from profkit.comparing.times import CONFIDENCE
from profkit.model.comparison import (
    CallDelta,
    Check,
    Compared,
    CountsCompared,
    CountSpread,
    FunctionComparison,
    FunctionDelta,
    MeasuredComparison,
    OrderCompared,
    PythonFunctionDelta,
    SampledComparison,
    Side,
    TimesCompared,
)
from profkit.model.measurement import MeasuredRun
from profkit.model.memory_comparison import Amounts, FunctionMemory, MemoryComparison
from profkit.render.json.sampled import dumps, finding_object, measured_object, run_object, warning_object
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views import measured_comparison, memory_comparison
from profkit.render.views.gate import Comparison, GateReport
from profkit.render.views.header import MEMORY
from profkit.render.views.measured_comparison import counts_sentence, times_of, times_sentence
from profkit.render.views.sampled_comparison import diff_rows, headline, warnings_of
from profkit.transforms.tables import function_lines

COMPARISON_SCHEMA = "profkit.comparison/1"
SAMPLED = "sampled"


def sampled_comparison_json(
    comparison: SampledComparison, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the report, limited only by the options; shares and their differences are fractions of 1."""
    return dumps(COMPARISON_SCHEMA, sampled_comparison_parts(comparison, options))


def sampled_comparison_parts(comparison: SampledComparison, options: ReportOptions) -> dict[str, object]:
    """Return the parts of the report's object."""
    rows = diff_rows(comparison, show_all=options.show_all, most=options.limit)
    return {
        "mode": SAMPLED,
        "headline": headline(comparison),
        "grade": comparison.grade.value,
        "different": comparison.different,
        "level": comparison.level,
        "minimum_effect": comparison.minimum_effect,
        "unseen": comparison.unseen if math.isfinite(comparison.unseen) else None,
        "undecided": None if comparison.undecided is None else dataclasses.asdict(comparison.undecided),
        "unit": comparison.both.unit.value,
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "call_s": None if comparison.call_s is None else compared_object(comparison.call_s),
        "functions": _functions(comparison, options.limit),
        "calls": [dataclasses.asdict(row) for row in rows],
        "notes": [finding_object(note) for note in comparison.notes],
        "warnings": [{"sides": sides, "text": text} for sides, text in warnings_of(comparison)],
    }


def compared_object(compared: Compared) -> dict[str, object]:
    """Return both sides and the difference, each with its 95 % interval."""
    fields = dataclasses.asdict(compared)
    fields["difference"]["change"] = compared.difference.change.value
    return fields


def _side(side: Side) -> dict[str, object]:
    return {"name": side.name, "samples": side.samples, "runs": [run_object(info) for info in side.runs]}


def _functions(comparison: SampledComparison, limit: int | None) -> list[dict[str, object]]:
    shown = comparison.functions[:limit]
    lines = function_lines(comparison.both, [(function.name, function.file) for function in shown])
    return [_function(function, lines[function.name, function.file]) for function in shown]


def _function(function: FunctionComparison, line: int) -> dict[str, object]:
    own_s, total_s = (
        None
        if pair is None
        else {name: dataclasses.asdict(side) for name, side in zip("ab", pair, strict=True)}
        for pair in (function.own_s, function.total_s)
    )
    return {
        "name": function.name,
        "file": function.file,
        "line": line,
        "changed": function.changed,
        "self": compared_object(function.own),
        "total": compared_object(function.total),
        "self_s": own_s,
        "total_s": total_s,
    }


def memory_comparison_json(
    comparison: MemoryComparison, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the report, limited only by the options; amounts are of one call."""
    return dumps(COMPARISON_SCHEMA, memory_comparison_parts(comparison, options))


def memory_comparison_parts(comparison: MemoryComparison, options: ReportOptions) -> dict[str, object]:
    """Return the parts of the report's object."""
    return {
        "mode": MEMORY,
        "headline": memory_comparison.headline(comparison),
        "different": comparison.peak.change.value != "noise",
        "least": comparison.least,
        "least_bytes": comparison.least_bytes,
        "a": _memory_side(comparison.a),
        "b": _memory_side(comparison.b),
        "figures": {value.value: amounts_object(amounts) for value, amounts in comparison.figures},
        "value": comparison.value.value,
        "unit": comparison.value.unit.value,
        "functions": [_function_memory(function) for function in comparison.functions[: options.limit]],
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


def _memory_side(side: Side) -> dict[str, object]:
    return {"name": side.name, "runs": [run_object(info) for info in side.runs]}


def _function_memory(function: FunctionMemory) -> dict[str, object]:
    return {
        "name": function.name,
        "file": function.file,
        "line": function.line,
        "changed": function.changed,
        "self": amounts_object(function.own),
        "total": amounts_object(function.total),
    }


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
        return {"schema": MEASURED_SCHEMA, **measured_comparison_parts(comparison, options)}
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


MEASURED_SCHEMA = "profkit.measured-comparison/1"
_RUN = ("id", "batch", "started", "median_s", "min_s", "instructions", "quality", "error")
"""Fields of each run in the report; `profkit report --json` has all of them."""


def measured_comparison_json(
    comparison: MeasuredComparison, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the report that compares B with A."""
    return dumps(MEASURED_SCHEMA, measured_comparison_parts(comparison, options))


def measured_comparison_parts(comparison: MeasuredComparison, options: ReportOptions) -> dict[str, object]:
    """Return the parts of the report's object."""
    a, b = comparison.names
    return {
        "names": {"a": a, "b": b},
        "orders": [_order(order, options.limit) for order in comparison.orders],
        "unmatched": {"a": comparison.unmatched[0], "b": comparison.unmatched[1]},
        "warnings": [
            {"about": found.about, "allowed_for": found.is_allowed_for, **warning_object(found.warning)}
            for found in measured_comparison.warnings_of(comparison)
        ],
        "notes": [finding_object(note) for note in comparison.notes],
    }


def _order(order: OrderCompared, limit: int | None) -> dict[str, object]:
    info = order.a[0].info.order
    return {
        "label": info.label,
        "name": order.name,
        "labels": dict(info.labels),
        "language": info.language.value,
        "num_threads": info.num_threads,
        "a": _measured_side(order.a),
        "b": _measured_side(order.b),
        "times": _times(order.times) if order.times else None,
        "instructions": _counts(order.counts, limit) if order.counts else None,
        "obstacle": None if order.obstacle is None else finding_object(order.obstacle),
    }


def _measured_side(runs: Sequence[MeasuredRun]) -> dict[str, object]:
    row = times_of(runs)
    return {
        "median_s": row.median_s if row else None,
        "interval_s": row.interval_s if row else None,
        "minima_s": row.minima_s if row else None,
        "runs": [_run(run) for run in runs],
    }


def _run(run: MeasuredRun) -> dict[str, object]:
    fields = measured_object(run.info)
    return {**{name: fields[name] for name in _RUN}, "git_commit": run.info.process.git_commit}


def _times(times: TimesCompared) -> dict[str, object]:
    return {
        "ratio": times.ratio,
        "interval": None if times.low is None else (times.low, times.high),
        "confidence": CONFIDENCE,
        "sizes": times.sizes,
        "by_run": times.by_run,
        "p": times.p,
        "verdict": times.verdict.value,
        "sentence": times_sentence(times),
        "design": times.design.value,
        "unconfirmed": times.unconfirmed,
        "minimum_effect": times.minimum_effect,
        "minimum_detectable_effect": times.detectable,
    }


def _counts(counts: CountsCompared, limit: int | None) -> dict[str, object]:
    return {
        "a": counts.a,
        "b": counts.b,
        "delta": counts.delta,
        "ratio": counts.ratio,
        "verdict": counts.verdict.value,
        "sentence": counts_sentence(counts),
        "minimum_effect": counts.minimum_effect,
        "noise": counts.noise,
        "obstacle": None if counts.obstacle is None else finding_object(counts.obstacle),
        "spread_of_runs": spread_object(counts.spread),
        "standardized_names": counts.standardized,
        "functions": [_function_delta(row) for row in counts.functions[:limit]],
        "functions_found": len(counts.functions),
        "allocators": _function_delta(counts.allocators),
        "calls": [_call_delta(row) for row in counts.calls[:limit]],
        "python_functions": [_python_delta(row) for row in counts.python[:limit]],
        "python_functions_found": len(counts.python),
    }


def spread_object(spread: CountSpread | None) -> dict[str, object] | None:
    """Return how far the counts of one commit's runs differ; None if they do not."""
    return None if spread is None else {"least": spread.least, "most": spread.most, "runs": spread.runs}


def _call_delta(row: CallDelta) -> dict[str, object]:
    place = {"name": row.name, "file": row.file, "depth": row.depth, "through": row.through}
    return {**place, "a": row.a, "b": row.b, "delta": row.delta}


def _python_delta(row: PythonFunctionDelta) -> dict[str, object]:
    place = {"name": row.name, "file": row.file, "line": row.line or None}
    return {**place, "a": row.a, "b": row.b, "delta": row.delta}


def _function_delta(row: FunctionDelta) -> dict[str, object]:
    return {"name": row.name, "a": row.a, "b": row.b, "delta": row.delta}
