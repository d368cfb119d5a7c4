"""What comparing measured runs gave: each order's ratio of times, and what its instructions differ by."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from profkit.model.measurement import Manner, MeasuredRun


class Verdict(enum.Enum):
    """What a comparison says of B; the value is the word that JSON carries."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no-difference"
    TOO_FEW = "too-few-processes"
    NOT_COMPARED = "not-compared"
    """The two sides cannot be compared; where there is a field for the reason, it says why."""


@dataclass(frozen=True, slots=True)
class TimesCompared:
    """How B's times relate to A's."""

    ratio: float
    """Of B's time to A's; the median over processes."""
    low: float | None
    """The ratio's interval; None for too few processes."""
    high: float | None
    processes: int
    """Of the side that has fewer."""
    verdict: Verdict
    minimum_effect: float
    """A smaller relative difference is called none, whatever its interval."""
    sentence: str
    """The verdict with its figures, of B."""
    manner: Manner = Manner.INTERLEAVED
    confidence: float = 0.95
    """Of the interval."""
    p: float | None = None
    """How probable so uneven a ranking is without a difference; None where processes are paired."""
    detectable: float | None = None
    """A smaller relative difference can go unseen; None where processes are paired, or too few."""

    @property
    def indicative(self) -> bool:
        """Whether the difference may come from the machine as well."""
        return self.manner is Manner.APART


@dataclass(frozen=True, slots=True)
class FunctionDelta:
    """A function's own instructions in one execution, on either side."""

    name: str
    a: float
    b: float

    @property
    def delta(self) -> float:
        """What B executes more; negative where it executes less."""
        return self.b - self.a


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A call on both sides with all that it calls; rows of a tree, callers before callees."""

    name: str
    file: str
    depth: int
    last: bool
    """Of its siblings."""
    a: int
    b: int
    through: int
    """Calls between it and the row above it that are left out, since the difference is all below them."""

    @property
    def delta(self) -> int:
        """What B executes more; negative where it executes less."""
        return self.b - self.a


@dataclass(frozen=True, slots=True)
class CountSpread:
    """Instructions that runs of one commit counted for the same statement, which should be equal."""

    least: float
    most: float
    runs: int

    @property
    def part(self) -> float:
        """By which part of the least they differ."""
        return (self.most - self.least) / self.least if self.least > 0 else 0.0


@dataclass(frozen=True, slots=True)
class CountsCompared:
    """How B's instructions of one execution relate to A's, without memory allocators."""

    a: float
    b: float
    verdict: Verdict
    sentence: str
    """The verdict with its figures, of B."""
    functions: tuple[FunctionDelta, ...]
    """Those that differ, the largest difference first, without memory allocators."""
    allocators: FunctionDelta
    """Those of all memory allocators together, which depend on the state of the heap."""
    standardized: bool
    """Whether names were made such as hold in both environments."""
    unsure: float = 0.0
    """The part by which counts of unchanged code may differ, as repeats, processes and runs show."""
    unstable: str = ""
    """Why counts of the two sides do not compare at all: what should have been equal was not."""
    spread: CountSpread | None = None
    """How runs of one commit differed, if they did: the statement's count depends on its input."""
    calls: tuple[CallDelta, ...] = ()
    """The calls in which they differ; empty where they do not, or where calls are not known."""

    @property
    def delta(self) -> float:
        """What B executes more."""
        return self.b - self.a

    @property
    def ratio(self) -> float | None:
        """Of B's instructions to A's; None where A executes none."""
        return self.b / self.a if self.a > 0 else None


@dataclass(frozen=True, slots=True)
class OrderCompared:
    """An order on both sides; each side may have been measured several times."""

    name: str
    """Its label, with what else tells it from the others."""
    a: tuple[MeasuredRun, ...]
    b: tuple[MeasuredRun, ...]
    times: TimesCompared | None = None
    counts: CountsCompared | None = None
    obstacle: str = ""
    """Why there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class MeasuredComparison:
    """Two sides of measured runs, order by order."""

    names: tuple[str, str]
    orders: tuple[OrderCompared, ...]
    unmatched: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Names of the orders that only A, and only B, has."""
    notes: tuple[str, ...] = ()
