"""Content of a gate's report that all formats share: headline, and figures of checks."""

from __future__ import annotations

from dataclasses import dataclass

from profkit.model.comparison import Check, GateResult, Measure, Outcome
from profkit.render.formatting import change


@dataclass(frozen=True, slots=True)
class GateReport:
    """A gate's result, the exit code for it, and the comparison that explains it."""

    result: GateResult
    exit_code: int
    explanation: str = ""
    """The comparison in the format of the report; empty if there is none."""


def limit_words(result: GateResult) -> str:
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
