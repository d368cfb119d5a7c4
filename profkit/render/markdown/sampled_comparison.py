"""Markdown report of a comparison of sampled runs."""

from __future__ import annotations

from collections.abc import Iterator

from profkit.model.comparison import (
    Change,
    FunctionComparison,
    SampledComparison,
)
from profkit.render.escape import code, code_block, plain, short, table
from profkit.render.formatting import count, place
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.findings import finding_text
from profkit.render.views.sampled_comparison import (
    DiffRow,
    bounded_points,
    diff_rows,
    points,
    rule_sentence,
    runs_of,
    share,
    shares_sentence,
    summary,
    times,
    warnings_of,
)
from profkit.render.views.tree import guides

_LIMIT = 10
_MAX_CALLS = 15
_MAX_ROWS = 40
"""Rows of the tree, including callers."""
_LONGEST = 400


def sampled_comparison_markdown(
    comparison: SampledComparison, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the report of a comparison: headline, changed functions, changed calls."""
    return "\n\n".join(_parts(comparison, options))


def _parts(comparison: SampledComparison, options: ReportOptions) -> Iterator[str]:
    first, *others = summary(comparison)
    yield f"**{plain(first, _LONGEST)}** {' '.join(plain(sentence, _LONGEST) for sentence in others)}"
    a, b = runs_of(comparison)
    yield f"- A: {plain(a)}\n- B: {plain(b)}"
    yield from _functions(comparison, options)
    yield from _tree(comparison, options)
    yield rule_sentence(comparison)
    warned = (f"**warning** {who}: {plain(text, _LONGEST)}" for who, text in warnings_of(comparison))
    notes = [*warned, *(plain(finding_text(note), _LONGEST) for note in comparison.notes)]
    if notes:
        yield "\n".join(f"- {note}" for note in notes)


def _functions(comparison: SampledComparison, options: ReportOptions) -> Iterator[str]:
    changed = comparison.changed
    rows = changed[: options.limit or _LIMIT]
    if rows:
        head = ["", "function", "where", "A:", "B:", "points:", "self time per call:"]
        yield table(head, [_row(row, comparison) for row in rows])
    if len(changed) > len(rows):
        yield f"… and {count(len(changed) - len(rows), 'more changed function')}."
    if sentence := shares_sentence(comparison):
        yield sentence
    if unchanged := len(comparison.functions) - len(changed):
        yield f"{count(unchanged, 'function')} within noise."


def _row(row: FunctionComparison, comparison: SampledComparison) -> list[str]:
    compared = row.reported
    return [
        "▲" if compared.difference.change is Change.MORE else "▼",
        code(row.name) + ("" if compared is row.own else " including callees"),
        code(place(row.file, row.line, comparison.cwd)),
        share(compared.a),
        share(compared.b),
        bounded_points(compared.difference),
        times(row.own_s),
    ]


def _tree(comparison: SampledComparison, options: ReportOptions) -> Iterator[str]:
    rows = diff_rows(comparison, show_all=options.show_all, most=_MAX_CALLS)
    if not rows:
        return
    listed = rows[:_MAX_ROWS]
    drawn = [
        f"{_shares(row)}  {guide}{_call(row, comparison)}"
        for row, guide in zip(listed, guides(listed, None), strict=True)
    ]
    if len(rows) > len(listed):
        drawn.append(f"… and {count(len(rows) - len(listed), 'more row')}")
    head = f"{'A':>8} {'B':>8} {'points':>7}  call, including callees"
    yield code_block([head, *drawn])


def _shares(row: DiffRow) -> str:
    return f"{100 * row.a:>6.1f} % {100 * row.b:>6.1f} % {points(row.difference):>7}"


def _call(row: DiffRow, comparison: SampledComparison) -> str:
    where = short(place(row.file, row.line, comparison.cwd))
    through = f" (through {count(row.through, 'call')})" if row.through else ""
    mark = "" if not row.changed else " ▲" if row.difference > 0 else " ▼"
    return f"{short(row.name)}{mark}  {where}{through}"
