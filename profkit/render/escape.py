"""Make text from a profiled program safe to print: escaped for terminals, and for Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MAX_NAME = 160
"""Characters of a name that a report shows; a longer one loses its middle."""


def visible(text: str) -> str:
    r"""`text` with everything that does not print as a character of its own written as an escape.

    That is control characters, ANSI sequences, bidirectional overrides, zero-width characters, line
    breaks and lone surrogates: ESC becomes `\x1b`.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def short(text: str, limit: int = MAX_NAME) -> str:
    """`visible(text)` in at most `limit` characters: the middle goes, both ends tell more."""
    shown = visible(text)
    if len(shown) <= limit:
        return shown
    head = (limit - 1) // 2
    return f"{shown[:head]}…{shown[len(shown) - (limit - 1 - head) :]}"


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


_SPECIAL = re.compile(r"([\\`*_{}\[\]#<>&~@$])")


def plain(text: str, limit: int = 160) -> str:
    """Text as it reads: what Markdown or a forge would act on is escaped, but for a table's pipes."""
    return _SPECIAL.sub(r"\\\1", short(text, limit))


def code(text: str, limit: int = 100) -> str:
    """A code span; its fence is longer than any run of backticks inside (CommonMark 0.31, 6.1)."""
    shown = short(text, limit)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    edge = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def code_block(lines: Iterable[str]) -> str:
    """Lines as they stand, in a fence that none of them closes."""
    text = "\n".join(map(visible, lines))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as GitHub's Markdown has it; a column whose head ends in a colon is aligned right.

    Cells are Markdown already.
    """
    aligned = ["--:" if name.endswith(":") else "---" for name in head]
    names = [name.removesuffix(":") for name in head]
    return "\n".join(_row(cells) for cells in (names, aligned, *rows))


def _row(cells: Sequence[str]) -> str:
    # GFM splits a row at each pipe but those after a backslash, in code spans too, and then drops that.
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"
