"""Rules for joining a session; the manager calls them under its lock."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

import profkit.stats  # noqa: F401 - counters need it later, when an import may fail
from profkit.model.notes import Note, NoteCode
from profkit.model.region import RegionKind
from profkit.samplers.options import SamplerOptions
from profkit.session.counters import Counters, Policy

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


def conflicting_block(counters: Counters, others: Iterable[Counters]) -> Counters | None:
    """Return another block whose samples cannot be distinguished from those of this one.

    Samples show the function, the file and the line. Such a block is another version of this one, or
    another label for the same `with` statement.
    """
    if counters.code is None:  # no block; there may be thousands of others
        return None
    return next((other for other in others if _conflict(counters, other)), None)


def _conflict(one: Counters, other: Counters) -> bool:
    if one is other or one.code is None or other.code is None or one.region.id == other.region.id:
        return False
    one_region, other_region = one.region, other.region
    in_one_place = (one_region.file, one_region.key.qualname) == (
        other_region.file,
        other_region.key.qualname,
    )
    if not in_one_place or set(one_region.body).isdisjoint(other_region.body):
        return False
    return one_region.key.line == other_region.key.line or one.code != other.code


class Separable(Protocol):
    """A session, as far as `Separations` needs it."""

    counters: list[Counters]
    indistinct: set[tuple[int, int]]

    def add_note(self, note: Note) -> None:
        """Add a note for the report."""


class Separations:
    """Sessions that are started only to separate two versions of a block."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, int]] = Counter()
        """By the block's code and line."""

    def is_due(self, session: Separable, counters: Counters, age_s: float) -> bool:
        """Return whether to end a session of this age for such a block; else note in it that there are two.

        The age of a session that cannot end now is 0.
        """
        place = id(counters.code), counters.region.key.line
        if counters.code is None or place in session.indistinct:
            return False
        conflicting = conflicting_block(counters, session.counters)
        if conflicting is None:
            return False
        if age_s >= _SEPARATE_S and self._counts[place] < _MOST_SEPARATIONS:
            self._counts[place] += 1
            return True
        session.indistinct.add(place)
        session.add_note(conflict_note(counters, conflicting))
        return False


def conflict_note(counters: Counters, rival: Counters) -> Note:
    """Return the note for a session in which two blocks' samples cannot be distinguished."""
    one, other = counters.region.key, rival.region.key
    return Note.of(NoteCode.SAME_LINES, label=one.label, other=other.label, function=one.qualname)


def is_of_program(counters: Sequence[Counters]) -> bool:
    """Return whether a session was started for its whole program; `counters` are the session's."""
    return bool(counters) and counters[0].region.kind is RegionKind.PROGRAM


def sharing_message(label: str, holder: str) -> str:
    """Return the log message for a call that asked for other options than its session's."""
    return (
        f"{label!r} shares the session that {holder!r} started with other sampler options; its run "
        "records the options in effect"
    )
