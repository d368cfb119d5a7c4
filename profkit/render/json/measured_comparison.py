"""JSON report of a comparison of measured runs: one object.

Characters outside ASCII are escaped. Figures that were not measured or could not be compared are null.
"""

from __future__ import annotations

from collections.abc import Sequence

from profkit.comparing.times import CONFIDENCE
from profkit.model.comparison import (
    CallDelta,
    CountsCompared,
    CountSpread,
    FunctionDelta,
    MeasuredComparison,
    OrderCompared,
    PythonFunctionDelta,
    TimesCompared,
)
from profkit.model.measurement import MeasuredRun
from profkit.render.json.sampled import dumps, finding_object, measured_object, warning_object
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.measured_comparison import times_of, warnings_of
from profkit.render.views.verdicts import counts_sentence, times_sentence

SCHEMA = "profkit.measured-comparison/1"
_SIDE = ("id", "batch", "started", "median_s", "min_s", "instructions", "quality", "error")
"""Fields of each run in the report; `profkit report --json` has all of them."""


def measured_comparison_json(
    comparison: MeasuredComparison, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the report that compares B with A."""
    return dumps(SCHEMA, comparison_parts(comparison, options))


def comparison_parts(comparison: MeasuredComparison, options: ReportOptions) -> dict[str, object]:
    """Return the parts of the report's object."""
    a, b = comparison.names
    return {
        "names": {"a": a, "b": b},
        "orders": [_order(order, options.limit) for order in comparison.orders],
        "unmatched": {"a": comparison.unmatched[0], "b": comparison.unmatched[1]},
        "warnings": [
            {"about": found.about, "allowed_for": found.is_allowed_for, **warning_object(found.warning)}
            for found in warnings_of(comparison)
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
        "a": _side(order.a),
        "b": _side(order.b),
        "times": _times(order.times) if order.times else None,
        "instructions": _counts(order.counts, limit) if order.counts else None,
        "obstacle": None if order.obstacle is None else finding_object(order.obstacle),
    }


def _side(runs: Sequence[MeasuredRun]) -> dict[str, object]:
    row = times_of(runs)
    return {
        "median_s": row.median_s if row else None,
        "interval_s": row.interval_s if row else None,
        "minima_s": row.minima_s if row else None,
        "runs": [_run(run) for run in runs],
    }


def _run(run: MeasuredRun) -> dict[str, object]:
    fields = measured_object(run.info)
    return {**{name: fields[name] for name in _SIDE}, "git_commit": run.info.process.git_commit}


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
        "functions": [_function(row) for row in counts.functions[:limit]],
        "functions_found": len(counts.functions),
        "allocators": _function(counts.allocators),
        "calls": [_call(row) for row in counts.calls[:limit]],
        "python_functions": [_python(row) for row in counts.python[:limit]],
        "python_functions_found": len(counts.python),
    }


def spread_object(spread: CountSpread | None) -> dict[str, object] | None:
    """Return how far the counts of one commit's runs differ; None if they do not."""
    return None if spread is None else {"least": spread.least, "most": spread.most, "runs": spread.runs}


def _call(row: CallDelta) -> dict[str, object]:
    place = {"name": row.name, "file": row.file, "depth": row.depth, "through": row.through}
    return {**place, "a": row.a, "b": row.b, "delta": row.delta}


def _python(row: PythonFunctionDelta) -> dict[str, object]:
    place = {"name": row.name, "file": row.file, "line": row.line or None}
    return {**place, "a": row.a, "b": row.b, "delta": row.delta}


def _function(row: FunctionDelta) -> dict[str, object]:
    return {"name": row.name, "a": row.a, "b": row.b, "delta": row.delta}
