"""SVG of a run's flame graph, without scripts, for READMEs, slides and issues."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from profkit.model.profile import Node
from profkit.model.run import Run
from profkit.render.escape import short, visible
from profkit.render.formatting import amount, count, percent, place
from profkit.render.options import DEFAULTS, PIPE, Activity, ReportOptions, Terminal
from profkit.render.views.header import why_no_samples
from profkit.render.views.sampled import Report, build_report
from profkit.render.views.summary import summary
from profkit.units import short_id

_WIDTH, _ROW, _MARGIN, _HEAD = 1200, 18, 10, 52
"""Sizes in pixels: of the picture, a row, the margins, and the title above the rows."""
_CHARACTER = 6.7
"""Width of a character of the font, in pixels."""
_NARROWEST, _NARROWEST_NAMED = 0.5, 25
"""Widths in pixels below which calls are left out, and below which they have no name."""
_MAX_ROWS = 200
_FILLS = ((0.3, "#ff875f"), (0.1, "#ffaf5f"), (0.0, "#ffd787"))
_LIBRARY = "#afd7d7"
_STYLE = """
text { font: 11px ui-monospace, monospace; fill: #111; }
.title { font-size: 14px; font-weight: bold; }
.title, .about { fill: #1f2328; }
rect { stroke: #fff; stroke-width: 0.5; }
@media (prefers-color-scheme: dark) { .title, .about { fill: #e6edf3; } rect { stroke: #0d1117; } }
"""


@dataclass(frozen=True, slots=True)
class _Area:
    """A call with its place in the picture: its row, and its edges in pixels."""

    node: Node
    row: int
    left: float
    right: float


def sampled_svg(runs: Sequence[Run], options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE) -> str:
    """Return the flame graph of the first run, callers above; calls that are too small to see are left out.

    Raise `UsageError` if the run does not have the selected thread.
    """
    report = build_report(runs[0], options)
    areas = list(_areas(report))
    rows = max((area.row for area in areas), default=0) + 1
    height = _HEAD + rows * _ROW + _MARGIN
    label = html.escape(short(report.run.info.label))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" aria-label="Flame graph of {label}">',
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="{_MARGIN}" y="20">{label}</text>',
        f'<text class="about" x="{_WIDTH - _MARGIN}" y="20" text-anchor="end">{_identity(report.run)}</text>',
        f'<text class="about" x="{_MARGIN}" y="40">{html.escape(_about(report))}</text>',
        *(_drawn(area, report) for area in areas),
        "</svg>",
    ]
    return "\n".join(lines)


def _identity(run: Run) -> str:
    if run.merged is None:
        return f"run {short_id(run.info.id)}"
    return f"{count(len(run.merged.infos), 'run')}, merged"


def _about(report: Report) -> str:
    """Return the first sentence of the summary, as far as there is room, or why there are no samples."""
    if not report.scale.total:
        return visible(why_no_samples(report.run))
    only = "" if report.tree_activity is Activity.ALL else f" ({report.tree_activity.value} samples)"
    most = int((_WIDTH - 2 * _MARGIN) / _CHARACTER) - len(only)
    return f"{short(summary(report)[0], most)}{only}"


def _areas(report: Report) -> Iterator[_Area]:
    """Yield the calls that are wide enough to be seen, callers before callees."""
    root = report.tree
    if not root.total_weight:
        return
    scale = (_WIDTH - 2 * _MARGIN) / root.total_weight
    pending = [(root, -1, float(_MARGIN))]
    while pending:
        node, row, left = pending.pop()
        if row >= 0:
            yield _Area(node, row, left, left + node.total_weight * scale)
        if row + 1 >= min(_MAX_ROWS, report.options.depth or _MAX_ROWS):
            continue
        for child in node.children:
            width = child.total_weight * scale
            if width >= _NARROWEST:
                pending.append((child, row + 1, left))
            left += width


def _drawn(area: _Area, report: Report) -> str:
    frame, width = area.node.frame, area.right - area.left
    share = report.scale.share(area.node.total_weight)
    fill = next(color for least, color in _FILLS if share >= least)
    fill = _LIBRARY if report.is_library(frame.file) else fill
    top = _HEAD + area.row * _ROW
    name = visible(frame.name)
    where = place(frame.file, frame.line, report.run.info.process.cwd)
    weight = amount(area.node.total_weight, report.scale.unit)
    tip = f"{name}{f' ({visible(where)})' if where else ''}: {percent(share, report.scale.total)}, {weight}"
    shape = f'<rect x="{area.left:.1f}" y="{top}" width="{width:.1f}" height="{_ROW - 1}" fill="{fill}"/>'
    text = ""
    if width >= _NARROWEST_NAMED:
        cut = short(name, int((width - 6) / _CHARACTER))
        text = f'<text x="{area.left + 3:.1f}" y="{top + 13}">{html.escape(cut)}</text>'
    return f"<g><title>{html.escape(tip)}</title>{shape}{text}</g>"
