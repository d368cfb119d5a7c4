"""Which calls of a function differ enough from earlier ones to be measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from profkit.measuring.travel.signature import Likeness, likeness_of, signature_of
from profkit.originals import REAL

MOST_SIGNATURES = 32
"""Kinds of arguments that are measured of a function, if nobody asks for another number."""

MOST_VALUES = 4
"""Values of each parameter that make a kind of their own, if nobody asks for a number of kinds."""

_MOST_KNOWN = 4096
"""Signatures that are remembered, so that looking at their calls again takes no time."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A call that is to be measured, and what it was the first to show."""

    signature: str
    shape: str | None = None
    """None: an earlier call had the same."""
    values: tuple[tuple[str, str], ...] = ()


class Kinds:
    """The kinds of arguments that a function was called with; any thread may use it.

    A loop over numbers is one kind of call, not one for each number: a call is of a new kind if types, shapes
    or modes are new, or if a parameter has one of its first `MOST_VALUES` values (for containers: lengths).
    With a limit of the user's every signature is a kind.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = MOST_SIGNATURES if most is None else most
        self._exact = most is not None
        self.refused = False
        """Whether a call of a new kind was not claimed, because there were enough."""
        self._lock = REAL.allocate_lock()
        self._claimed: set[str] = set()
        self._known: set[str] = set()
        """The claimed signatures, and others that are of no new kind."""
        self._shapes: set[str] = set()
        self._values: dict[str, set[str]] = {}

    @property
    def closed(self) -> bool:
        """Whether there are as many kinds as are measured, and one more was refused."""
        return self.refused and len(self._claimed) >= self.most

    def claim(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Claim | None:
        """Return the claim of a call that is of a new kind; None for others, and if there are enough."""
        signature = signature_of(args, kwargs)
        if signature in self._known:
            return None
        likeness = None if self._exact else likeness_of(args, kwargs)
        with self._lock:
            if signature in self._known:
                return None
            claim = Claim(signature) if likeness is None else self._new(signature, likeness)
            if claim is not None and len(self._claimed) >= self.most:
                self.refused = True
                return None
            self._note(signature, claim)
        return claim

    def release(self, claim: Claim) -> None:
        """Take back a claim: another call of its kind may be measured."""
        with self._lock:
            self._claimed.discard(claim.signature)
            # Some signatures may have been of a known kind because of this claim alone.
            self._known = set(self._claimed)
            if claim.shape is not None:
                self._shapes.discard(claim.shape)
            for parameter, value in claim.values:
                self._values[parameter].discard(value)

    def _new(self, signature: str, likeness: Likeness) -> Claim | None:
        shape = None if likeness.shape in self._shapes else likeness.shape
        values = tuple(pair for pair in likeness.values if self._is_new_value(*pair))
        return Claim(signature, shape, values) if shape is not None or values else None

    def _note(self, signature: str, claim: Claim | None) -> None:
        if claim is None:
            if len(self._known) < _MOST_KNOWN:
                self._known.add(signature)
            return
        self._claimed.add(signature)
        self._known.add(signature)
        if claim.shape is not None:
            self._shapes.add(claim.shape)
        for parameter, value in claim.values:
            self._values.setdefault(parameter, set()).add(value)

    def _is_new_value(self, parameter: str, value: str) -> bool:
        known = self._values.get(parameter, ())
        return value not in known and len(known) < MOST_VALUES
