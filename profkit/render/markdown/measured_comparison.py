"""Markdown report of a comparison of measured runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from profkit.model.comparison import (
    CallDelta,
    CountsCompared,
    FunctionDelta,
    MeasuredComparison,
    OrderCompared,
    PythonFunctionDelta,
)
from profkit.render.escape import code, code_block, plain, short, table
from profkit.render.formatting import change, count, counts_alike, signed, signed_alike, times_alike
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.findings import finding_text
from profkit.render.views.measured_comparison import (
    PYTHON_WHAT,
    call_figures,
    delta_cell,
    design_text,
    function_text,
    grid_of,
    headline,
    python_place,
    remarks_of,
    sentences,
    shown_deltas,
    side_fact,
    side_names,
    through_text,
    times_of,
    verdict_words,
    warning_parts,
    warnings_of,
)
from profkit.render.views.measured_comparison import WHAT as CALLS_OF
from profkit.render.views.tree import guides
from profkit.transforms.origin import standard_file

_LONGEST = 400


def measured_comparison_markdown(
    comparison: MeasuredComparison, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the report of a comparison."""
    a, b = side_names(comparison)
    lead = [plain(headline(comparison), _LONGEST)] if len(comparison.orders) > 1 else []
    return "\n\n".join([f"# {code(a)} → {code(b)}", *lead, *markdown_parts(comparison, options)])


def markdown_parts(comparison: MeasuredComparison, options: ReportOptions) -> Iterator[str]:
    """Yield the parts below the title."""
    orders = comparison.orders
    yield from _single_order(comparison) if len(orders) == 1 else _several_orders(comparison)
    for order, counts, limit in shown_deltas(comparison, options):
        owner = "" if len(orders) == 1 else f" of {code(order.name)}"
        if counts.python:
            yield f"## Difference by Python function{owner}\n\nS{PYTHON_WHAT[1:]}."
            yield _python_functions(counts, limit)
        kind = "native function" if counts.python else "function"
        yield f"## Difference by {kind}{owner}\n\nSelf instructions per execution."
        yield _functions(counts, limit)
        if tree := calls_markdown(counts.calls, limit):
            yield f"## Difference by call{owner}\n\nI{CALLS_OF[1:]}."
            yield tree
    notes = [
        f"- **{heading}** {found.about}: {plain(reason, _LONGEST)}"
        for found in warnings_of(comparison)
        for heading, reason in [warning_parts(found)]
    ]
    notes += [f"- {plain(text, _LONGEST)}" for text in remarks_of(comparison)]
    if notes:
        yield "\n".join(notes)


def _single_order(comparison: MeasuredComparison) -> Iterator[str]:
    (order,) = comparison.orders
    yield "\n".join(f"- **{name}**: {plain(text, _LONGEST)}" for name, text, _ in sentences(order))
    sides = [
        side_fact(side, runs, name)
        for side, runs, name in zip("AB", (order.a, order.b), side_names(comparison), strict=True)
    ]
    design = design_text(comparison)
    lines = [f"- {fact.name}: {plain(fact.text, _LONGEST)}" for fact in sides]
    yield "\n".join([*lines, *([f"- timed {plain(design, _LONGEST)}"] if design else [])])


def _several_orders(comparison: MeasuredComparison) -> Iterator[str]:
    design = design_text(comparison)
    timed_how = f"; timed {design}" if design else ""
    yield f"{count(len(comparison.orders), 'statement')}{timed_how}."
    timed = [order for order in comparison.orders if order.times is not None]
    if timed:
        yield table(["name", "A:", "B:", "change:", "interval:", "verdict"], _times(timed))
    grid = grid_of(comparison)
    if grid.cells:
        yield "Instructions per execution, without memory allocators: Δ → B (change)."
        yield table(
            ["name", *(f"{plain(column)}:" for column in grid.columns)],
            [
                [code(row), *(_cell(grid.cells.get((row, name))) for name in grid.columns)]
                for row in grid.rows
            ],
        )
    failed = [(order.name, order.obstacle) for order in comparison.orders if order.obstacle is not None]
    if failed:
        yield "\n".join(f"- not compared: {code(name)}: {plain(finding_text(why))}" for name, why in failed)


def _times(orders: list[OrderCompared]) -> Iterator[list[str]]:
    sides = [times_of(order.a) for order in orders], [times_of(order.b) for order in orders]
    both = times_alike([row.median_s if row else None for side in sides for row in side])
    for place, order in enumerate(orders):
        times = order.times
        if times is None:
            continue
        known = times.low is not None and times.high is not None
        interval = f"{change(times.low or 1)} to {change(times.high or 1)}" if known else ""
        yield [
            code(order.name),
            both[place],
            both[len(orders) + place],
            change(times.ratio),
            interval,
            verdict_words(times),
        ]


def _cell(order: OrderCompared | None) -> str:
    return delta_cell(order.counts) if order is not None and order.counts is not None else ""


def _code(text: str) -> str:
    return code(text) if text else ""


def _python_functions(counts: CountsCompared, limit: int) -> str:
    rows = counts.python[:limit]
    more = len(counts.python) - len(rows)
    hidden = f"\n\n{count(more, 'more function')} differ." if more else ""
    return _deltas(rows, [(short(row.name), python_place(row)) for row in rows]) + hidden


def _functions(counts: CountsCompared, limit: int) -> str:
    rows = counts.functions[:limit]
    more = len(counts.functions) - len(rows)
    hidden = f"{count(more, 'more function')} differ. " if more else ""
    allocators = f"Memory allocators, not included: {signed(counts.allocators.delta)}."
    return f"{_deltas(rows, [function_text(row.name) for row in rows])}\n\n{hidden}{allocators}"


def _deltas(rows: Sequence[FunctionDelta | PythonFunctionDelta], functions: Sequence[tuple[str, str]]) -> str:
    both = counts_alike([row.a for row in rows] + [row.b for row in rows])
    deltas = signed_alike([row.delta for row in rows])
    cells = [
        [deltas[place], both[place], both[len(rows) + place], *map(_code, functions[place])]
        for place in range(len(rows))
    ]
    return table(["Δ:", "A:", "B:", "function", "where"], cells)


_LONGEST_CALL = 80
"""Longest function name or file in a call, in characters; template names can have a thousand."""


def calls_markdown(calls: Sequence[CallDelta], limit: int) -> str:
    """Return the calls that differ as a code block; empty if there are none."""
    rows = calls[:limit]
    if not rows:
        return ""
    columns = [[head, *cells] for head, cells in zip(("Δ", "A", "B"), call_figures(rows), strict=True)]
    widths = [max(map(len, column)) for column in columns]
    calls_drawn = [
        f"{guide}{short(row.name, _LONGEST_CALL)}{through_text(row)}  "
        f"{short(standard_file(row.file), _LONGEST_CALL)}"
        for guide, row in zip(guides(rows, None), rows, strict=True)
    ]
    lines = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)), call]).rstrip()
        for *cells, call in zip(*columns, ["call", *calls_drawn], strict=True)
    ]
    more = [f"… and {count(len(calls) - len(rows), 'more call')}"] if len(calls) > len(rows) else []
    return code_block([*lines, *more])
