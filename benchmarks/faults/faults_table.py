"""Rows of a campaign as a table, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from benchmarks.faults.results import SCHEMA
from benchmarks.faults.rows import FaultRow

_HEADER = (
    "fault", "injected", "recovered", "of taken", "processes left", "files left", "locks left", "changed",
    "guarantee", "",
)  # fmt: skip
_RIGHT = range(1, 8)


def table_text(rows: Sequence[FaultRow], facts: Mapping[str, str]) -> str:
    """Return a line for each fault, below the facts."""
    cells = [_HEADER, *map(_cells, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(_HEADER))]
    lines = [_line(row, widths) for row in cells]
    lines.insert(1, "─" * max(map(len, lines)))
    return "\n".join([*(f"{name}: {value}" for name, value in facts.items()), "", *lines])


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


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        cell.rjust(width) if column in _RIGHT else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(padded).rstrip()
