"""Text in terminal cells: how names and paths are cut to a width, and the guides of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.cells import cell_len, get_character_cell_size

from profkit.render.escape import visible


def left_cut(text: str, width: int | None) -> str:
    """Return the right end of a text, such as a path, in at most `width` cells."""
    if width is None or cell_len(text) <= width:
        return text
    return f"…{_last(text, width - 1)}" if width > 1 else ""


def _last(text: str, cells: int) -> str:
    """Return as many characters of the end as fit; East Asian ones take two cells."""
    if text.isascii():
        return text[len(text) - cells :]
    start = len(text)
    while start and (cells := cells - get_character_cell_size(text[start - 1])) >= 0:
        start -= 1
    return text[start:]


def middle_cut(text: str, width: int) -> str:
    """Return `visible(text)` in at most `width` cells; cut the middle."""
    shown = visible(text)
    if cell_len(shown) <= width:
        return shown
    head = (width - 1) // 2
    return f"{_last(shown[::-1], head)[::-1]}…{_last(shown, width - 1 - head)}"


_DEEPEST = 24
"""Maximum number of levels of guides without a terminal's limit."""


def guides(rows: Sequence[Placed], room: int | None) -> list[str]:
    """Return the lines before each row that connect it to its parent; deep ones are cut on the left."""
    most = _DEEPEST * 2 if room is None else max(4, room // 2)
    drawn: list[str] = []
    open_levels: list[bool] = []
    for row in rows:
        del open_levels[row.depth :]
        above = "".join("│ " if more else "  " for more in open_levels[1:])
        own = ("└ " if row.last else "├ ") if row.depth else ""
        drawn.append(left_cut(above + own, most))
        open_levels.append(not row.last)
    return drawn


class Placed(Protocol):
    """A row of any tree."""

    @property
    def depth(self) -> int:
        """Number of levels above it."""

    @property
    def last(self) -> bool:
        """Whether it is the last of its siblings."""
