"""Escaping of text from profiled programs, for terminals and for Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MAX_NAME = 160
"""Maximum number of characters of a name; longer names are cut in the middle."""


def visible(text: str) -> str:
    r"""Return the text with unprintable characters escaped: ESC becomes `\x1b`.

    These are control characters, ANSI sequences, bidirectional overrides, zero-width characters, line
    breaks and lone surrogates.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def short(text: str, limit: int = MAX_NAME) -> str:
    """Return `visible(text)` in at most `limit` characters; cut the middle."""
    shown = visible(text)
    if len(shown) <= limit:
        return shown
    head = (limit - 1) // 2
    return f"{shown[:head]}…{shown[len(shown) - (limit - 1 - head) :]}"


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


_SPECIAL = re.compile(r"([\\`*_{}\[\]#<>&~@$])")


def plain(text: str, limit: int = 160) -> str:
    """Escape all that Markdown or a forge would interpret, except pipes, which `table` escapes."""
    return _SPECIAL.sub(r"\\\1", short(text, limit))


def code(text: str, limit: int = 100) -> str:
    """Return a code span, fenced by more backticks than any run inside (CommonMark 0.31, 6.1)."""
    shown = short(text, limit)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    edge = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def code_block(lines: Iterable[str]) -> str:
    """Return the lines verbatim in a code fence that none of them closes."""
    text = "\n".join(map(visible, lines))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in GitHub's Markdown; columns whose head ends in a colon are aligned right.

    Cells must be Markdown already.
    """
    aligned = ["--:" if name.endswith(":") else "---" for name in head]
    names = [name.removesuffix(":") for name in head]
    return "\n".join(_row(cells) for cells in (names, aligned, *rows))


def _row(cells: Sequence[str]) -> str:
    # GFM splits a row at each pipe without a backslash, in code spans too, and then removes the backslash.
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"
