"""Verdicts of all programs as a table, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from benchmarks.answers.cases import Case
from benchmarks.answers.checks import Verdict
from benchmarks.table import table_lines

SCHEMA = "profkit.answers/1"
_HEADER = ("program", "passed", "line", "state", "share", "threads", "what is wrong")
_LEGEND = """
line: the summary names the planted line, or none if nothing is wrong. state: it works or waits there, as the
summary says. share: the stated share is what the program measured. threads: working shares are within
5 points of processor time.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """The verdicts on one program; `not_run` says what is missing."""

    case: Case
    verdicts: tuple[Verdict, ...] = ()
    not_run: str = ""

    @property
    def passed(self) -> int:
        """Return the number of runs that passed."""
        return sum(verdict.passed for verdict in self.verdicts)


def table_text(rows: Sequence[Row], facts: Mapping[str, str]) -> str:
    """Return a line for each program, below the facts of the machine, and the total."""
    lines = table_lines([_HEADER, *map(_cells, rows)], facts)
    return "\n".join([*lines, _LEGEND, total(rows)])


def total(rows: Sequence[Row]) -> str:
    """Return how many runs passed."""
    return f"{sum(row.passed for row in rows)} of {sum(len(row.verdicts) for row in rows)}"


def table_json(rows: Sequence[Row], facts: Mapping[str, str]) -> str:
    """Return everything about each run as JSON."""
    programs = [
        {
            "name": row.case.name,
            "what": row.case.what,
            "not_run": row.not_run,
            "runs": [{"passed": each.passed, **asdict(each)} for each in row.verdicts],
        }
        for row in rows
    ]
    return json.dumps({"schema": SCHEMA, "machine": dict(facts), "programs": programs}, indent=1)


def _cells(row: Row) -> tuple[str, ...]:
    if row.not_run:
        return (row.case.name, "", "", "", "", "", f"not run: {row.not_run} is missing")
    of = len(row.verdicts)
    passed = f"{row.passed} of {of}" if of > 1 else ("yes" if row.passed else "no")
    checks = (
        _mark([getattr(each, name) for each in row.verdicts])
        for name in ("named", "state", "share", "threads")
    )  # fmt: skip
    problems = dict.fromkeys(problem for each in row.verdicts for problem in each.problems)
    return (row.case.name, passed, *checks, "; ".join(problems))


def _mark(results: Sequence[bool | None]) -> str:
    """Return ✓ if a check never failed, – if it never applied."""
    if False in results:
        return "✗"
    return "✓" if True in results else "–"
