"""Source lines of a page's heaviest functions, where their files can still be those that ran."""

from __future__ import annotations

import inspect
import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from profkit.render.escape import visible
from profkit.render.source import SourceLines

_BEFORE_AND_AFTER = 4
"""Lines shown around those that were seen, where a function's beginning and end are not known."""
_MOST_LINES = 400
"""Of one function."""
_LONGEST_LINE = 300
_MOST_FUNCTIONS = 500
"""Whose files are looked at."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A function, and the lines of it that were seen, the heaviest first."""

    number: int
    name: str
    file: str
    lines: Sequence[int]


class SourceBudget:
    """Gives out source until all excerpts together have `most_bytes` characters."""

    def __init__(self, source: SourceLines, most_bytes: int) -> None:
        self._source, self._left = source, most_bytes

    def excerpts(self, heaviest: Iterable[Seen]) -> dict[str, dict[str, object]]:
        """`first` and `lines` of functions by their number; nothing of those that there is no room for."""
        found: dict[str, dict[str, object]] = {}
        for seen in islice(heaviest, _MOST_FUNCTIONS):
            first, lines = _excerpt(seen, self._source.lines(seen.file))
            size = sum(map(len, lines))
            if lines and size <= self._left:
                self._left -= size
                found[str(seen.number)] = {"first": first, "lines": lines}
        return found

    def changed(self) -> list[str]:
        """Files that changed after the run, so that their source is not given out."""
        return sorted(self._source.changed)

    def refused(self) -> bool:
        """Whether files were not opened because the run may not be this user's own."""
        return self._source.refused


def _excerpt(seen: Seen, text: Sequence[str]) -> tuple[int, list[str]]:
    """The number of the first line, and the lines; no lines where the file is not the one that ran."""
    known = [line for line in seen.lines if 0 < line <= len(text)]
    if not known:
        return 0, []
    first, last = _extent(seen.name, min(known), max(known), text)
    if last - first >= _MOST_LINES:
        first = max(first, known[0] - _MOST_LINES // 2)
        last = min(last, first + _MOST_LINES - 1)
    return first, [visible(line.expandtabs(4))[:_LONGEST_LINE] for line in text[first - 1 : last]]


def _extent(name: str, lowest: int, highest: int, text: Sequence[str]) -> tuple[int, int]:
    """First and last line: of the whole function, where its `def` is found above the lines that were seen."""
    define = re.compile(rf"\s*(?:async\s+)?(?:def|class)\s+{re.escape(name.rpartition('.')[2])}\b")
    first = next((line for line in range(lowest, 0, -1) if define.match(text[line - 1])), None)
    if first is not None:
        last = first + _length(text[first - 1 :]) - 1
        if last >= lowest:
            return first, max(highest, last)
    return max(1, lowest - _BEFORE_AND_AFTER), min(len(text), highest + _BEFORE_AND_AFTER)


def _length(text: Sequence[str]) -> int:
    """Lines of the block that begins there."""
    try:
        return len(inspect.getblock([f"{line}\n" for line in text[:_MOST_LINES]]))
    except (tokenize.TokenError, SyntaxError):
        return 1
