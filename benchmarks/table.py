"""Figures of all measurements as a table, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence

from benchmarks.figures import Figure

SCHEMA = "profkit.benchmarks/1"
_HEADER = ("measurement", "figure", "value", "95 % interval", "range", "bound", "", "measured")
_RIGHT = {2, 3, 4, 5}
_LEGEND = (
    "value: the median over interleaved pairs, or a count. 95 % interval: order statistics of the pairs, or "
    "Wilson's for shares. range: smallest and largest pair.\n"
    "A bound holds if the whole interval is within it. It is undecided if the interval contains the bound, "
    "or if too little was measured."
)


def table_text(figures: Sequence[Figure], facts: Mapping[str, str]) -> str:
    """Return a line for each figure, below the facts of the machine."""
    rows = [_HEADER, *(_cells(figure) for figure in figures)]
    return "\n".join([*table_lines(rows, facts, right=_RIGHT), "", _LEGEND])


def table_lines(
    rows: Sequence[Sequence[str]], facts: Mapping[str, str], right: Container[int] = ()
) -> list[str]:
    """Return facts, an empty line, and aligned rows with a rule below the first; some columns are numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, "─" * max(map(len, lines)))
    return [*(f"{name}: {value}" for name, value in facts.items()), "", *lines]


def table_json(figures: Sequence[Figure], facts: Mapping[str, str]) -> str:
    """Return the figures and facts as JSON."""
    document = {
        "schema": SCHEMA,
        "machine": dict(facts),
        "figures": [figure.to_object() for figure in figures],
    }
    return json.dumps(document, indent=1)


def _cells(figure: Figure) -> tuple[str, ...]:
    unit = figure.unit
    return (
        figure.measurement,
        figure.what,
        f"{_number(figure.value)} {unit}",
        _between(figure.interval),
        _between(figure.spread),
        "" if figure.bound is None else f"≤ {_number(figure.bound)} {unit}",
        figure.verdict,
        figure.detail,
    )


def _between(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else f"{_number(ends[0])} - {_number(ends[1])}"


def _number(value: float) -> str:
    if value == int(value):
        return f"{value:.0f}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
