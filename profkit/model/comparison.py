"""A comparison of sampled runs: what is known of each function's share on both sides, and what changed."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from profkit.model.profile import Profile
from profkit.model.run import RunInfo


class Change(enum.Enum):
    """What became of a share from A to B; the value is the word that files carry."""

    MORE = "more"
    LESS = "less"
    NOISE = "noise"
    """Nothing that the noise, or a difference too small to matter, does not explain."""


class Grade(enum.Enum):
    """What a comparison is worth; the value is the word that files carry."""

    INDICATIVE = "indicative"
    """How much runs differ by themselves is not known on some side, only assumed."""
    CONFIRMED = "confirmed"
    """Each side has several alike runs, whose own differences are allowed for."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and between which bounds it lies with 95 % confidence."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """B's value less A's; the bounds and p allow for all functions that were looked at (Holm)."""

    value: float
    low: float
    high: float
    p: float
    change: Change

    @property
    def changed(self) -> bool:
        """Whether it is more than noise."""
        return self.change is not Change.NOISE


@dataclass(frozen=True, slots=True)
class Compared:
    """A quantity on both sides; shares are parts of 1."""

    a: Estimate
    b: Estimate
    difference: Difference


@dataclass(frozen=True, slots=True)
class FunctionComparison:
    """A function on both sides: its own share and the one with all that it calls.

    `file` is as in the first run of A that has it, `line` the one with the most weight. Times are per
    call of what was profiled, None where calls are not known; they come as (A, B).
    """

    name: str
    file: str
    line: int
    own: Compared
    total: Compared
    own_s: tuple[Estimate, Estimate] | None
    total_s: tuple[Estimate, Estimate] | None

    @property
    def changed(self) -> bool:
        """Whether its own share or the one with all that it calls changed."""
        return self.own.difference.changed or self.total.difference.changed

    @property
    def told(self) -> Compared:
        """What to tell of it: its own share, unless only the total one changed."""
        only_total = self.total.difference.changed and not self.own.difference.changed
        return self.total if only_total else self.own


@dataclass(frozen=True, slots=True)
class Side:
    """The runs of one side."""

    name: str
    """What to call it beside the other."""
    runs: tuple[RunInfo, ...]
    samples: int
    """Weight of all samples, in the comparison's unit."""


@dataclass(frozen=True, slots=True)
class SampledComparison:
    """Two sides, each of one or more sampled runs of the same thing."""

    a: Side
    b: Side
    functions: tuple[FunctionComparison, ...]
    """What changed first, then by how much it differs."""
    call_s: Compared | None
    """How long one call of what was profiled took, None where calls are not known."""
    both: Profile
    """All samples as those of two threads, A and B, in A's paths: what trees and graphs show."""
    cwd: str
    """The folder that A's program ran in: files are shown relative to it."""
    grade: Grade
    level: float
    """How probable any false change is at most."""
    minimum_effect: float
    """A smaller difference of shares is called none, whatever its interval."""
    unseen: float
    """A difference of shares below this can go unseen: the widest half of an interval."""
    headline: str
    notes: tuple[str, ...]
    """What the reader should know about the runs and how they were compared."""

    @property
    def changed(self) -> tuple[FunctionComparison, ...]:
        """The functions that changed."""
        return tuple(function for function in self.functions if function.changed)

    @property
    def different(self) -> bool:
        """Whether any function's share changed."""
        return any(function.changed for function in self.functions)
