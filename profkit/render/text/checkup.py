"""Text of a checkup: the verdict, then a table for each group, with cost and fix below each shortfall."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from profkit.model.checkup import Check, Checkup, Status
from profkit.render.escape import visible
from profkit.render.formatting import Tone
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.text.layout import FAINT, GAP, GLUE, TITLE, TONES, compose, section
from profkit.render.views.checkup import TITLES, verdict

_MARKS = {
    Status.OK: ("✓", TONES[Tone.PLAIN]),
    Status.NOT_APPLICABLE: ("–", FAINT),
    Status.SHORTFALL: ("!", TONES[Tone.WARN]),
    Status.FAILED: ("✗", TONES[Tone.BAD]),
}
_COST, _FIX = "cost", "fix"
_UNIT = re.compile(r"(?<=\d) (?=(?:[KMGT]iB|B|[mµn]?s|min|Hz|%)(?:\W|$))")
"""Space between a number and its unit, at which no line breaks."""


def checkup_text(checkup: Checkup, _options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE) -> str:
    """Return the verdict, and all checks by group."""
    return compose(_blocks(checkup), terminal)


def _blocks(checkup: Checkup) -> Iterator[RenderableType]:
    yield Text(verdict(checkup), style=TITLE if checkup.works else TONES[Tone.BAD])
    width = max((len(check.name) for check in checkup.checks), default=0)
    for group, (title, remark) in TITLES.items():
        checks = checkup.of(group)
        if checks:
            yield section(title, remark)
            yield _grid(checks, width)


def _grid(checks: tuple[Check, ...], width: int) -> Table:
    """Build the table of a group; names are as wide in each, so that all tables align."""
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(width=1)
    grid.add_column(width=width, no_wrap=True)
    grid.add_column(overflow="fold")
    for check in checks:
        mark, style = _MARKS[check.status]
        grid.add_row(Text(mark, style=style), Text(visible(check.name)), _line(check.found, style))
        for name, text in ((_COST, check.cost), (_FIX, check.fix)):
            if text:
                grid.add_row("", Text(name, style=FAINT, justify="right"), _line(text))
    return grid


def _line(text: str, style: str = "") -> Text:
    return Text(_UNIT.sub(GLUE, visible(text)), style=style)
