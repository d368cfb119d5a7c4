"""Lay out text by rich, which is imported here alone: columns, sections, colours."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from profkit.model.run import Run
from profkit.render.cells import middle_cut
from profkit.render.formatting import Tone, count
from profkit.render.terminal import Terminal
from profkit.render.views.header import Fact, facts

TONES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.FAINT: "dim",
    Tone.WARN: "color(172)",
    Tone.BAD: "bold color(160)",
}
TITLE = "bold"
FAINT = "dim"

_HEAT = ((0.3, "bold color(197)"), (0.15, "color(202)"), (0.05, "color(172)"), (0.01, ""))


def heat(share: float, cold: str = FAINT) -> str:
    """The style of something that has this share of all samples: hot, warm, plain or, below 1 %, `cold`."""
    return next((style for least, style in _HEAT if share >= least), cold)


_FILLS = ((0.3, 209), (0.1, 215), (0.0, 222))
_LIBRARY_FILL = 152


class Fill(NamedTuple):
    """The styles of an area: of text in it, and of what fills it, which does not show on it."""

    text: str
    area: str


def filled(share: float, *, library: bool) -> Fill:
    """How a call is drawn as an area: the user's own warm by its share, a library's cool."""
    fill = _LIBRARY_FILL if library else next(color for least, color in _FILLS if share >= least)
    return Fill(f"color(16) on color({fill})", f"color({fill}) on color({fill})")


GLUE = "\ue000"
"""Stands for a space at which a line may not break; a private character, so names have it escaped."""
_END = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")
"""Spaces at the end of a line, and the codes of styles among them."""
GAP = 2
"""Spaces between columns."""
_UNBOUND = 10_000
"""Cells of a terminal without a width: wider than any line, since names and sources are cut earlier."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its head and one cell a row."""

    head: str
    cells: Sequence[Text]
    justify: Literal["left", "right"] = "right"

    @property
    def width(self) -> int:
        """Cells that the widest entry takes."""
        return max((len(self.head), *(cell.cell_len for cell in self.cells)))


def table(columns: Sequence[Column]) -> Table:
    """Columns beside each other, as wide as their cells, under faint heads; no lines."""
    grid = Table(box=None, padding=(0, GAP, 0, 0), show_edge=False, header_style=FAINT, pad_edge=False)
    for column in columns:
        grid.add_column(Text(column.head), justify=column.justify, no_wrap=True, overflow="ellipsis")
    for row in zip(*(column.cells for column in columns), strict=True):
        grid.add_row(*row)
    return grid


def room_left(columns: Sequence[Column], terminal: Terminal) -> int | None:
    """Cells that the terminal has beside these columns, None where it has no end."""
    if terminal.width is None:
        return None
    return max(0, terminal.width - sum(column.width + GAP for column in columns))


def section(title: str, remark: str = "") -> Text:
    """The head of a part of the report, after an empty line."""
    head = Text(f"\n{title}", style=TITLE)
    return head.append(f"  {remark}" if remark else "", style=f"not bold {FAINT}")


def compose(blocks: Iterable[RenderableType], terminal: Terminal) -> str:
    """The blocks below each other: no line with spaces at its end, no line break after the last."""
    console = Console(
        file=io.StringIO(),
        width=terminal.width or _UNBOUND,
        color_system="256" if terminal.color else None,
        force_terminal=terminal.color,
        no_color=not terminal.color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        # NO_COLOR, COLUMNS and the like were read where the terminal was made.
        _environ={},
    )
    with console.capture() as captured:
        for block in blocks:
            console.print(block)
    lines = captured.get().replace(GLUE, " ").rstrip("\n").split("\n")
    return "\n".join(_END.sub(lambda end: end[0].replace(" ", ""), line) for line in lines)


_WIDEST = 100
_GLUED = 40  # Longer parts may break at their spaces.


def header(run: Run, terminal: Terminal) -> Iterator[RenderableType]:
    """The title, a rule and the facts of a run."""
    identity = (
        f"run {run.info.id}" if run.merged is None else count(len(run.merged.infos), "run") + ", merged"
    )
    yield from title(run.info.label, identity, terminal)
    yield fact_grid(facts(run))


def title(label: str, identity: str, terminal: Terminal) -> Iterator[RenderableType]:
    """A label on the left, what it is the label of on the right, and a rule below them."""
    width = min(terminal.width or _WIDEST, _WIDEST)
    line = Text(middle_cut(label, max(20, width - len(identity) - 2)), style=TITLE)
    line.append(" " * max(2, width - line.cell_len - len(identity)))
    line.append(identity, style=FAINT)
    yield line
    yield Text("─" * width, style=FAINT)


def fact_grid(rows: Sequence[Fact]) -> Table:
    """Facts below each other, their names right-justified; a name that repeats stands once."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    previous = ""
    for fact in rows:
        grid.add_row("" if fact.name == previous else fact.name, _line(fact))
        previous = fact.name
    return grid


def _line(fact: Fact) -> Text:
    line = Text()
    for number, part in enumerate(fact.parts):
        line.append(f"{GLUE}· " if number else "", style=FAINT)
        text = part.text if len(part.text) > _GLUED else part.text.replace(" ", GLUE)
        line.append(text, style=TONES[part.tone])
    return line


def remark(text: str) -> Text:
    """A faint line."""
    return Text(text, style=FAINT)
