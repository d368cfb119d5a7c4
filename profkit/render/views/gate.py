"""Report of a gate: its outcome, its limit, the checks with their reasons, and the comparison."""

from __future__ import annotations

from dataclasses import dataclass

from profkit.model.comparison import (
    Check,
    GateResult,
    Measure,
    MeasuredComparison,
    Outcome,
    SampledComparison,
)
from profkit.model.memory_comparison import MemoryComparison
from profkit.render.document import (
    Cell,
    Column,
    Document,
    Fact,
    Facts,
    Nested,
    Remark,
    Role,
    Section,
    Table,
    Title,
    cells,
)
from profkit.render.escape import short, visible
from profkit.render.formatting import Part, Tone, change
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.findings import reasons_text
from profkit.render.views.measured_comparison_report import measured_comparison
from profkit.render.views.memory_comparison import memory_comparison
from profkit.render.views.sampled_comparison_report import sampled_comparison

Comparison = SampledComparison | MeasuredComparison | MemoryComparison

MARKS = {Outcome.OK: "✅", Outcome.REGRESSION: "❌", Outcome.FASTER: "⚠️", Outcome.INCONCLUSIVE: "❔"}
TONES = {
    Outcome.OK: Tone.PLAIN,
    Outcome.REGRESSION: Tone.BAD,
    Outcome.FASTER: Tone.WARN,
    Outcome.INCONCLUSIVE: Tone.WARN,
}
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class GateReport:
    """A gate's result, the exit code for it, and the comparison that explains it."""

    result: GateResult
    exit_code: int
    comparison: Comparison | None = None
    why_not: str = ""
    """Reason why there is no comparison."""


def gate(report: GateReport, options: ReportOptions = DEFAULTS) -> Document:
    """Yield the outcome and the checks, followed by the comparison."""
    result = report.result
    limit = Part(f"{_limit_words(result)} than {visible(result.baseline)}")
    yield Title(headline(result), is_name=False, mark=MARKS[result.outcome])
    yield Facts([Fact("limit", (limit,))])
    yield Section("Checks")
    yield checks_table(result.checks)
    alone = len(result.checks) == 1
    yield Facts([_reason(check, alone=alone) for check in result.checks], gap=True)
    if report.comparison is not None:
        yield Nested(comparison_document(report.comparison, options))
    elif report.why_not:
        yield Remark(report.why_not, Tone.PLAIN, gap=True)


def comparison_document(comparison: Comparison, options: ReportOptions) -> Document:
    """Return the document of a comparison of any kind."""
    if isinstance(comparison, MeasuredComparison):
        return measured_comparison(comparison, options)
    if isinstance(comparison, MemoryComparison):
        return memory_comparison(comparison, options)
    return sampled_comparison(comparison, options)


def checks_table(checks: tuple[Check, ...]) -> Table:
    """Return a table of checks with their changes and outcomes."""
    changes = [figures(check) for check in checks]
    outcomes = [Cell(one.outcome.value, TONES[one.outcome], mark=MARKS[one.outcome]) for one in checks]
    return Table(
        [
            Column("name", cells(short(check.name, _LONGEST) for check in checks), Role.NAME),
            Column("measure", cells(check.measure.value for check in checks), Role.WORDS),
            Column("change", cells(ratio for ratio, _ in changes)),
            Column("interval", cells(interval for _, interval in changes)),
            Column("outcome", outcomes, Role.WORDS),
        ]
    )


def _reason(check: Check, *, alone: bool) -> Fact:
    owner = () if alone else (Part(f"{short(check.name, _LONGEST)}, {check.measure.value}", Tone.STRONG),)
    reasons = Part(visible(reasons_text(check.reasons)), TONES[check.outcome])
    return Fact(check.outcome.value, (*owner, reasons))


def _limit_words(result: GateResult) -> str:
    """Return what the limit allows: `at most 3 % slower`."""
    return f"at most {100 * result.limit:.3g} % {'more memory' if _is_of_memory(result) else 'slower'}"


def _is_of_memory(result: GateResult) -> bool:
    return all(check.measure is Measure.PEAK for check in result.checks)


def headline(result: GateResult) -> str:
    """Return the outcome in words."""
    words = {
        Outcome.OK: "No regression",
        Outcome.REGRESSION: "Regression",
        Outcome.FASTER: f"{'Less memory' if _is_of_memory(result) else 'Faster'} than the baseline",
        Outcome.INCONCLUSIVE: "Inconclusive",
    }
    return words[result.outcome]


def figures(check: Check) -> tuple[str, str]:
    """Return a check's change and interval as text; each is empty if unknown."""
    ratio = "" if check.ratio is None else change(check.ratio)
    if check.low is None or check.high is None or change(check.low) == change(check.high):
        return ratio, ""
    return ratio, f"{change(check.low)} to {change(check.high)}"
