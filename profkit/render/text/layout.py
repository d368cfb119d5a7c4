"""Rich, held at one place: columns, sections, and a page of them as a string."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len, get_character_cell_size
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from profkit.render.escape import visible
from profkit.render.page import Page
from profkit.render.text.palette import FAINT, TITLE

GLUE = "\ue000"
"""Stands for a space at which a line may not break; a private character, so names have it escaped."""
_END = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")
"""Spaces at the end of a line, and the codes of styles among them."""
GAP = 2
"""Spaces between columns."""
_UNBOUND = 10_000
"""Cells of a page as wide as its content: wider than any line, since names and sources are cut earlier."""


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


def room_left(columns: Sequence[Column], page: Page) -> int | None:
    """Cells that the page has beside these columns, None where it has no end."""
    if page.width is None:
        return None
    return max(0, page.width - sum(column.width + GAP for column in columns))


def section(title: str, remark: str = "") -> Text:
    """The head of a part of the report, after an empty line."""
    head = Text(f"\n{title}", style=TITLE)
    return head.append(f"  {remark}" if remark else "", style=f"not bold {FAINT}")


def remark(text: str) -> Text:
    """A faint line."""
    return Text(text, style=FAINT)


def left_cut(text: str, width: int | None) -> str:
    """The right end of a text in at most `width` cells: the end of a path is what tells."""
    if width is None or cell_len(text) <= width:
        return text
    return f"…{_last(text, width - 1)}" if width > 1 else ""


def middle_cut(text: str, width: int) -> str:
    """`visible(text)` in at most `width` cells: the middle goes, both ends tell more."""
    shown = visible(text)
    if cell_len(shown) <= width:
        return shown
    head = (width - 1) // 2
    return f"{_last(shown[::-1], head)[::-1]}…{_last(shown, width - 1 - head)}"


def _last(text: str, cells: int) -> str:
    """As many characters of the end as fit; those of Chinese and others take two cells."""
    if text.isascii():
        return text[len(text) - cells :]
    start = len(text)
    while start and (cells := cells - get_character_cell_size(text[start - 1])) >= 0:
        start -= 1
    return text[start:]


def compose(blocks: Iterable[RenderableType], page: Page) -> str:
    """The blocks below each other: no line with spaces at its end, no line break after the last."""
    console = Console(
        file=io.StringIO(),
        width=page.width or _UNBOUND,
        color_system="256" if page.color else None,
        force_terminal=page.color,
        no_color=not page.color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        # NO_COLOR, COLUMNS and the like were read where the page was made.
        _environ={},
    )
    with console.capture() as captured:
        for block in blocks:
            console.print(block)
    lines = captured.get().replace(GLUE, " ").rstrip("\n").split("\n")
    return "\n".join(_END.sub(lambda end: end[0].replace(" ", ""), line) for line in lines)
