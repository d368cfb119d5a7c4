r"""Escapes for what a line of collapsed stacks cannot hold, and back.

A character is spelled as in Python's source: `;` as `\x3b`, a line break as `\x0a`, a lone surrogate as
`\udc80`. Only lower-case escapes of those forms are read, and a backslash that stands before text like
that is doubled: all other text, that of other tools above all, means what it says.
"""

from __future__ import annotations

import re

_ESCAPE = r"x[0-9a-f]{2}|u[0-9a-f]{4}"
# What separates frames and lines, for some reader or other: control characters and Unicode's breaks.
_UNFIT = r"[;\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
# A run of backslashes is matched from its beginning alone: from each of its places would be quadratic.
_RUN = r"(?<!\\)"
_TO_ESCAPE = re.compile(rf"{_RUN}(\\*)({_UNFIT})|{_RUN}(\\+)(?={_ESCAPE})")
# What tells files, lines, threads, processes and comments.
_MARK = r"[()]|:(?=\d+\Z)|^[tp#]"
_MARKS_TOO = re.compile(rf"{_RUN}(\\*)({_UNFIT}|{_MARK})|{_RUN}(\\+)(?={_ESCAPE})")
_ESCAPED = re.compile(rf"{_RUN}(\\+)({_ESCAPE})")


def escape(text: str) -> str:
    """Text without `;`, control characters, line breaks and lone surrogates."""
    if text.isprintable() and ";" not in text and "\\" not in text:
        return text
    return _TO_ESCAPE.sub(_written, text)


def escape_marks(text: str) -> str:
    """The same, also without what would make a name read as something else."""
    return _MARKS_TOO.sub(_written, text)


def unescape(text: str) -> str:
    """The text that `escape` was given."""
    return _ESCAPED.sub(_read, text) if "\\" in text else text


def _written(match: re.Match[str]) -> str:
    before, char, backslashes = match.groups()
    if not char:
        return backslashes * 2
    return before * 2 + (f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}")


def _read(match: re.Match[str]) -> str:
    backslashes, digits = match.groups()
    kept = backslashes[: len(backslashes) // 2]
    return kept + (chr(int(digits[1:], 16)) if len(backslashes) % 2 else digits)
