"""Results of comparisons of sampled and of measured runs, and of gates."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from profkit.model.measurement import Design, MeasuredRun, relative_range
from profkit.model.notes import Finding
from profkit.model.profile import Profile
from profkit.model.run import RunInfo, ShownInNotebooks


class Change(enum.Enum):
    """Change of a share from A to B; the value is the word in files."""

    MORE = "more"
    LESS = "less"
    NOISE = "noise"
    """Noise explains the difference, or it is too small to matter."""

    @classmethod
    def of(cls, difference: float, *, is_real: bool) -> Change:
        """Return the change for a difference; noise unless it is real."""
        return (cls.MORE if difference > 0 else cls.LESS) if is_real else cls.NOISE


class Grade(enum.Enum):
    """Reliability of a comparison; the value is the word in files."""

    UNCONFIRMED = "unconfirmed"
    """Some side has too few runs to show the noise between them, or the sides were sampled differently."""
    CONFIRMED = "confirmed"
    """Each side has several similar runs, and their differences are allowed for."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """B's value minus A's; the interval and p are adjusted for all functions examined (Holm)."""

    value: float
    low: float
    high: float
    p: float
    change: Change

    @property
    def changed(self) -> bool:
        """True if it is more than noise."""
        return self.change is not Change.NOISE


@dataclass(frozen=True, slots=True)
class Compared:
    """Comparison of a quantity; shares are parts of 1."""

    a: Estimate
    b: Estimate
    difference: Difference


@dataclass(frozen=True, slots=True)
class FunctionComparison:
    """A function on both sides: its own share and its total share, which includes all that it calls.

    `file` is as in the first of A's runs that has the function. Times are (A, B), per call of the profiled
    region, or None if the calls are not known.
    """

    name: str
    file: str
    own: Compared
    total: Compared
    own_s: tuple[Estimate, Estimate] | None
    total_s: tuple[Estimate, Estimate] | None

    @property
    def changed(self) -> bool:
        """True if its own or its total share changed."""
        return self.own.difference.changed or self.total.difference.changed

    @property
    def reported(self) -> Compared:
        """The share to show: its own, unless only the total one changed."""
        only_total = self.total.difference.changed and not self.own.difference.changed
        return self.total if only_total else self.own


@dataclass(frozen=True, slots=True)
class Side:
    """The runs of one side."""

    name: str
    """Display name that distinguishes it from the other side."""
    runs: tuple[RunInfo, ...]
    samples: int
    """Total weight of samples, in the comparison's unit."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """The largest difference of a share that noise may explain."""

    name: str
    file: str
    difference: float
    """B's share minus A's."""
    runs: int | None
    """Number of runs per side that would probably decide it; None if that is impractical."""


@dataclass(frozen=True, slots=True)
class SampledComparison(ShownInNotebooks):
    """Comparison of two sides, each of one or more sampled runs of the same region."""

    a: Side
    b: Side
    functions: tuple[FunctionComparison, ...]
    """Changed functions first, then by size of the difference."""
    call_s: Compared | None
    """Time of one call of the profiled region; None if the calls are not known."""
    both: Profile
    """All samples as those of two threads, A and B, with A's paths: the data of trees and graphs."""
    cwd: str
    """Working directory of A's program: files are shown relative to it."""
    grade: Grade
    level: float
    """Maximum probability of any false change."""
    minimum_effect: float
    """Smaller differences of shares count as none, regardless of the interval."""
    unseen: float
    """Smaller differences of shares can go unseen: half the widest interval."""
    undecided: Undecided | None
    """None if no difference within noise is large enough to matter."""
    notes: tuple[Finding, ...]
    """Differences between the runs other than the code, and what limits the comparison."""

    @property
    def changed(self) -> tuple[FunctionComparison, ...]:
        """The changed functions."""
        return tuple(function for function in self.functions if function.changed)

    @property
    def different(self) -> bool:
        """True if any function's share changed."""
        return any(function.changed for function in self.functions)


class Verdict(enum.Enum):
    """Result of a comparison, for B; the value is the word in JSON."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no-difference"
    TOO_FEW = "too-few-processes"
    NOT_COMPARED = "not-compared"
    """The two sides cannot be compared; a field for the reason, if any, says why."""


@dataclass(frozen=True, slots=True)
class TimesCompared:
    """Comparison of B's times with A's."""

    ratio: float
    """B's time divided by A's; the median over processes."""
    low: float | None
    """Lower bound of the ratio's interval; None if there are too few processes."""
    high: float | None
    sizes: tuple[int, int]
    """Number of processes on each side; of runs, if `by_run` is set."""
    verdict: Verdict
    minimum_effect: float
    """Smaller relative differences count as none, regardless of the interval."""
    by_run: bool = False
    """True if each run counts once, by the median of its processes."""
    design: Design = Design.INTERLEAVED
    p: float | None = None
    """Probability of so uneven a ranking without a difference; None if processes are paired."""
    detectable: float | None = None
    """Smaller relative differences can go unseen; None if processes are paired or too few."""

    @property
    def unconfirmed(self) -> bool:
        """True if the machine may also have caused the difference."""
        return self.design is Design.SEPARATE


@dataclass(frozen=True, slots=True)
class FunctionDelta:
    """A function's own instructions per execution, on both sides."""

    name: str
    a: float
    b: float

    @property
    def delta(self) -> float:
        """B's instructions minus A's."""
        return self.b - self.a


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A call on both sides, with all that it calls; rows of a tree, callers before callees."""

    name: str
    file: str
    depth: int
    last: bool
    """True for the last of its siblings."""
    a: int
    b: int
    through: int
    """Calls left out between it and the row above, since the difference is all below them."""

    @property
    def delta(self) -> int:
        """B's instructions minus A's."""
        return self.b - self.a


@dataclass(frozen=True, slots=True)
class CountSpread:
    """Range of a statement's instruction count in runs of one commit, which should be equal."""

    least: float
    most: float
    runs: int

    @property
    def part(self) -> float:
        """Relative width of the range: a part of the smallest count."""
        return relative_range((self.least, self.most))


@dataclass(frozen=True, slots=True)
class PythonFunctionDelta:
    """A Python function's own instructions on both sides, including native code that it called."""

    name: str
    file: str
    line: int
    """B's first line, or A's if B lacks the function; 0 if unknown."""
    a: float
    b: float

    @property
    def delta(self) -> float:
        """B's instructions minus A's."""
        return self.b - self.a


@dataclass(frozen=True, slots=True)
class CountsCompared:
    """Comparison of B's instructions per execution with A's, without memory allocators."""

    a: float
    b: float
    verdict: Verdict
    minimum_effect: float
    """Smaller relative differences count as none."""
    functions: tuple[FunctionDelta, ...]
    """Functions that differ, largest difference first, without memory allocators."""
    allocators: FunctionDelta
    """All memory allocators together; their counts depend on the state of the heap."""
    standardized: bool
    """True if names were standardized to match in both environments."""
    noise: float = 0.0
    """How far counts of unchanged code may differ, as a part of them; from repeats, processes and runs."""
    obstacle: Finding | None = None
    """Reason why the counts cannot be compared, such as unequal controls; None if they can."""
    spread: CountSpread | None = None
    """Differences of runs of one commit, if any: the statement's count depends on its input."""
    calls: tuple[CallDelta, ...] = ()
    """Calls that differ; empty if none do, or if calls are not known."""
    python: tuple[PythonFunctionDelta, ...] = ()
    """Python functions that differ, largest difference first; empty if not counted on both sides."""

    @property
    def delta(self) -> float:
        """B's instructions minus A's."""
        return self.b - self.a

    @property
    def ratio(self) -> float | None:
        """B's instructions divided by A's; None if A executes none."""
        return self.b / self.a if self.a > 0 else None


@dataclass(frozen=True, slots=True)
class OrderCompared:
    """A work order on both sides; each side may have been measured several times."""

    name: str
    """Its label, with what else distinguishes it from other orders."""
    a: tuple[MeasuredRun, ...]
    b: tuple[MeasuredRun, ...]
    times: TimesCompared | None = None
    counts: CountsCompared | None = None
    obstacle: Finding | None = None
    """Reason why times or instructions cannot be compared; None if nothing prevents it."""


@dataclass(frozen=True, slots=True)
class MeasuredComparison(ShownInNotebooks):
    """Comparison of two sides of measured runs, order by order."""

    names: tuple[str, str]
    orders: tuple[OrderCompared, ...]
    unmatched: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Names of the orders that are only in A, and only in B."""
    notes: tuple[Finding, ...] = ()
    """Differences between the sides other than the code."""


class Outcome(enum.Enum):
    """Result of a gate; the value is the word in JSON."""

    OK = "ok"
    REGRESSION = "regression"
    FASTER = "faster"
    """Faster by more than the limit, if the gate reports that."""
    INCONCLUSIVE = "inconclusive"


class Measure(enum.Enum):
    """Quantity compared with the limit; the value is the word in JSON."""

    TIME = "time"
    INSTRUCTIONS = "instructions"
    CALL = "time of one call"
    PEAK = "peak memory"


@dataclass(frozen=True, slots=True)
class Check:
    """Check of one figure of one order against the limit."""

    name: str
    measure: Measure
    outcome: Outcome
    reasons: tuple[Finding, ...]
    """Reasons for the outcome; if it is inconclusive, also what would make it conclusive."""
    ratio: float | None = None
    """Current figure divided by the baseline's."""
    low: float | None = None
    """Lower bound of the ratio, if it is known."""
    high: float | None = None


@dataclass(frozen=True, slots=True)
class GateResult:
    """Result of a gate: all its checks."""

    baseline: str
    """Name of the baseline."""
    limit: float
    """Largest slowdown that passes: 0.03 for 3 %."""
    checks: tuple[Check, ...]

    @property
    def outcome(self) -> Outcome:
        """Outcome of all orders: regression, else faster, else inconclusive, else OK."""
        found = {self.of_order(name) for name in dict.fromkeys(check.name for check in self.checks)}
        return next((worst for worst in _WORST_FIRST if worst in found), Outcome.INCONCLUSIVE)

    def of_order(self, name: str) -> Outcome:
        """Return an order's worst outcome; inconclusive checks count only if no other check decides."""
        found = {check.outcome for check in self.checks if check.name == name}
        decided = found - {Outcome.INCONCLUSIVE}
        return next((worst for worst in _WORST_FIRST if worst in (decided or found)), Outcome.INCONCLUSIVE)


_WORST_FIRST = (Outcome.REGRESSION, Outcome.FASTER, Outcome.INCONCLUSIVE, Outcome.OK)
