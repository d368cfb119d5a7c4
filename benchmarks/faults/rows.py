"""Outcome of an injection, and the table row that sums up a fault's injections."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

HELD, BROKEN, NOT_RUN = "held", "broken", "not run"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one injection. `changed` counts programs that behaved differently."""

    injected: int = 1
    taken: int = 0
    """Number of profiles taken, according to the target's own log."""
    recovered: int = 0
    """Number of those that `profkit list` has."""
    processes_left: int = 0
    files_left: int = 0
    locks_left: int = 0
    changed: int = 0
    problems: tuple[str, ...] = ()
    """Failed checks, in words."""
    not_run: str = ""
    """Reason why the fault could not be injected on this machine; empty if it was."""

    @property
    def verdict(self) -> str:
        """Summary: whether all checks passed."""
        if self.not_run:
            return NOT_RUN
        left = self.processes_left or self.files_left or self.locks_left
        lost = self.recovered != self.taken
        return BROKEN if lost or left or self.changed or self.problems else HELD

    def with_problem(self, problem: str, *, changed: int = 0) -> Outcome:
        """Return the outcome with one more problem, and `changed` more changed programs."""
        return replace(self, problems=(*self.problems, problem), changed=self.changed + changed)

    def to_object(self) -> dict[str, object]:
        """Return the outcome as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Injection:
    """One injection of a fault: every choice in it derives from these three."""

    fault: str
    seed: int
    number: int
    short: bool = False
    """True for the short form's durations; moments are the same in both forms."""


@dataclass(frozen=True, slots=True)
class FaultRow:
    """Row of the table: the sums over all injections of a fault."""

    name: str
    injected: int
    taken: int
    recovered: int
    processes_left: int
    files_left: int
    locks_left: int
    changed: int
    verdict: str
    note: str


def outcome_from(document: Mapping[str, Any]) -> Outcome:
    """Return the outcome that `to_object` wrote."""
    return Outcome(**{**document, "problems": tuple(document["problems"])})


def row_of(name: str, outcomes: Mapping[int, Outcome]) -> FaultRow:
    """Sum the outcomes of a fault; the note names the first injections with problems."""
    broken = [number for number in sorted(outcomes) if outcomes[number].verdict == BROKEN]
    missed = [outcome.not_run for outcome in outcomes.values() if outcome.verdict == NOT_RUN]
    values = outcomes.values()
    return FaultRow(
        name=name,
        injected=sum(outcome.injected for outcome in values if not outcome.not_run),
        taken=sum(outcome.taken for outcome in values),
        recovered=sum(outcome.recovered for outcome in values),
        processes_left=sum(outcome.processes_left for outcome in values),
        files_left=sum(outcome.files_left for outcome in values),
        locks_left=sum(outcome.locks_left for outcome in values),
        changed=sum(outcome.changed for outcome in values),
        verdict=BROKEN if broken else NOT_RUN if missed or not outcomes else HELD,
        note=_note(broken, missed),
    )


def failures_of(fault: str, seed: int, outcomes: Mapping[int, Outcome]) -> Iterable[str]:
    """Return each failed or skipped injection, with the command that repeats it."""
    for number in sorted(outcomes):
        outcome = outcomes[number]
        if outcome.verdict != HELD:
            why = " ".join((outcome.not_run or "; ".join(outcome.problems) or _figures(outcome)).split())
            again = f"python -m benchmarks.faults --only {fault} --seed {seed} --iterations {number}"
            yield os.linesep.join((f"{fault} {number}: {outcome.verdict}: {why}", f"    {again}"))


def _figures(outcome: Outcome) -> str:
    return (
        f"{outcome.recovered} of {outcome.taken} profiles recovered; left: {outcome.processes_left} "
        f"processes, {outcome.files_left} files, {outcome.locks_left} locks; {outcome.changed} changed"
    )


def _note(broken: list[int], missed: list[str]) -> str:
    parts = []
    if broken:
        more = f" and {len(broken) - 5} more" if len(broken) > 5 else ""
        parts.append(f"broken: {', '.join(map(str, broken[:5]))}{more}")
    if missed:
        parts.append(f"{len(missed)} not run: {missed[0]}")
    return "; ".join(parts)
