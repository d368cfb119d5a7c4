"""Tables of a sampled run's report: its hottest functions, and its hottest lines with their source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from profkit.render.options import Sort
from profkit.render.views.costs import CostRow, Scale
from profkit.render.views.sampled import Report
from profkit.render.views.source import SourceLines
from profkit.transforms import tables
from profkit.transforms.simplify import only_users_code


@dataclass(frozen=True, slots=True)
class HotRow(CostRow):
    """A function or line; waiting is the part of its self cost in which the thread waited."""

    waiting_samples: int
    waiting_share: float
    waiting_s: float | None


@dataclass(frozen=True, slots=True)
class LineRow(HotRow):
    """A line of a function, with its source if that can be shown."""

    source: str | None


@dataclass(frozen=True, slots=True)
class Tables:
    """Rows of a report, cut to its limit; `functions_found` and `lines_found` are the numbers of all rows."""

    functions: tuple[HotRow, ...]
    functions_found: int
    lines: tuple[LineRow, ...]
    lines_found: int
    lines_elsewhere: int
    """Weight of the samples without any line of the user's."""
    changed_files: tuple[str, ...]
    """Files of shown lines that changed after the run; their source is not shown."""


def build_tables(report: Report) -> Tables:
    """Build the rows of a report's functions and lines."""
    options, samples, scale = report.options, report.samples, report.scale
    # Tables are sorted by own weight; another order needs all rows.
    hottest = options.limit if options.sort is Sort.SELF else None
    selection = tables.Selection(hottest, samples.waiting, report.is_by_work)
    functions = tables.function_table(samples.profile, selection, samples.functions)
    of_lines, elsewhere = samples.profile, 0
    if not options.show_all:
        of_lines, elsewhere = only_users_code(samples.of_users, report.is_library)
    lines = tables.line_table(of_lines, selection)
    order = _order(options.sort, selection)
    shown_functions = sorted(functions.rows, key=order)[: options.limit]
    shown_lines = sorted(lines.rows, key=order)[: options.limit]
    return Tables(
        functions=tuple(_function(row, scale) for row in shown_functions),
        functions_found=functions.found,
        lines=tuple(_line(row, scale, samples.source) for row in shown_lines),
        lines_found=lines.found,
        lines_elsewhere=elsewhere,
        changed_files=tuple(sorted(samples.source.changed & {row.file for row in shown_lines})),
    )


def _function(row: tables.FunctionRow, scale: Scale) -> HotRow:
    costs = scale.costs(row.self_weight, row.total_weight)
    return HotRow(row.name, row.file, row.line, *costs, *scale.waiting(row.waiting_weight))


def _line(row: tables.LineRow, scale: Scale, source: SourceLines) -> LineRow:
    # In call graphs, the line that makes a library call is approximate; the total is exact.
    costs = scale.costs(min(row.self_weight, row.total_weight), row.total_weight)
    waiting = scale.waiting(row.waiting_weight)
    return LineRow(row.name, row.file, row.line, *costs, *waiting, source=source.line(row.file, row.line))


_Row: TypeAlias = tables.FunctionRow | tables.LineRow


def _order(sort: Sort, selection: tables.Selection) -> Callable[[_Row], tuple[int, int, int, str, str, int]]:
    def key(row: _Row) -> tuple[int, int, int, str, str, int]:
        heat = {
            Sort.NAME: (0, 0, 0),
            Sort.TOTAL: (-row.total_weight, -row.self_weight, 0),
            Sort.SELF: tables.heat(row, selection),
        }[sort]
        return *heat, row.name, row.file, row.line

    return key
