"""Markdown report of a comparison of memory runs."""

from __future__ import annotations

from collections.abc import Iterator

from profkit.model.comparison import Change
from profkit.model.memory_comparison import FunctionMemory, MemoryComparison
from profkit.render.escape import code, plain, table
from profkit.render.formatting import count, place
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.findings import finding_text
from profkit.render.views.memory import value_title
from profkit.render.views.memory_comparison import (
    difference,
    figure_name,
    quantity,
    rule_sentence,
    runs_of,
    spread_text,
    summary,
)

_LIMIT = 10
_LONGEST = 400
_MARKS = {Change.MORE: "▲", Change.LESS: "▼", Change.NOISE: ""}


def memory_comparison_markdown(
    comparison: MemoryComparison, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the report of a comparison: headline, figures, changed functions."""
    return "\n\n".join(_parts(comparison, options))


def _parts(comparison: MemoryComparison, options: ReportOptions) -> Iterator[str]:
    first, *others = summary(comparison)
    yield f"**{plain(first, _LONGEST)}** {' '.join(plain(sentence, _LONGEST) for sentence in others)}"
    a, b = runs_of(comparison)
    lines = [f"A: {plain(a)}", f"B: {plain(b)}"]
    lines += [plain(finding_text(note), _LONGEST) for note in comparison.notes]
    yield "\n".join(f"- {line}" for line in lines)
    yield table(
        ["", "one call", "A:", "B:", "difference:"],
        [
            [
                _MARKS[one.change],
                figure_name(value),
                spread_text(one.a, value),
                spread_text(one.b, value),
                difference(one, value),
            ]
            for value, one in comparison.figures
        ],
    )
    changed = comparison.changed
    rows = changed[: options.limit or _LIMIT]
    if rows:
        yield f"Functions by {value_title(comparison.value)}:"
        yield table(["", "function", "where", "A:", "B:"], [_row(row, comparison) for row in rows])
    if len(changed) > len(rows):
        yield f"… and {count(len(changed) - len(rows), 'more changed function')}."
    yield rule_sentence(comparison)


def _row(row: FunctionMemory, comparison: MemoryComparison) -> list[str]:
    amounts = row.reported
    return [
        _MARKS[amounts.change],
        code(row.name) + ("" if amounts is row.own else " including callees"),
        code(place(row.file, row.line, comparison.cwd)),
        quantity(amounts.a.middle, comparison.value),
        quantity(amounts.b.middle, comparison.value),
    ]
