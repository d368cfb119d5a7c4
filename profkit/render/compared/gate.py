"""What a gate says: the outcome, each check, and the comparison that explains them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from profkit.model.comparison import Check, GateResult, Outcome
from profkit.render.as_json import dumps
from profkit.render.compared.measured.words import change
from profkit.render.escape import short, visible
from profkit.render.facts import Fact
from profkit.render.markup import code, plain
from profkit.render.markup import table as markdown_table
from profkit.render.page import Page
from profkit.render.text.header import fact_grid, title
from profkit.render.text.layout import Column, compose, section, table
from profkit.render.text.palette import TONES
from profkit.render.words import Part, Tone

GATE_SCHEMA = "profkit.gate/1"
_LONGEST = 60
_TONES = {
    Outcome.OK: Tone.PLAIN,
    Outcome.REGRESSION: Tone.BAD,
    Outcome.FASTER: Tone.WARN,
    Outcome.INCONCLUSIVE: Tone.WARN,
}
_MARKS = {Outcome.OK: "✅", Outcome.REGRESSION: "❌", Outcome.FASTER: "⚠️", Outcome.INCONCLUSIVE: "❔"}


def gate_text(result: GateResult, explanation: str, page: Page) -> str:
    """The gate for people; `explanation` is the comparison as text, empty for none."""
    told = compose(_blocks(result), page)
    return "\n\n".join(filter(None, (told, explanation)))


def gate_markdown(result: GateResult, explanation: str) -> str:
    """The gate for a pull request; `explanation` is the comparison as Markdown."""
    outcome = result.outcome
    head = f"# {_MARKS[outcome]} {_headline(result)}"
    rows = (
        [_named(check), *_figures(check), check.outcome.value, plain(check.why)] for check in result.checks
    )
    checks = markdown_table(["order", "change:", "between:", "outcome", "why"], rows)
    # Its title becomes a section of this one.
    below = "\n".join(f"#{line}" if line.startswith("#") else line for line in explanation.splitlines())
    return "\n\n".join(filter(None, (head, checks, below)))


def gate_json(result: GateResult, explanation: str, exit_code: int) -> str:
    """The gate for programs; `explanation` is the comparison as JSON, empty for none."""
    return dumps(
        GATE_SCHEMA,
        {
            "outcome": result.outcome.value,
            "exit_code": exit_code,
            "baseline": result.baseline,
            "max_slowdown": result.limit,
            "checks": [_check(check) for check in result.checks],
            "comparison": json.loads(explanation) if explanation else None,
        },
    )


def _blocks(result: GateResult) -> Iterator[RenderableType]:
    yield from title(_headline(result), "", Page())
    limit = Part(f"at most {100 * result.limit:.3g} % slower than {visible(result.baseline)}")
    yield fact_grid([Fact("limit", (limit,))])
    yield section("Checks")
    yield table(
        [
            Column("order", [Text(short(check.name, _LONGEST)) for check in result.checks], "left"),
            Column("measure", [Text(check.measure.value) for check in result.checks], "left"),
            Column("change", [Text(_figures(check)[0]) for check in result.checks]),
            Column("between", [Text(_figures(check)[1]) for check in result.checks]),
            Column("outcome", [_outcome(check) for check in result.checks], "left"),
        ]
    )
    yield Text()
    yield fact_grid([_reason(check, alone=len(result.checks) == 1) for check in result.checks])


def _headline(result: GateResult) -> str:
    words = {
        Outcome.OK: "No regression",
        Outcome.REGRESSION: "Regression",
        Outcome.FASTER: "Faster than the baseline",
        Outcome.INCONCLUSIVE: "Inconclusive",
    }
    return words[result.outcome]


def _outcome(check: Check) -> Text:
    return Text(check.outcome.value, style=TONES[_TONES[check.outcome]])


def _reason(check: Check, *, alone: bool) -> Fact:
    whose = () if alone else (Part(f"{short(check.name, _LONGEST)}, {check.measure.value}", Tone.STRONG),)
    return Fact(check.outcome.value, (*whose, Part(visible(check.why), _TONES[check.outcome])))


def _figures(check: Check) -> tuple[str, str]:
    ratio = "" if check.ratio is None else change(check.ratio)
    if check.low is None or check.high is None or change(check.low) == change(check.high):
        return ratio, ""
    return ratio, f"{change(check.low)} to {change(check.high)}"


def _named(check: Check) -> str:
    return f"{code(check.name)} {check.measure.value}"


def _check(check: Check) -> dict[str, object]:
    interval = None if check.low is None else (check.low, check.high)
    return {
        "name": check.name,
        "measure": check.measure.value,
        "outcome": check.outcome.value,
        "ratio": check.ratio,
        "interval": interval,
        "why": check.why,
    }
