"""How long the steps of a batch take, kind by kind, and how long those that are left will take."""

from __future__ import annotations

from dataclasses import dataclass, field

_LEAST_STEPS = 3
_LEAST_PART = 0.02
"""Steps of a kind, and part of all of them, that must be done before anything is said of the others."""


@dataclass(slots=True)
class _Kind:
    total: int = 0
    done: int = 0
    spent_s: float = 0.0
    """Time of all steps but the first, which starts what the others use."""
    least_s: float = 0.0
    """Minimum time of all steps."""

    def add(self, steps: int, least_s: float) -> None:
        if steps < 0 < self.total:
            self.least_s *= (self.total + steps) / self.total
        self.total += steps
        self.least_s += least_s

    @property
    def left(self) -> int:
        return max(0, self.total - self.done)

    @property
    def step_s(self) -> float | None:
        """Mean time of a step; None before enough of them are done."""
        if self.done < max(_LEAST_STEPS, _LEAST_PART * self.total):
            return None
        return self.spent_s / (self.done - 1)

    @property
    def left_s(self) -> float:
        step_s = self.least_s / self.total if self.step_s is None else self.step_s
        return self.left * step_s


@dataclass(frozen=True, slots=True)
class Left:
    """Time that is left."""

    seconds: float
    at_least: bool
    """Whether the pace of some kind of step is unknown, so that its minimum time was used."""


@dataclass(slots=True)
class Pace:
    """Steps of several kinds, such as counting and timing, that take very different times."""

    kinds: dict[str, _Kind] = field(default_factory=dict)
    last_s: float | None = None
    """When the last step was done."""

    @property
    def total(self) -> int:
        """Steps of all kinds."""
        return sum(kind.total for kind in self.kinds.values())

    @property
    def done(self) -> int:
        """Steps that are done."""
        return sum(kind.done for kind in self.kinds.values())

    def add(self, steps: int, kind: str, least_s: float = 0.0) -> None:
        """Add steps that take at least `least_s` altogether; a negative number removes steps."""
        self.kinds.setdefault(kind, _Kind()).add(steps, least_s)

    def step(self, kind: str, now_s: float) -> None:
        """Note that a step is done; with several workers steps follow each other sooner."""
        known = self.kinds.setdefault(kind, _Kind())
        if known.done and self.last_s is not None:
            known.spent_s += now_s - self.last_s
        known.done += 1
        self.last_s = now_s

    def left(self, now_s: float) -> Left | None:
        """Return the time that is left; None if nothing can be said of it."""
        open_kinds = [kind for kind in self.kinds.values() if kind.left]
        known = {kind.step_s for kind in open_kinds} - {None}
        if not known or self.last_s is None:
            return None
        seconds = sum(kind.left_s for kind in open_kinds)
        under_way_s = min(now_s - self.last_s, max(step_s or 0.0 for step_s in known))
        at_least = any(kind.step_s is None for kind in open_kinds)
        return Left(max(0.0, seconds - under_way_s), at_least)
