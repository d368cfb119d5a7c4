"""Any Python string as one that UTF-8 can hold, and back: protobuf's strings are valid UTF-8.

A lone surrogate is spelled as Python spells it, `\\udc80`. Backslashes before one are doubled, and so are
those before text that would read as one; everything else stays as it is.
"""

from __future__ import annotations

import re

# A run of backslashes is matched from its beginning alone: from each of its places would be quadratic.
_TO_SPELL = re.compile(r"(?<!\\)(\\*)([\ud800-\udfff])|(?<!\\)(\\+)(?=ud[89a-f][0-9a-f]{2})")
_SPELLED = re.compile(r"(?<!\\)(\\+)u(d[89a-f][0-9a-f]{2})")


def spell(text: str) -> str:
    """The string without lone surrogates that stands for `text`."""
    if text.isprintable() and "\\" not in text:
        return text
    return _TO_SPELL.sub(_spelled, text)


def unspell(text: str) -> str:
    """The string that `spell` was given."""
    return _SPELLED.sub(_unspelled, text) if "\\ud" in text else text


def _spelled(match: re.Match[str]) -> str:
    before, surrogate, backslashes = match.groups()
    return f"{before * 2}\\u{ord(surrogate):x}" if surrogate else backslashes * 2


def _unspelled(match: re.Match[str]) -> str:
    backslashes, digits = match.groups()
    before = backslashes[: len(backslashes) // 2]
    return before + (chr(int(digits, 16)) if len(backslashes) % 2 else f"u{digits}")
