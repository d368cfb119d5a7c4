"""Cut text to a width in terminal cells."""

from __future__ import annotations

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
