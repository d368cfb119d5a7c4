"""Cut text to a number of terminal cells."""

from __future__ import annotations

from rich.cells import cell_len, get_character_cell_size

from profkit.render.escape import visible


def left_cut(text: str, width: int | None) -> str:
    """The right end of a text in at most `width` cells: the end of a path is what tells."""
    if width is None or cell_len(text) <= width:
        return text
    return f"…{_last(text, width - 1)}" if width > 1 else ""


def _last(text: str, cells: int) -> str:
    """As many characters of the end as fit; those of Chinese and others take two cells."""
    if text.isascii():
        return text[len(text) - cells :]
    start = len(text)
    while start and (cells := cells - get_character_cell_size(text[start - 1])) >= 0:
        start -= 1
    return text[start:]


def middle_cut(text: str, width: int) -> str:
    """`visible(text)` in at most `width` cells: the middle goes, both ends tell more."""
    shown = visible(text)
    if cell_len(shown) <= width:
        return shown
    head = (width - 1) // 2
    return f"{_last(shown[::-1], head)[::-1]}…{_last(shown, width - 1 - head)}"
