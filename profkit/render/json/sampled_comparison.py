"""JSON report of a comparison of sampled runs: one object."""

from __future__ import annotations

import dataclasses
import math

from profkit.model.comparison import Compared, FunctionComparison, SampledComparison, Side
from profkit.render.json.sampled import dumps, finding_object, run_object
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.sampled_comparison import diff_rows, headline, warnings_of

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
        "functions": [_function(function) for function in comparison.functions[: options.limit]],
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


def _function(function: FunctionComparison) -> dict[str, object]:
    own_s, total_s = (
        None
        if pair is None
        else {name: dataclasses.asdict(side) for name, side in zip("ab", pair, strict=True)}
        for pair in (function.own_s, function.total_s)
    )
    return {
        "name": function.name,
        "file": function.file,
        "line": function.line,
        "changed": function.changed,
        "self": compared_object(function.own),
        "total": compared_object(function.total),
        "self_s": own_s,
        "total_s": total_s,
    }
