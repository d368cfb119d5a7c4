"""The processes of a merged run as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from profkit.render.markup import code, plain, table
from profkit.render.places import place
from profkit.render.process_rows import differing_rows, odd_words, process_rows
from profkit.render.report import Report
from profkit.render.words import count, moment, percent

_ODD = 3
"""Processes that are named for a function."""


def processes_markdown(report: Report) -> Iterator[str]:
    """A table of the processes, and one of the functions whose shares differ; nothing for a single run."""
    merged, limit = report.run.merged, report.options.limit
    if merged is None:
        return
    total, rows = report.scale.total, process_rows(merged)
    shown = [
        [
            percent(row.share, total),
            count(row.samples),
            count(row.calls),
            f"{row.cpu_share * 100:.0f} %" if row.cpu_share is not None else "",
            str(row.pid),
            moment(row.started_ns)[:19],
            code(row.host),
        ]
        for row in rows[:limit]
    ]
    yield "## Processes"
    yield table(["share:", "samples:", "calls:", "CPU:", "pid:", "started", "host"], shown)
    if len(rows) > len(shown):
        yield f"… and {len(rows) - len(shown):,} more."
    if differing := differing_rows(merged)[:limit]:
        yield "## Shares that differ between processes\n\nOf a function and the library calls it makes."
        cells = [
            [
                percent(row.share, total),
                plain(odd_words(row, _ODD)),
                code(row.name),
                code(place(row.file, row.line, report.run.info.process.cwd)),
            ]
            for row in differing
        ]
        yield table(["all:", "differs: share in pid", "function", "where"], cells)
