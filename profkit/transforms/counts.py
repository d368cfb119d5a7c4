"""Instructions by function, and what can be reckoned with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from profkit.errors import UsageError
from profkit.model.counts import FunctionCount
from profkit.model.measurement import InstructionCounts
from profkit.transforms.allocators import is_allocator
from profkit.transforms.standard_names import standard_name, standard_object


class NamedCount(NamedTuple):
    """Instructions of one function."""

    instructions: float
    name: str


@dataclass(frozen=True, slots=True)
class FunctionCounts:
    """Rows of instructions, most first and each name once; what comes to nothing has no row."""

    rows: tuple[NamedCount, ...]
    inclusive: bool
    """Whether a function's instructions include those of what it called."""

    @classmethod
    def of(cls, counts: Iterable[tuple[float, str]], inclusive: bool) -> FunctionCounts:
        """Rows from counts and names; those of equal names are added up."""
        added: defaultdict[str, float] = defaultdict(float)
        for instructions, name in counts:
            added[name] += instructions
        rows = (NamedCount(instructions, name) for name, instructions in added.items() if instructions)
        return cls(tuple(sorted(rows, key=lambda row: (-row.instructions, row.name))), inclusive)

    def __add__(self, other: FunctionCounts) -> FunctionCounts:
        """Both together; raises UsageError where one is inclusive and the other is not."""
        self._check_alike(other)
        return FunctionCounts.of((*self.rows, *other.rows), self.inclusive)

    def __sub__(self, other: FunctionCounts) -> FunctionCounts:
        """What this has more, negative where it has less; raises UsageError as addition does."""
        self._check_alike(other)
        return FunctionCounts.of(
            (*self.rows, *((-row.instructions, row.name) for row in other.rows)), self.inclusive
        )

    def filter(self, wanted: Callable[[str], bool]) -> FunctionCounts:
        """The rows whose name is wanted."""
        return FunctionCounts(tuple(row for row in self.rows if wanted(row.name)), self.inclusive)

    def transform(self, rename: Callable[[str], str]) -> FunctionCounts:
        """All rows under new names; those that come to bear the same name are added up."""
        return FunctionCounts.of(((row.instructions, rename(row.name)) for row in self.rows), self.inclusive)

    def without_allocators(self) -> FunctionCounts:
        """The rows of functions that allocate no memory; raises UsageError for inclusive counts."""
        if self.inclusive:
            raise UsageError(
                "inclusive counts have allocators within every function that calls them",
                "take counts(inclusive=False)",
            )
        return self.filter(lambda name: not is_allocator(name))

    def sum(self) -> float:
        """All rows together: all instructions if exclusive; if inclusive, many of them many times."""
        return sum(row.instructions for row in self.rows)

    def _check_alike(self, other: FunctionCounts) -> None:
        if self.inclusive != other.inclusive:
            raise UsageError(
                "inclusive counts and exclusive counts cannot be mixed", "take both with the same inclusive="
            )


@dataclass(frozen=True, slots=True)
class InstructionStats:
    """A measurement's functions, per execution and without the baseline, as something to reckon with."""

    functions: tuple[FunctionCount, ...]

    @classmethod
    def of(cls, measured: InstructionCounts) -> InstructionStats:
        """Those of a measurement's instruction counts."""
        return cls(measured.functions)

    def counts(self, inclusive: bool = False) -> FunctionCounts:
        """Instructions by `file:function`."""
        rows = ((row.inclusive if inclusive else row.exclusive, row.name) for row in self.functions)
        return FunctionCounts.of(rows, inclusive)

    def delta(self, other: InstructionStats, inclusive: bool = False) -> FunctionCounts:
        """What this executes more than the other, function by function."""
        return self.counts(inclusive) - other.counts(inclusive)

    def as_standardized(self) -> InstructionStats:
        """The same under names that hold in any environment, so that measurements of two compare.

        A function without a name bears that of its shared object instead of an address.
        """
        return InstructionStats(
            tuple(
                replace(row, name=standard_name(row.name, row.object), object=standard_object(row.object))
                for row in self.functions
            )
        )
