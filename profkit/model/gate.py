"""What a gate found: each order's change against the limit, and what all of them come to."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Outcome(enum.Enum):
    """What a gate says; the value is the word that JSON carries."""

    OK = "ok"
    REGRESSION = "regression"
    FASTER = "faster"
    """More than the limit faster, where that was to be told."""
    INCONCLUSIVE = "inconclusive"


class Measure(enum.Enum):
    """What was held against the limit; the value is the word that JSON carries."""

    TIME = "time"
    INSTRUCTIONS = "instructions"
    CALL = "time of one call"


@dataclass(frozen=True, slots=True)
class Check:
    """One figure of one order against the limit."""

    name: str
    measure: Measure
    outcome: Outcome
    why: str
    """The outcome with its figures; where it is inconclusive, what would decide it."""
    ratio: float | None = None
    """Of the current figure to the baseline's."""
    low: float | None = None
    """Between which bounds the ratio lies, as far as that is known."""
    high: float | None = None


@dataclass(frozen=True, slots=True)
class GateResult:
    """All checks of a gate."""

    baseline: str
    """What the baseline is called."""
    limit: float
    """The largest slowdown that is let through: 0.03 for 3 %."""
    checks: tuple[Check, ...]

    @property
    def outcome(self) -> Outcome:
        """Of all orders: a regression of any, else a gain to be told, else what was inconclusive of any."""
        found = {self.of_order(name) for name in dict.fromkeys(check.name for check in self.checks)}
        return next((worst for worst in _WORST_FIRST if worst in found), Outcome.INCONCLUSIVE)

    def of_order(self, name: str) -> Outcome:
        """Of one order: what cannot be told from its times its instructions may tell, and the other way."""
        found = {check.outcome for check in self.checks if check.name == name}
        decided = found - {Outcome.INCONCLUSIVE}
        return next((worst for worst in _WORST_FIRST if worst in (decided or found)), Outcome.INCONCLUSIVE)


_WORST_FIRST = (Outcome.REGRESSION, Outcome.FASTER, Outcome.INCONCLUSIVE, Outcome.OK)
