"""Rows of a sampled run's tables: hottest functions and lines; a call tree whose long chains are cut.

Small calls of the tree, and the middle of long chains, are summed in rows of their own."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from profkit.model.profile import Frame, Node
from profkit.render.options import Sort
from profkit.render.views.costs import CostRow, Scale
from profkit.render.views.sampled import IsLibrary, Report
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


_CHAIN = 12
"""Longest straight chain that is shown in full."""
_CHAIN_ENDS = 4
"""Rows of a longer chain that are kept at each end."""
_SAME = 0.99
"""Minimum weight of a call in a straight chain, relative to the chain's first call."""


class TreeKind(enum.Enum):
    """Kind of a row of the tree."""

    CALL = "call"
    LIBRARY = "library"
    """A library's frame, or several folded up to the next frame of user code."""
    SMALL = "small"
    """Calls that are too small to show, summed."""
    CHAIN = "chain"
    """Calls in a straight chain without branches, or in a recursion."""


@dataclass(frozen=True, slots=True)
class TreeRow(CostRow):
    """A call in the tree, parents before children; `hidden` is the number of calls that a row sums."""

    depth: int
    last: bool
    """Whether it is the last of its siblings."""
    kind: TreeKind = TreeKind.CALL
    hidden: int = 0


def tree_rows(
    root: Node, scale: Scale, min_share: float, is_library: IsLibrary, depth: int | None = None
) -> tuple[TreeRow, ...]:
    """Return a row for every call with at least `min_share` of the total, heaviest siblings first.

    `depth` is the maximum number of levels.
    """
    least = max(1.0, min_share * scale.total)
    pending = _children(root, 0, least)
    rows = []
    while pending:
        level, last, node, small = pending.pop()
        rows.append(_row(node, level, last, small, scale, is_library))
        if not small and (depth is None or level + 1 < depth):
            pending += _children(node, level + 1, least)
    return tuple(rows)


_Pending = tuple[int, bool, Node, int]


def _children(node: Node, depth: int, least: float) -> list[_Pending]:
    """Return the children to show, in reverse; small ones are one node with their sum."""
    shown = [child for child in node.children if child.total_weight >= least]
    small = node.children[len(shown) :]
    entries = [(child, 0) for child in shown]
    if small:
        weight = sum(child.total_weight for child in small)
        entries.append((Node(Frame("", ""), 0, weight), len(small)))
    return [
        (depth, position == 0, child, hidden) for position, (child, hidden) in enumerate(reversed(entries))
    ]


def _row(node: Node, depth: int, last: bool, small: int, scale: Scale, is_library: IsLibrary) -> TreeRow:
    kind = TreeKind.SMALL if small else TreeKind.LIBRARY if is_library(node.frame.file) else TreeKind.CALL
    costs = scale.costs(node.self_weight, node.total_weight)
    frame = node.frame
    return TreeRow(
        frame.name, frame.file, frame.line, *costs, depth=depth, last=last, kind=kind, hidden=small
    )


def shorten_chains(rows: tuple[TreeRow, ...]) -> tuple[TreeRow, ...]:
    """Replace the middle of each long straight chain with one row that counts it."""
    shortened: list[TreeRow] = []
    # Rows below a shortened chain move left by its removed rows, until the tree is above the chain again.
    moves: list[tuple[int, int]] = []
    position = 0
    while position < len(rows):
        while moves and rows[position].depth <= moves[-1][0]:
            moves.pop()
        left = sum(move for _, move in moves)
        length = _chain_length(rows, position)
        end = position + (_CHAIN_ENDS if length > _CHAIN else 1)
        shortened += [replace(row, depth=row.depth - left) for row in rows[position:end]]
        position, first = end, end
        if length > _CHAIN:
            position += length - 2 * _CHAIN_ENDS
            shortened.append(_chain_row(rows[first:position], left))
            moves.append((rows[first].depth - 1, position - first - 1))
    return tuple(shortened)


def _chain_length(rows: tuple[TreeRow, ...], start: int) -> int:
    """Return the length of the straight chain that begins at `start`.

    Its calls have the same weight except for noise, or functions that are in the chain already: recursion
    gets lighter level by level.
    """
    least = _SAME * rows[start].total_samples
    seen = {(rows[start].name, rows[start].file)}
    end = start + 1
    while end < len(rows) and _is_only_call(rows[end - 1], rows[end]):
        function = rows[end].name, rows[end].file
        if rows[end].total_samples < least and function not in seen:
            break
        seen.add(function)
        end += 1
    return end - start


def _is_only_call(above: TreeRow, row: TreeRow) -> bool:
    return row.depth == above.depth + 1 and row.last and row.kind is not TreeKind.SMALL


def _chain_row(hidden: tuple[TreeRow, ...], left: int) -> TreeRow:
    first = hidden[0]
    own_s = [row.self_s for row in hidden if row.self_s is not None]
    return replace(
        first,
        name="",
        file="",
        line=0,
        self_samples=sum(row.self_samples for row in hidden),
        self_share=sum(row.self_share for row in hidden),
        self_s=sum(own_s) if own_s else None,
        depth=first.depth - left,
        kind=TreeKind.CHAIN,
        hidden=len(hidden),
    )
