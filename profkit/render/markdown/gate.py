"""Markdown report of a gate, for a pull request."""

from __future__ import annotations

from profkit.model.comparison import Check, Outcome
from profkit.render.escape import code, plain
from profkit.render.escape import table as markdown_table
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.findings import reasons_text
from profkit.render.views.gate import GateReport, figures, headline

_MARKS = {Outcome.OK: "✅", Outcome.REGRESSION: "❌", Outcome.FASTER: "⚠️", Outcome.INCONCLUSIVE: "❔"}


def gate_markdown(report: GateReport, _options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE) -> str:
    """Return the gate's report, followed by the comparison."""
    result, explanation = report.result, report.explanation
    outcome = result.outcome
    head = f"# {_MARKS[outcome]} {headline(result)}"
    rows = (
        [_name_text(check), *figures(check), check.outcome.value, plain(reasons_text(check.reasons))]
        for check in result.checks
    )
    checks = markdown_table(["name", "change:", "interval:", "outcome", "reason"], rows)
    # The comparison's title becomes a section of this report.
    comparison = "\n".join(f"#{line}" if line.startswith("#") else line for line in explanation.splitlines())
    return "\n\n".join(filter(None, (head, checks, comparison)))


def _name_text(check: Check) -> str:
    return f"{code(check.name)} {check.measure.value}"
