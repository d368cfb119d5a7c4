"""Results of comparing sampled runs, comparing measured runs, and gating."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from profkit.model.measurement import Manner, MeasuredRun
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
