"""Text from a profiled program, made safe to print: shown as it is, or escaped, never interpreted."""

from __future__ import annotations

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
