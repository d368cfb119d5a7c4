"""Results of comparisons of memory runs."""

from __future__ import annotations

from dataclasses import dataclass

from profkit.model.comparison import Change, Side
from profkit.model.notes import Finding
from profkit.model.profile import Profile, Value
from profkit.model.run import ShownInNotebooks


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure of one side: its median over calls or runs, and its range."""

    middle: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Amounts:
    """A figure on both sides, per call."""

    a: Spread
    b: Spread
    change: Change

    @property
    def difference(self) -> float:
        """B's median minus A's."""
        return self.b.middle - self.a.middle

    @property
    def ratio(self) -> float | None:
        """B's median divided by A's; None if A's is 0."""
        return self.b.middle / self.a.middle if self.a.middle else None


@dataclass(frozen=True, slots=True)
class FunctionMemory:
    """A function on both sides: what it allocated itself, and with all that it calls."""

    name: str
    file: str
    line: int
    own: Amounts
    total: Amounts

    @property
    def changed(self) -> bool:
        """True if its own or its total amount changed."""
        return {self.own.change, self.total.change} != {Change.NOISE}

    @property
    def reported(self) -> Amounts:
        """The amount to show: its own, unless only the total one changed."""
        only_total = self.total.change is not Change.NOISE and self.own.change is Change.NOISE
        return self.total if only_total else self.own


@dataclass(frozen=True, slots=True)
class MemoryComparison(ShownInNotebooks):
    """Comparison of two sides, each of one or more memory runs of the same region."""

    a: Side
    b: Side
    figures: tuple[tuple[Value, Amounts], ...]
    """The runs' figures per call: the peak first."""
    value: Value
    """Value that the functions are compared by."""
    functions: tuple[FunctionMemory, ...]
    """Changed functions first, then by size of the difference."""
    both: Profile
    """That value of both sides, as two threads, A and B: of the run with the largest peak on each side."""
    cwd: str
    """Working directory of A's program: files are shown relative to it."""
    least: float
    """Smallest relative difference that counts."""
    least_bytes: int
    """Smallest difference in bytes that counts."""
    notes: tuple[Finding, ...]
    """Differences between the runs other than the code."""

    @property
    def peak(self) -> Amounts:
        """The peaks."""
        return self.figures[0][1]

    @property
    def changed(self) -> tuple[FunctionMemory, ...]:
        """The changed functions."""
        return tuple(function for function in self.functions if function.changed)
