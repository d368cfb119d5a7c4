"""Text report of measured runs: header, times, instruction counts, warnings, hottest functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.measurement import MeasuredRun
from profkit.render.escape import short
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.text.counts import counts_block, functions_block
from profkit.render.text.layout import compose, fact_grid, title
from profkit.render.text.times import times_block
from profkit.render.text.warnings import failures, warnings_block
from profkit.render.views.measured import OrderRow, order_rows
from profkit.render.views.measured_header import measured_facts


def measured_text(
    runs: Sequence[MeasuredRun], options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE
) -> str:
    """Return the report of measured runs, in their order; raise `UsageError` if a thread is selected."""
    return compose(_blocks(order_rows(runs, options), options, terminal), terminal)


def _blocks(rows: Sequence[OrderRow], options: ReportOptions, terminal: Terminal) -> Iterator[RenderableType]:
    if not rows:
        yield Text("Nothing was measured.")
        return
    runs = [row.run for row in rows]
    yield from title(*_title_parts(runs), terminal)
    yield fact_grid(measured_facts(runs))
    yield from times_block(rows, terminal)
    yield from counts_block(rows, terminal)
    yield from warnings_block(rows)
    yield from functions_block(rows, options, terminal)
    yield from failures(rows)
    if len(rows) == 1 and rows[0].times is None and rows[0].counts is None and runs[0].info.error is None:
        yield Text("\nThere are no numbers: it ended before a block was measured.")


def _title_parts(runs: Sequence[MeasuredRun]) -> tuple[str, str]:
    """Return the report's title, and the id of its run or batch."""
    infos = [run.info for run in runs]
    if len(infos) == 1:
        return infos[0].label, f"run {infos[0].id}"
    labels, batches = ({info.label for info in infos}, {info.batch for info in infos})
    label = f"{labels.pop()}: {len(infos)} runs" if len(labels) == 1 else f"{len(infos)} statements"
    return label, f"measurement {short(batches.pop(), 40)}" if len(batches) == 1 else ""
