"""Plain-text summary of a run, for code that expects a list of lines."""

from __future__ import annotations

from profkit.model.run import Run
from profkit.transforms.tables import function_rows
from profkit.units import format_duration

HOTTEST = 10


def summary_lines(run: Run) -> list[str]:
    """Return counts, notes, links to a remote sampler's pages, and the functions with most self time."""
    info = run.info
    lines = [
        f"Run: {info.id} ({info.label})",
        f"Total samples: {info.samples}",
        f"Calls: {info.calls}, wall time: {format_duration(info.wall_s)}",
        *(f"{what}: {url}" for what, url in info.links),
        *info.notes,
    ]
    if run.profile is None:
        return lines
    rows = sorted(function_rows(run.profile), key=lambda row: row.self_weight, reverse=True)
    period_s = run.profile.period_ns / 1e9
    for row in rows[:HOTTEST]:
        spent = format_duration(row.self_weight * period_s)
        lines.append(f"{spent:>10}  {row.name} ({row.file}:{row.line})")
    return lines
