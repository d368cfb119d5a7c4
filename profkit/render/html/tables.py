"""Tables of a run in an HTML page: awaited lines, operators of torch, and processes of a merged run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from profkit.model.region import RegionKind
from profkit.model.run import Merged, Run, RunInfo
from profkit.model.trace import Kernel, Lane, Operator, Range, Trace
from profkit.render.escape import short, visible
from profkit.render.formatting import iso_moment, short_path, sparkline
from profkit.render.options import DEFAULTS
from profkit.render.views.operators import device_sentence, share_of_span, sorted_operators, trace_sentence
from profkit.render.views.processes import (
    DifferingRow,
    ProcessRow,
    are_states_known,
    differing_rows,
    odd_words,
    process_rows,
)
from profkit.transforms.unsampled_time import AwaitShare, await_shares
from profkit.units import format_duration

Row = TypeVar("Row")
Block = Mapping[str, object]
"""A paragraph, a hint, a title with a remark, or a table."""
Column = tuple[str, str, str, Callable[[Row], object]]
"""Id, title, kind (one of those in `elements/sortable_table.ts`), and the value of a row."""

_CELLS = 60
"""Blocks that draw how busy a thread was."""
_MAX_ODD = 4
"""Maximum number of differing processes that are named."""


def run_tables(run: Run) -> dict[str, Sequence[Block]]:
    """Return the contents of the panels of tables, by panel; a panel without contents is missing."""
    found = {
        "awaits": _awaits(run.info),
        "operators": [] if run.trace is None else _operators(run.trace),
        "processes": [] if run.merged is None else _processes(run.merged),
    }
    return {panel: blocks for panel, blocks in found.items() if blocks}


def _table(
    caption: str, sort: str, rows: Iterable[Row], columns: Sequence[Column[Row]], step: int = 50
) -> Block:
    return {
        "caption": caption,
        "sort": sort,
        "step": step,
        "columns": [column[:3] for column in columns],
        "rows": [[value(row) for *_, value in columns] for row in rows],
    }


def _titled(title: str, remark: str, table: Block) -> list[Block]:
    """Return a table below its title; nothing if it has no rows."""
    return [{"title": title, "remark": remark}, table] if table["rows"] else []


def _awaits(info: RunInfo) -> list[Block]:
    def path(text: str) -> str:
        return short(short_path(text, info.process.cwd))

    of_tasks = info.region.kind is RegionKind.PROGRAM
    figures: list[Column[AwaitShare]] = [
        ("share", "share", "share", lambda line: line.share),
        ("suspended_s", "time", "time", lambda line: line.suspended_s),
        ("times", "times", "count", lambda line: line.place.times),
    ]
    tasks: list[Column[AwaitShare]] = [("share", "tasks", "mean", lambda line: line.share)]
    columns: list[Column[AwaitShare]] = [
        ("awaited", "awaiting", "name", lambda line: path(line.place.awaited)),
        *(tasks if of_tasks else figures),
        ("function", "function", "text", lambda line: path(line.place.function)),
        ("where", "where", "place", lambda line: f"{path(line.place.file)}:{line.place.line}"),
    ]
    mean = "the mean number of tasks suspended there"
    measure = mean if of_tasks else "their share of the wall time of all calls"
    caption = f"Lines that awaited something, by {measure}."
    lines = await_shares(info)
    return [_table(caption, "share", lines, columns, step=20)] if lines else []


def _operators(trace: Trace) -> list[Block]:
    over = f"over {format_duration(trace.last_span_ns / 1e9)}"
    operators: list[Column[Operator]] = [
        ("name", "operator", "name", lambda row: visible(row.name)),
        ("self_cpu", "self CPU", "share", lambda row: share_of_span(row.self_cpu_ns, trace)),
        ("time", "time", "time", lambda row: row.self_cpu_ns / 1e9),
        ("total_cpu", "total CPU", "time", lambda row: row.total_cpu_ns / 1e9),
        ("self_device", "self GPU", "time", lambda row: row.self_device_ns / 1e9),
        ("total_device", "total GPU", "time", lambda row: row.total_device_ns / 1e9),
        ("calls", "calls", "count", lambda row: row.calls),
        ("shapes", "shapes", "place", lambda row: visible(row.shapes)),
    ]
    ranges: list[Column[Range]] = [
        ("name", "range", "name", lambda row: visible(row.name)),
        ("total_cpu", "time", "time", lambda row: row.total_cpu_ns / 1e9),
        ("total_device", "GPU", "time", lambda row: row.total_device_ns / 1e9),
        ("calls", "calls", "count", lambda row: row.calls),
    ]
    kernels: list[Column[Kernel]] = [
        ("name", "name", "name", lambda row: visible(row.name)),
        ("total", "time", "time", lambda row: row.total_ns / 1e9),
        ("calls", "calls", "count", lambda row: row.calls),
        ("kind", "kind", "words", lambda row: visible(row.kind)),
    ]
    lanes: list[Column[Lane]] = [
        ("name", "thread or stream", "name", lambda lane: visible(lane.name)),
        ("busy", "busy", "percent", lambda lane: lane.busy_ns / (trace.last_span_ns or 1)),
        ("drawn", over, "drawing", lambda lane: sparkline(lane.busy, _CELLS)),
    ]
    if not trace.devices:
        operators = [column for column in operators if not column[0].endswith("_device")]
        ranges = [column for column in ranges if not column[0].endswith("_device")]
    by_operator = "Operators of torch by their own time on the CPU."
    by_range = _table("Ranges in the traced calls.", "total_cpu", trace.ranges, ranges)
    by_kernel = _table("Kernels and copies by their time.", "total", trace.kernels, kernels)
    by_lane = _table("How busy each thread and stream was.", "busy", trace.lanes, lanes)
    return [
        *({"text": sentence} for sentence in (trace_sentence(trace), device_sentence(trace)) if sentence),
        _table(by_operator, "self_cpu", sorted_operators(trace, DEFAULTS), operators),
        *_titled("Ranges", "regions of profkit, and record_function of the program", by_range),
        *_titled("Kernels and copies", "on the GPU", by_kernel),
        *_titled("Timeline", "of the last traced call", by_lane),
    ]


def _processes(merged: Merged) -> list[Block]:
    rows = process_rows(merged)
    is_known = are_states_known(rows)
    worked: list[Column[ProcessRow]] = [("working_share", "worked", "portion", lambda row: row.working_share)]
    columns: list[Column[ProcessRow]] = [
        ("pid", "process", "name", lambda row: row.pid),
        ("share", "share", "share", lambda row: row.share),
        ("samples", "samples", "count", lambda row: row.samples),
        ("calls", "calls", "count", lambda row: row.calls),
        ("cpu_share", "CPU", "cores", lambda row: row.cpu_share),
        *(worked if is_known else []),
        ("peak_rss", "peak memory", "bytes", lambda row: row.peak_rss_bytes),
        ("started", "started (UTC)", "place", lambda row: iso_moment(row.started_ns)[:19].replace("T", " ")),
        ("host", "host", "text", lambda row: visible(row.host)),
    ]
    caption = f"Processes by {'working' if is_known else 'CPU'} time."
    table = _table(caption, "working_share" if is_known else "cpu_share", rows, columns)
    return [table, *(_differing(merged) if len(rows) > 1 else [])]


def _differing(merged: Merged) -> list[Block]:
    columns: list[Column[DifferingRow]] = [
        ("name", "function", "name", lambda row: visible(row.name)),
        ("share", "all processes", "share", lambda row: row.share),
        ("odd", "differing processes", "words", lambda row: visible(odd_words(row, _MAX_ODD))),
    ]
    caption = "Functions whose share in one process differs from that in all others."
    remark = "of functions, including their library calls"
    table = _table(caption, "share", differing_rows(merged), columns, step=20)
    none: Block = {"hint": "No share differs by more than noise and 5 points."}
    return [
        {"title": "Shares that differ between processes", "remark": remark},
        table if table["rows"] else none,
    ]
