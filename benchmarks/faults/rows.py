"""Rows that sum up the injections of a fault, as a table and as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from benchmarks.faults.injections import BROKEN, HELD, NOT_RUN, Outcome
from benchmarks.faults.results import SCHEMA
from benchmarks.table import table_lines

_HEADER = (
    "fault", "injected", "recovered", "of taken", "processes left", "files left", "locks left", "changed",
    "guarantee", "",
)  # fmt: skip
_RIGHT = range(1, 8)


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


def table_text(rows: Sequence[FaultRow], facts: Mapping[str, str]) -> str:
    """Return a line for each fault, below the facts."""
    return "\n".join(table_lines([_HEADER, *map(_cells, rows)], facts, right=_RIGHT))


def table_json(rows: Sequence[FaultRow], facts: Mapping[str, str]) -> str:
    """Return the rows and facts as JSON."""
    document = {"schema": SCHEMA, "facts": dict(facts), "faults": [asdict(row) for row in rows]}
    return json.dumps(document, indent=1)


def _cells(row: FaultRow) -> tuple[str, ...]:
    figures = (
        row.injected, row.recovered, row.taken, row.processes_left, row.files_left, row.locks_left,
        row.changed,
    )  # fmt: skip
    return (row.name, *(f"{figure:,}" for figure in figures), row.verdict, row.note)
