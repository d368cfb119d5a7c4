"""A measured run in a line or two: for whoever called a decorated function, and beside progress."""

from __future__ import annotations

from collections.abc import Sequence

from profkit.model.measurement import Doubt, InstructionCounts, MeasuredRun
from profkit.render.escape import short, visible
from profkit.render.measured.rows import OrderRow, TimeRow, order_rows
from profkit.render.measured.words import count_text, range_of, time_text, uncertainty, warning
from profkit.render.options import ReportOptions
from profkit.render.words import count

_LONGEST_LABEL = 60


def summary_lines(run: MeasuredRun) -> list[str]:
    """The figures of one execution, or why there are none; then, if so, why they are not to be trusted."""
    (row,) = order_rows((run,), ReportOptions(limit=0))
    label = short(run.info.label, _LONGEST_LABEL)
    if run.info.error is not None:
        lines = run.info.error.splitlines() or [""]
        # Errors of measuring begin with the label themselves.
        named = lines[0].startswith(repr(run.info.label))
        return [visible(lines[0]) if named else f"{label} failed: {visible(lines[0])}"]
    first = f"{label}: {'; '.join(_figures(row)) or 'nothing was measured'}"
    return [first, f"  {_reasons(row.doubts)}"] if row.doubts else [first]


def _figures(row: OrderRow) -> list[str]:
    times = [_times(row.times)] if row.times else []
    return times + ([_counts(row.counts)] if row.counts else [])


def _times(row: TimeRow) -> str:
    median = f"{time_text(row.median_s)} {uncertainty(row)}".strip()
    blocks = f"{range_of([row.processes], 'process')} × {count(row.blocks, 'block')}"
    return f"min {time_text(row.min_s)}, median {median} of {blocks}"


def _counts(counts: InstructionCounts) -> str:
    return f"{count_text(counts.stripped)} instructions, {count_text(counts.net)} with memory allocators"


def _reasons(doubts: Sequence[Doubt]) -> str:
    whys: dict[str, list[str]] = {}
    for doubt in doubts:
        word, why = warning(doubt)
        whys.setdefault(word, []).append(visible(why).removesuffix("."))
    return "; ".join(f"{word}: {'; '.join(told)}" for word, told in whys.items())
