"""Text report of a sampled run, or of merged runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from profkit.model.run import Merged, Run
from profkit.render.escape import short
from profkit.render.formatting import count, moment, percent, place
from profkit.render.options import DEFAULTS, PIPE, Activity, ReportOptions, Terminal
from profkit.render.text.awaits import await_table
from profkit.render.text.layout import (
    FAINT,
    Column,
    compose,
    details,
    header,
    heat,
    remark,
    room_left,
    section,
    table,
)
from profkit.render.text.operators import trace_blocks
from profkit.render.text.tables import function_table, line_table, names_and_places, thread_table
from profkit.render.text.tree import flame_block, tree_block
from profkit.render.views.header import why_no_samples
from profkit.render.views.merged import (
    DifferingRow,
    ProcessRow,
    are_states_known,
    differing_rows,
    odd_words,
    process_rows,
)
from profkit.render.views.sampled import Report, build_report
from profkit.render.views.summary import summary
from profkit.render.views.tables import build_tables

_MAX_NAMED = 3
"""Most differing processes that are named per function."""
_WIDTH_FOR_HOSTS = 80
"""Minimum terminal width for hosts and start times of processes."""


def process_blocks(report: Report, terminal: Terminal) -> Iterator[RenderableType]:
    """Yield tables of a merged run's processes and of functions that differ; nothing for a single run."""
    if report.run.merged is None:
        return
    limit = report.options.limit
    rows = process_rows(report.run.merged)
    yield section("Processes", "by working time" if are_states_known(rows) else "by CPU time")
    yield table(_process_columns(rows[:limit], report, terminal))
    if limit is not None and len(rows) > limit:
        yield remark(f"… and {len(rows) - limit:,} more")
    yield from _differing(report.run.merged, report, terminal)


def _process_columns(rows: Sequence[ProcessRow], report: Report, terminal: Terminal) -> list[Column]:
    total = report.scale.total
    cpu = [f"{row.cpu_share * 100:.0f} %" if row.cpu_share is not None else "" for row in rows]
    columns = [
        Column("share", [Text(percent(row.share, total), style=heat(row.share)) for row in rows]),
        Column("samples", [Text(count(row.samples)) for row in rows]),
        Column("calls", [Text(count(row.calls)) for row in rows]),
        Column("CPU", [Text(text) for text in cpu]),
    ]
    if are_states_known(rows):
        worked = [percent(row.working_share or 0.0, row.samples) for row in rows]
        columns.append(Column("worked", [Text(text) for text in worked]))
    columns.append(Column("pid", [Text(str(row.pid)) for row in rows]))
    if terminal.width is None or terminal.width >= _WIDTH_FOR_HOSTS:
        started = [Text(moment(row.started_ns)[:19], style=FAINT) for row in rows]
        columns.append(Column("started", started, "left"))
        columns.append(Column("host", [Text(short(row.host)) for row in rows], "left"))
    return columns


def _differing(merged: Merged, report: Report, terminal: Terminal) -> Iterator[RenderableType]:
    rows = differing_rows(merged)
    limit = report.options.limit
    listed = rows[:limit]
    if not listed:
        if len(merged.processes) > 1:
            yield remark("No function's share differs between the processes by more than noise and 5 points.")
        return
    yield section("Shares that differ between processes", "of functions, including their library calls")
    yield table(_function_columns(listed, report, terminal))
    if len(rows) > len(listed):
        yield remark(f"… and {count(len(rows) - len(listed), 'more function')}")


def _function_columns(rows: Sequence[DifferingRow], report: Report, terminal: Terminal) -> list[Column]:
    total, cwd = report.scale.total, report.run.info.process.cwd
    columns = [
        Column("all", [Text(percent(row.share, total), style=heat(row.share)) for row in rows]),
        Column("share in pid", [Text(short(odd_words(row, _MAX_NAMED))) for row in rows], "left"),
    ]
    styles = [FAINT if report.is_library(row.file) else "" for row in rows]
    places = [short(place(row.file, row.line, cwd)) for row in rows]
    return columns + names_and_places(
        [row.name for row in rows], styles, places, room_left(columns, terminal)
    )


def _why_empty(report: Report) -> str:
    activity = report.options.activity
    if activity is not Activity.ALL and report.activity.working + report.activity.waiting:
        return f"No sample is {activity.value}: leave out --{activity.value}."
    return why_no_samples(report.run)


_LIMIT = 15
_MIN_SHARE = 0.01


def sampled_text(runs: Sequence[Run], options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE) -> str:
    """Return the report of the first run; omit the others, which are of the same session.

    Raise `UsageError` if the run does not have the selected thread.
    """
    filled = replace(
        options,
        limit=_LIMIT if options.limit is None else options.limit,
        min_share=_MIN_SHARE if options.min_share is None else options.min_share,
    )
    return compose(_blocks(build_report(runs[0], filled), terminal), terminal)


def _blocks(report: Report, terminal: Terminal) -> Iterator[RenderableType]:
    if report.scale.total == 0:
        yield from header(report.run, terminal)
        yield Text(f"\n{_why_empty(report)}")
        yield from await_table(report, terminal)
        yield from trace_blocks(report.run.trace, report.options, terminal)
        yield from details(report.run)
        return
    yield from header(report.run, terminal, summary(report))
    if report.options.thread is not None:
        yield section(f"Only thread {short(report.options.thread)}", "shares are of its samples")
    yield from trace_blocks(report.run.trace, report.options, terminal)
    tables = build_tables(report)
    yield from function_table(report, tables, terminal)
    yield from await_table(report, terminal)
    yield from flame_block(report, terminal)
    yield from tree_block(report, terminal)
    yield from line_table(report, tables, terminal)
    yield from process_blocks(report, terminal)
    yield from thread_table(report)
    yield from details(report.run)
