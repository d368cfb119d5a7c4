"""Injections of faults, whose choices derive from a seed, and their outcomes."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

HELD, BROKEN, NOT_RUN = "held", "broken", "not run"
_GOLDEN = (math.sqrt(5) - 1) / 2
_T = TypeVar("_T")


class NotPermitted(RuntimeError):
    """This machine does not permit a fault; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Injection:
    """One injection of a fault: every choice in it derives from these three."""

    fault: str
    seed: int
    number: int
    short: bool = False
    """True for the short form's durations; moments are the same in both forms."""

    def generator(self, purpose: str = "") -> random.Random:
        """Return a random generator for this injection; different for each purpose."""
        return random.Random(f"{self.seed}/{self.fault}/{self.number}/{purpose}")

    def moment_s(self, latest_s: float, early_s: float = 0.06) -> float:
        """Return a random moment, in seconds from the first profiled call.

        One in three is within the first `early_s` seconds, while the sampler starts.
        """
        rng = self.generator("moment")
        return rng.uniform(0, early_s) if rng.random() < 1 / 3 else rng.uniform(0, latest_s)

    def variant(self, variants: Sequence[_T]) -> _T:
        """Return one of the variants, which rotate with the number."""
        return variants[self.number % len(variants)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one injection. `changed` counts programs that behaved differently."""

    injected: int = 1
    taken: int = 0
    """Number of profiles taken, according to the target's own log."""
    recovered: int = 0
    """Number of those that `profkit list` has."""
    processes_left: int = 0
    files_left: int = 0
    locks_left: int = 0
    changed: int = 0
    problems: tuple[str, ...] = ()
    """Failed checks, in words."""
    not_run: str = ""
    """Reason why the fault could not be injected on this machine; empty if it was."""

    @property
    def verdict(self) -> str:
        """Summary: whether all checks passed."""
        if self.not_run:
            return NOT_RUN
        left = self.processes_left or self.files_left or self.locks_left
        lost = self.recovered != self.taken
        return BROKEN if lost or left or self.changed or self.problems else HELD

    def with_problem(self, problem: str, *, changed: int = 0) -> Outcome:
        """Return the outcome with one more problem, and `changed` more changed programs."""
        return replace(self, problems=(*self.problems, problem), changed=self.changed + changed)

    def to_object(self) -> dict[str, object]:
        """Return the outcome as a JSON object."""
        return asdict(self)


def outcome_from(document: Mapping[str, Any]) -> Outcome:
    """Return the outcome that `to_object` wrote."""
    return Outcome(**{**document, "problems": tuple(document["problems"])})


def chosen_numbers(full: int, count: int, seed: int) -> tuple[int, ...]:
    """Return `count` of the numbers 0 to `full` - 1, spread evenly; all of them if `count` is larger.

    The step has no divisor in common with `full`: if a fault's variant is its number modulo a divisor of
    `full`, a few numbers cover all variants.
    """
    if count >= full:
        return tuple(range(full))
    step = next(step for step in range(max(1, round(full * _GOLDEN)), 2 * full) if math.gcd(step, full) == 1)
    return tuple(sorted((seed + position * step) % full for position in range(count)))
