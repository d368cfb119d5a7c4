"""The report for people: header, hottest functions, flame view, call tree, hottest lines,
processes, threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from profkit.model.run import Run
from profkit.render.escape import short
from profkit.render.no_samples import why_no_samples
from profkit.render.options import ReportOptions
from profkit.render.page import Page
from profkit.render.report import Report, build_report
from profkit.render.text.flame import flame_block
from profkit.render.text.header import header
from profkit.render.text.layout import compose, section
from profkit.render.text.processes import process_blocks
from profkit.render.text.tables import function_table, line_table, thread_table
from profkit.render.text.tree import tree_block

_LIMIT = 15
_MIN_SHARE = 0.01


def report_text(
    run: Run, *, width: int | None = None, color: bool = False, options: ReportOptions | None = None
) -> str:
    """A run's report as text of `width` cells, None for as wide as its content.

    Raises `UsageError` for a thread that the run does not have.
    """
    asked = options or ReportOptions()
    filled = replace(
        asked,
        limit=_LIMIT if asked.limit is None else asked.limit,
        min_share=_MIN_SHARE if asked.min_share is None else asked.min_share,
    )
    page = Page(width, color)
    return compose(_blocks(build_report(run, filled), page), page)


def _blocks(report: Report, page: Page) -> Iterator[RenderableType]:
    yield from header(report.run, page)
    if report.scale.total == 0:
        yield Text(f"\n{why_no_samples(report.run)}")
        return
    if report.options.thread is not None:
        yield section(f"Only thread {short(report.options.thread)}", "shares are of its samples")
    yield from function_table(report, page)
    yield from flame_block(report, page)
    yield from tree_block(report, page)
    yield from line_table(report, page)
    yield from process_blocks(report, page)
    yield from thread_table(report)
