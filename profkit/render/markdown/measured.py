"""Markdown report of measured runs: short, for a pull request or a language model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from profkit.model.measurement import MeasuredRun
from profkit.render.escape import code, code_block, plain, table
from profkit.render.formatting import count, count_text, percent, short_path, time_text
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.measured import (
    EXACT,
    FunctionRow,
    OrderRow,
    headed_warnings,
    names,
    order_rows,
    python_remark,
    uncertainty,
)
from profkit.render.views.measured_header import measured_facts, usage_facts

_LIMIT = 10
_LIMIT_OF_SEVERAL, _SEVERAL = 5, 4
"""Functions listed for each of at most `_SEVERAL` orders."""
_MAX_ERROR_LINES = 20


def measured_markdown(
    runs: Sequence[MeasuredRun], options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the report of measured runs, in their order; raise `UsageError` if a thread is selected."""
    limit = options.limit or (_LIMIT if len(runs) == 1 else _LIMIT_OF_SEVERAL)
    rows = order_rows(runs, replace(options, limit=limit))
    return "\n\n".join(_parts(rows, with_functions=options.limit is not None or len(rows) <= _SEVERAL))


def _parts(rows: Sequence[OrderRow], *, with_functions: bool) -> Iterator[str]:
    if not rows:
        yield "Nothing was measured."
        return
    runs = [row.run for row in rows]
    title = code(runs[0].info.label) if len(runs) == 1 else count(len(runs), "statement")
    yield f"# Measured: {title}"
    if len(runs) == 1:
        yield f"Run {code(runs[0].info.id)}."
    facts = measured_facts(runs)
    if len(rows) == 1 and rows[0].times is not None and rows[0].times.usage is not None:
        facts += usage_facts(rows[0].times.usage)
    yield "\n".join(f"- {fact.name}: {plain(fact.text, 400)}" for fact in facts)
    named = list(zip(rows, names(runs), strict=True))
    yield table(
        ["name", "median:", "interval:", "minimum:", "instructions:"],
        [[code(name), *_figures(row)] for row, name in named],
    )
    if warnings := [line for row, name in named for line in _warnings(row, name, alone=len(rows) == 1)]:
        yield "\n".join(dict.fromkeys(warnings))
    for row, name in named:
        if with_functions and row.python and row.counts is not None:
            yield f"## Hottest Python functions of {code(name)}\n\nInstructions per execution."
            yield _functions(row.python, row.run.info.process.cwd)
            yield python_remark(row.counts)
        if with_functions and row.functions:
            native = "native " if row.python else ""
            yield f"## Hottest {native}functions of {code(name)}\n\nInstructions per execution."
            yield _functions(row.functions, row.run.info.process.cwd)
        if row.run.info.error is not None:
            yield f"## {code(name)} failed"
            yield code_block(row.run.info.error.expandtabs(8).splitlines()[:_MAX_ERROR_LINES])


def _figures(row: OrderRow) -> list[str]:
    times, counts = row.times, row.counts
    interval = ""
    if times is not None and times.interval_s is not None:
        low, high = map(time_text, times.interval_s)
        interval = f"{uncertainty(times)} ({low} to {high})".strip()
    return [
        time_text(times.median_s) if times else "",
        interval,
        time_text(times.min_s) if times else "",
        count_text(counts.stripped) if counts else "",
    ]


def _warnings(row: OrderRow, name: str, *, alone: bool) -> Iterator[str]:
    for word, reason in headed_warnings(row.warnings):
        yield f"- **{word}**{'' if alone else f' {code(name)}'}: {plain(reason, 400)}"


def _functions(rows: Sequence[FunctionRow], cwd: str) -> str:
    return table(
        ["self:", "instructions:", "total:", "function", "where"],
        [
            [
                percent(function.exclusive_share, EXACT),
                count_text(function.exclusive),
                percent(function.inclusive_share, EXACT),
                code(function.name),
                _where(function, cwd),
            ]
            for function in rows
        ],
    )


def _where(function: FunctionRow, cwd: str) -> str:
    where = short_path(function.file, cwd) if function.file else function.object
    where += f":{function.line}" if function.line else ""
    return code(where) if where else ""
