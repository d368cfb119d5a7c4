"""Headline of a comparison of sampled runs; names in it are not yet sanitized."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from profkit.model.comparison import Compared, Difference, FunctionComparison, Grade
from profkit.model.run import Run, RunInfo
from profkit.units import Unit, format_duration

_HASH = 10
"""Number of shown digits of a commit."""


def headline(
    functions: Sequence[FunctionComparison],
    call_s: Compared | None,
    grade: Grade,
    unseen: float,
    unit: Unit,
    fewest: int,
) -> str:
    """Return one sentence: the largest significant change, or that there is none."""
    changed = [function for function in functions if function.changed]
    said = _most(changed, unit) if changed else _nothing(unseen)
    if call_s is not None and call_s.difference.changed:
        said += (
            f"; a call takes {format_duration(call_s.b.value)} instead of {format_duration(call_s.a.value)}"
        )
    return said if grade is Grade.CONFIRMED else f"indicative, from {_runs(fewest)}: {said}"


def points(share: float) -> str:
    """Format a share in points: `5.0 points`."""
    return f"{100 * share:.1f} points"


def interval(difference: Difference) -> str:
    """Format a difference with its interval: `+5.0 points (−2.1 to +7.9)`."""
    value, low, high = (
        signed(f"{100 * part:+.1f}") for part in (difference.value, difference.low, difference.high)
    )
    return f"{value} points ({low} to {high})"


def signed(number: str) -> str:
    """Replace the hyphen of a formatted number with a minus sign, as wide as a plus sign."""
    return number.replace("-", "−")


def side_names(a: Sequence[Run], b: Sequence[Run]) -> tuple[str, str]:
    """Return names that distinguish the sides: labels, else commits, else ids."""
    tellers: tuple[Callable[[RunInfo], str], ...] = (
        lambda info: info.label,
        lambda info: f"{info.label}@{(info.process.git_commit or '')[:_HASH]}",
    )
    for tell in tellers:
        of_a, of_b = ({tell(run.info) for run in side} for side in (a, b))
        if len(of_a) == len(of_b) == 1 and of_a != of_b:
            return of_a.pop(), of_b.pop()
    return _by_id(a), _by_id(b)


def _by_id(runs: Sequence[Run]) -> str:
    first = runs[0].info.id
    return first if len(runs) == 1 else f"{first} and {len(runs) - 1} more"


def _nothing(unseen: float) -> str:
    if math.isinf(unseen):
        return "no function has a share large enough to compare"
    return f"no share differs by more than the noise, which is up to {points(unseen)}"


def _most(changed: Sequence[FunctionComparison], unit: Unit) -> str:
    first = changed[0]
    told = first.told
    whose = "" if told is first.own else " with all that it calls"
    of = "time" if unit in (Unit.SAMPLES, Unit.NANOSECONDS) else unit.value
    more = "" if len(changed) == 1 else f"{len(changed)} functions changed, most of all "
    return (
        f"{more}{first.name}{whose}: {100 * told.a.value:.1f} % of the {of} in A, "
        f"{100 * told.b.value:.1f} % in B, {interval(told.difference)}"
    )


def _runs(fewest: int) -> str:
    return (
        "one run a side"
        if fewest == 1
        else f"{fewest} runs a side"
        if fewest == 2
        else "runs sampled differently"
    )
