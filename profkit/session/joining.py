"""Blocks that share lines, as two versions or labels do: whether a new session starts to separate them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from profkit.model.notes import Note, NoteCode
from profkit.model.region import RegionKind
from profkit.session.counters import Counters

if TYPE_CHECKING:
    from profkit.session.session import Session

_SEPARATE_S = 1.0
"""Minimum age of a session before another starts only to separate two versions of a block."""
_MOST_SEPARATIONS = 5
"""Sessions that start only for that, for one block: more labels than that are made from data."""


def _conflicting_block(counters: Counters, others: Iterable[Counters]) -> Counters | None:
    """Return another block whose samples cannot be distinguished from those of this one.

    Samples show the function, the file and the line. Such a block is another version of this one, or
    another label for the same `with` statement.
    """
    return next((other for other in others if _conflict(counters, other)), None)


def _conflict(one: Counters, other: Counters) -> bool:
    if other.code is None or one.region.id == other.region.id:
        return False
    a, b = one.region, other.region
    if (a.file, a.key.qualname) != (b.file, b.key.qualname) or set(a.body).isdisjoint(b.body):
        return False
    return a.key.line == b.key.line or one.code != other.code


class Separations:
    """Sessions that are started only to separate two versions of a block."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, int]] = Counter()
        """By the block's code and line."""

    def is_due(self, session: Session, counters: Counters, age_s: float) -> bool:
        """Return whether to end a session of this age for such a block; else note in it that there are two.

        The age of a session that cannot end now is 0.
        """
        place = id(counters.code), counters.region.key.line
        if counters.code is None or place in session.indistinct:
            return False
        conflicting = _conflicting_block(counters, session.counters)
        if conflicting is None:
            return False
        if age_s >= _SEPARATE_S and self._counts[place] < _MOST_SEPARATIONS:
            self._counts[place] += 1
            return True
        session.indistinct.add(place)
        one, other = counters.region.key, conflicting.region.key
        note = Note.of(NoteCode.SAME_LINES, label=one.label, other=other.label, function=one.qualname)
        session.add_note(note)
        return False


def is_of_program(counters: Sequence[Counters]) -> bool:
    """Return whether a session was started for its whole program; `counters` are the session's."""
    return bool(counters) and counters[0].region.kind is RegionKind.PROGRAM
