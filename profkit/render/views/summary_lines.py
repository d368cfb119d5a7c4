"""Summary of a run in a few lines of plain text."""

from __future__ import annotations

from collections.abc import Sequence

from profkit.model.measurement import InstructionCounts, MeasuredRun, MeasurementWarning
from profkit.model.run import Run
from profkit.render.escape import short, visible
from profkit.render.formatting import count, count_text, range_of, time_text
from profkit.render.options import ReportOptions
from profkit.render.views.measured import OrderRow, TimeRow, headed_warning, order_rows, uncertainty
from profkit.render.views.notes import note_text
from profkit.transforms.tables import function_rows
from profkit.units import format_duration, short_id

HOTTEST = 10


def summary_lines(run: Run) -> list[str]:
    """Return counts, notes, links to a remote sampler's pages, and the functions with most self time."""
    info = run.info
    lines = [
        f"Run: {short_id(info.id)} ({info.label})",
        f"Total samples: {info.samples}",
        f"Calls: {info.calls}, wall time: {format_duration(info.wall_s)}",
        *(f"{name}: {url}" for name, url in info.links),
        *map(note_text, info.notes),
    ]
    if run.profile is None:
        return lines
    rows = sorted(function_rows(run.profile), key=lambda row: row.self_weight, reverse=True)
    period_s = run.profile.period_ns / 1e9
    for row in rows[:HOTTEST]:
        spent = format_duration(row.self_weight * period_s)
        lines.append(f"{spent:>10}  {row.name} ({row.file}:{row.line})")
    return lines


_LONGEST_LABEL = 60


def measured_summary_lines(run: MeasuredRun) -> list[str]:
    """Return the figures of one execution, or why there are none, and a line of warnings if any."""
    (row,) = order_rows((run,), ReportOptions(limit=0))
    label = short(run.info.label, _LONGEST_LABEL)
    if run.info.error is not None:
        lines = run.info.error.splitlines() or [""]
        # Errors of measuring usually begin with the label.
        named = lines[0].startswith(repr(run.info.label))
        return [visible(lines[0]) if named else f"{label} failed: {visible(lines[0])}"]
    first = f"{label}: {'; '.join(_figures(row)) or 'nothing was measured'}"
    return [first, f"  {_reasons(row.warnings)}"] if row.warnings else [first]


def _figures(row: OrderRow) -> list[str]:
    times = [_times(row.times)] if row.times else []
    return times + ([_counts(row.counts)] if row.counts else [])


def _times(row: TimeRow) -> str:
    median = f"{time_text(row.median_s)} {uncertainty(row)}".strip()
    blocks = f"{range_of([row.processes], 'process')} × {count(row.blocks, 'block')}"
    return f"min {time_text(row.min_s)}, median {median} of {blocks}"


def _counts(counts: InstructionCounts) -> str:
    return f"{count_text(counts.stripped)} instructions, {count_text(counts.net)} with memory allocators"


def _reasons(warnings: Sequence[MeasurementWarning]) -> str:
    reasons: dict[str, list[str]] = {}
    for warning in warnings:
        word, reason = headed_warning(warning)
        reasons.setdefault(word, []).append(visible(reason).removesuffix("."))
    return "; ".join(f"{word}: {'; '.join(texts)}" for word, texts in reasons.items())
