"""Rules for joining a session; the manager calls them under its lock."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from profkit.model.notes import Note, NoteCode
from profkit.model.region import RegionKind
from profkit.samplers.options import SamplerOptions
from profkit.session.counters import Counters, Policy

if TYPE_CHECKING:
    from profkit.session.session import Session

_SEPARATE_S = 1.0
"""Minimum age of a session before another starts only to separate two versions of a block."""
_MOST_SEPARATIONS = 5
"""Sessions that start only for that, for one block: more labels than that are made from data."""


class Decision(enum.Enum):
    """Outcome of a call's request for a session."""

    START = "start a session"
    JOIN = "join the session"
    SHARE = "join a session that runs under other options"
    REPLACE = "end the idle session and start another"
    WAIT = "wait until the others are done"
    SKIP = "run unprofiled"
    RAISE = "raise ProfilerBusy"


def decide(
    current: SamplerOptions | None, requested: SamplerOptions, policy: Policy, *, busy: bool, nested: bool
) -> Decision:  # fmt: skip
    """Decide how a call gets a session, if at all.

    `current` are the session's options, None without a session. `busy`: a region of another call context is
    active; `nested`: one of the same context is. A session of scope "process" is never shared.
    """
    if current is None:
        return Decision.START
    exclusive = "process" in (current.scope, requested.scope)
    if nested or (current == requested and not (exclusive and busy)):
        return Decision.JOIN
    if not busy:
        return Decision.REPLACE
    if policy.on_busy == "wait":
        return Decision.WAIT
    if policy.on_busy == "raise" and policy.strict:
        return Decision.RAISE
    return Decision.SHARE if policy.on_busy == "share" and not exclusive else Decision.SKIP


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
