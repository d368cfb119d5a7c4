"""The text report of a gate: outcome, limit, checks with their reasons, and the comparison."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from profkit.model.comparison import Check, GateResult, Outcome
from profkit.render.escape import short, visible
from profkit.render.formatting import Part, Tone
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.text.layout import TONES, Column, compose, fact_grid, section, table, title
from profkit.render.views.findings import reasons_text
from profkit.render.views.gate import GateReport, figures, headline, limit_words
from profkit.render.views.header import Fact

_LONGEST = 60
_TONES = {
    Outcome.OK: Tone.PLAIN,
    Outcome.REGRESSION: Tone.BAD,
    Outcome.FASTER: Tone.WARN,
    Outcome.INCONCLUSIVE: Tone.WARN,
}


def gate_text(report: GateReport, _options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE) -> str:
    """Return the gate's report, followed by the comparison."""
    checks = compose(_blocks(report.result), terminal)
    return "\n\n".join(filter(None, (checks, report.explanation)))


def _blocks(result: GateResult) -> Iterator[RenderableType]:
    yield from title(headline(result), "", Terminal())
    limit = Part(f"{limit_words(result)} than {visible(result.baseline)}")
    yield fact_grid([Fact("limit", (limit,))])
    yield section("Checks")
    yield table(
        [
            Column("name", [Text(short(check.name, _LONGEST)) for check in result.checks], "left"),
            Column("measure", [Text(check.measure.value) for check in result.checks], "left"),
            Column("change", [Text(figures(check)[0]) for check in result.checks]),
            Column("interval", [Text(figures(check)[1]) for check in result.checks]),
            Column("outcome", [_outcome(check) for check in result.checks], "left"),
        ]
    )
    yield Text()
    yield fact_grid([_reason(check, alone=len(result.checks) == 1) for check in result.checks])


def _outcome(check: Check) -> Text:
    return Text(check.outcome.value, style=TONES[_TONES[check.outcome]])


def _reason(check: Check, *, alone: bool) -> Fact:
    owner = () if alone else (Part(f"{short(check.name, _LONGEST)}, {check.measure.value}", Tone.STRONG),)
    return Fact(
        check.outcome.value, (*owner, Part(visible(reasons_text(check.reasons)), _TONES[check.outcome]))
    )
