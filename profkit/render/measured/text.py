"""The report of measured runs for people: header, times, instructions, doubts, hottest functions, failures.

One order is told in lines, several are rows of tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.measurement import MeasuredRun
from profkit.render.escape import short
from profkit.render.measured.counts import counts_block
from profkit.render.measured.facts import measured_facts
from profkit.render.measured.failures import failures
from profkit.render.measured.functions import functions_block
from profkit.render.measured.rows import OrderRow, order_rows
from profkit.render.measured.times import times_block
from profkit.render.measured.trust import doubts_block
from profkit.render.options import ReportOptions
from profkit.render.page import Page
from profkit.render.text.header import fact_grid, title
from profkit.render.text.layout import compose


def measured_text(
    runs: Sequence[MeasuredRun], options: ReportOptions | None = None, page: Page | None = None
) -> str:
    """The report of measured runs, in their order; raises `UsageError` where one thread is asked for."""
    asked, page = options or ReportOptions(), page or Page()
    return compose(_blocks(order_rows(runs, asked), asked, page), page)


def _blocks(rows: Sequence[OrderRow], options: ReportOptions, page: Page) -> Iterator[RenderableType]:
    if not rows:
        yield Text("Nothing was measured.")
        return
    runs = [row.run for row in rows]
    yield from title(*_names(runs), page)
    yield fact_grid(measured_facts(runs))
    yield from times_block(rows, page)
    yield from counts_block(rows, page)
    yield from doubts_block(rows)
    yield from functions_block(rows, options, page)
    yield from failures(rows)
    if len(rows) == 1 and rows[0].times is None and rows[0].counts is None and runs[0].info.error is None:
        yield Text("\nThere are no numbers: it ended before a block was measured.")


def _names(runs: Sequence[MeasuredRun]) -> tuple[str, str]:
    """What the report is about, and the id of it."""
    infos = [run.info for run in runs]
    if len(infos) == 1:
        return infos[0].label, f"run {infos[0].id}"
    labels, batches = ({info.label for info in infos}, {info.batch for info in infos})
    label = f"{labels.pop()}: {len(infos)} orders" if len(labels) == 1 else f"{len(infos)} orders"
    return label, f"batch {short(batches.pop(), 40)}" if len(batches) == 1 else ""
