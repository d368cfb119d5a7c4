"""Markdown report of compilations."""

from __future__ import annotations

from collections.abc import Iterator

from profkit.model.compilations import Compilations
from profkit.render.escape import code, plain, table
from profkit.render.formatting import count, percent, place
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.compilations import (
    NESTED,
    cell_text,
    frame_rows,
    has_nested,
    headline,
    phase_names,
    sorted_passes,
)
from profkit.units import format_duration

_LIMIT = 15


def compilations_markdown(
    found: Compilations, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the frames by phases, and the hottest passes."""
    return "\n\n".join(_parts(found, options, options.limit or _LIMIT))


def _parts(found: Compilations, options: ReportOptions, limit: int) -> Iterator[str]:
    yield f"# Compilations of process {found.process.pid}"
    yield headline(found)
    cwd, rows, phases = found.process.cwd, frame_rows(found), phase_names(found)
    yield table(
        ["frame", "total:", *(f"{plain(name)}:" for name in phases), "samples:", "function", "where"],
        [
            [
                row.number, format_duration(row.frame.total_s), *map(cell_text, row.cells),
                count(row.frame.samples), code(row.frame.function),
                code(place(row.frame.file, row.frame.line, cwd)),
            ]
            for row in rows[:limit]
        ],
    )  # fmt: skip
    if has_nested(found):
        yield NESTED
    passes, weight = sorted_passes(found, options), found.weight
    if passes:
        yield "## Hottest passes"
        yield table(
            ["self:", "time:", "total:", "stage", "function", "where"],
            [
                [
                    percent(row.own / weight, weight), format_duration(row.own * found.sample_s),
                    percent(row.total / weight, weight), row.stage, code(row.name),
                    code(place(row.file, row.line, cwd)),
                ]
                for row in passes[:limit]
            ],
        )  # fmt: skip
