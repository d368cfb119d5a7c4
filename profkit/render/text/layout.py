"""Layout of text reports with rich: columns, sections, colours."""

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
from profkit.render.escape import visible
from profkit.render.formatting import Tone, count
from profkit.render.options import Terminal
from profkit.render.views.header import DETAILS, Fact, facts

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
    """Return the style for a share of all samples: hot, warm, plain, or `cold` below 1 %."""
    return next((style for least, style in _HEAT if share >= least), cold)


_FILLS = ((0.3, 209), (0.1, 215), (0.0, 222))
_LIBRARY_FILL = 152


class Fill(NamedTuple):
    """Styles of an area: its text, and its filling, which is invisible in colour."""

    text: str
    area: str


def filled(share: float, *, library: bool) -> Fill:
    """Return the styles of a call's area: warm by its share for the user's code, cool for a library's."""
    fill = _LIBRARY_FILL if library else next(color for least, color in _FILLS if share >= least)
    return Fill(f"color(16) on color({fill})", f"color({fill}) on color({fill})")


GLUE = "\ue000"
"""Placeholder of a non-breaking space; a private-use character, which names contain only escaped."""
_END = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")
"""Spaces and style codes at the end of a line."""
GAP = 2
"""Spaces between columns."""
_UNLIMITED = 10_000
"""Width for unlimited terminals, in cells: wider than any line, since names and sources are cut earlier."""


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table: its heading and one cell per row."""

    head: str
    cells: Sequence[Text]
    justify: Literal["left", "right"] = "right"

    @property
    def width(self) -> int:
        """Width of the widest entry, in cells."""
        return max((len(self.head), *(cell.cell_len for cell in self.cells)))


def table(columns: Sequence[Column]) -> Table:
    """Build a table without lines; columns are as wide as their cells and have faint headings."""
    grid = Table(box=None, padding=(0, GAP, 0, 0), show_edge=False, header_style=FAINT, pad_edge=False)
    for column in columns:
        grid.add_column(Text(column.head), justify=column.justify, no_wrap=True, overflow="ellipsis")
    for row in zip(*(column.cells for column in columns), strict=True):
        grid.add_row(*row)
    return grid


def room_left(columns: Sequence[Column], terminal: Terminal) -> int | None:
    """Return the cells that the terminal has beside these columns; None if its width is unlimited."""
    if terminal.width is None:
        return None
    return max(0, terminal.width - sum(column.width + GAP for column in columns))


def section(title: str, remark: str = "") -> Text:
    """Return the heading of a section, after an empty line."""
    head = Text(f"\n{title}", style=TITLE)
    return head.append(f"  {remark}" if remark else "", style=f"not bold {FAINT}")


def compose(blocks: Iterable[RenderableType], terminal: Terminal) -> str:
    """Render blocks below each other, without trailing spaces or a final line break."""
    console = Console(
        file=io.StringIO(),
        width=terminal.width or _UNLIMITED,
        color_system="256" if terminal.color else None,
        force_terminal=terminal.color,
        force_jupyter=False,  # else it also displays the text as HTML in a notebook
        no_color=not terminal.color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        # `Terminal` has already taken NO_COLOR, COLUMNS and the like into account.
        _environ={},
    )
    with console.capture() as captured:
        for block in blocks:
            console.print(block)
    lines = captured.get().replace(GLUE, " ").rstrip("\n").split("\n")
    return "\n".join(_END.sub(lambda end: end[0].replace(" ", ""), line) for line in lines)


_WIDEST = 100
_GLUED = 40
"""Longest part that does not break at its spaces, in characters."""


def header(run: Run, terminal: Terminal, sentences: Sequence[str] = ()) -> Iterator[RenderableType]:
    """Yield a run's title, a rule, sentences whose first is the most important, and its facts."""
    identity = (
        f"run {run.info.id}" if run.merged is None else count(len(run.merged.infos), "run") + ", merged"
    )
    yield from title(run.info.label, identity, terminal)
    for number, sentence in enumerate(sentences):
        yield Text(visible(sentence), style="" if number else TITLE)
    if sentences:
        yield Text()
    yield fact_grid([fact for fact in facts(run) if fact.name not in DETAILS])


def details(run: Run) -> Iterator[RenderableType]:
    """Yield the facts about the sampler and the process."""
    found = [fact for fact in facts(run) if fact.name in DETAILS]
    if found:
        yield section("Details")
        yield fact_grid(found)


def title(label: str, identity: str, terminal: Terminal) -> Iterator[RenderableType]:
    """Yield a label on the left, its owner's identity on the right, and a rule below them."""
    width = min(terminal.width or _WIDEST, _WIDEST)
    line = Text(middle_cut(label, max(20, width - len(identity) - 2)), style=TITLE)
    line.append(" " * max(2, width - line.cell_len - len(identity)))
    line.append(identity, style=FAINT)
    yield line
    yield Text("─" * width, style=FAINT)


def fact_grid(rows: Sequence[Fact]) -> Table:
    """Build a grid of facts with right-justified names; a repeated name is shown once."""
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


def comparison_head(sentences: Iterable[str], runs: Iterable[str]) -> Iterator[RenderableType]:
    """Yield the beginning of a comparison: its summary, and the runs of A and B."""
    first, *others = sentences
    yield Text(visible(first), style=TITLE)
    yield from (Text(visible(sentence)) for sentence in others)
    yield Text()
    for name, text in zip("AB", runs, strict=True):
        yield remark(f"{name}  {text}")


def comparison_notes(notes: Iterable[str]) -> Iterator[RenderableType]:
    """Yield notes on a comparison, which follow its result."""
    yield from (Text(visible(note), style=TONES[Tone.WARN]) for note in notes)


def remark(text: str) -> Text:
    """Return a faint line."""
    return Text(text, style=FAINT)
