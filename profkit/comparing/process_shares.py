"""Find functions whose share of samples differs between the processes of merged runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

from profkit.comparing.shares import RUN_IS_WORTH, UNORDERED, Function
from profkit.comparing.significance import LEVEL
from profkit.stats.means import t_two_sided
from profkit.stats.ranks import holm

MIN_DIFFERENCE = 0.05
"""Smallest difference of shares that is reported: five points."""
MIN_SAMPLES = 40
"""Minimum number of samples of a process to be compared."""
_LARGEST_BY_CHANCE = NormalDist().inv_cdf(1 - LEVEL / 2)
"""Standard deviations that a difference exceeds by chance with a probability of `LEVEL`."""


@dataclass(frozen=True, slots=True)
class ProcessWeights:
    """The weight of functions in one process; each sample counts for one function."""

    samples: int
    weight: int
    """Weight of all samples."""
    functions: Mapping[Function, int]


def differing(processes: Sequence[ProcessWeights]) -> dict[Function, tuple[bool, ...]]:
    """Return the functions whose share differs significantly, with a flag for each process.

    The probability of any false alarm in all tests is at most `LEVEL`.
    """
    whole = _Whole.of(processes)
    large = _large(processes)
    compared = whole.compared(processes)
    found = [one for function in large for one in whole.differences(function, compared)]
    adjusted = holm([one.p for one in found], LEVEL, others=len(large) * len(compared) - len(found))
    differing_in: dict[Function, set[int]] = {}
    for (function, number, difference, _), test in zip(found, adjusted, strict=True):
        if test.p < LEVEL and abs(difference) >= MIN_DIFFERENCE:
            differing_in.setdefault(function, set()).add(number)
    return {
        function: tuple(number in numbers for number in range(len(processes)))
        for function, numbers in differing_in.items()
    }


def _large(processes: Sequence[ProcessWeights]) -> list[Function]:
    """Return functions whose share in some process reaches the least difference: others cannot."""
    large = {
        function: None
        for process in processes
        for function, weight in process.functions.items()
        if weight >= MIN_DIFFERENCE * process.weight
    }
    return list(large)


class _Compared(NamedTuple):
    """A process with enough samples to be compared with all others."""

    number: int
    process: ProcessWeights
    others: int
    """Weight of the other processes."""
    spread: float
    """Variance of the difference of two shares, for a variance of samples of 1."""


class _Difference(NamedTuple):
    """A difference between the shares of a function in a process and in all others."""

    function: Function
    number: int
    difference: float
    p: float
    """Probability of a difference this large under the null hypothesis; less than `LEVEL`."""


class _Whole(NamedTuple):
    samples: int
    squares: int
    """Sum of the squares of the processes' sample counts."""
    weight: int
    functions: Mapping[Function, int]

    @classmethod
    def of(cls, processes: Sequence[ProcessWeights]) -> _Whole:
        functions: dict[Function, int] = {}
        for process in processes:
            for function, weight in process.functions.items():
                functions[function] = functions.get(function, 0) + weight
        return cls(
            samples=sum(process.samples for process in processes),
            squares=sum(process.samples**2 for process in processes),
            weight=sum(process.weight for process in processes),
            functions=functions,
        )

    def compared(self, processes: Sequence[ProcessWeights]) -> list[_Compared]:
        """Return the processes of which, as of the others, there are enough samples."""
        found = []
        for number, process in enumerate(processes):
            others = self.samples - process.samples
            if process.samples >= MIN_SAMPLES and others >= MIN_SAMPLES:
                chance = UNORDERED * (1 / process.samples + 1 / others)
                spread = (1 + (self.squares - process.samples**2) / others**2) / RUN_IS_WORTH
                found.append(_Compared(number, process, self.weight - process.weight, chance + spread))
        return found

    def differences(self, function: Function, compared: Iterable[_Compared]) -> Iterator[_Difference]:
        """Yield the differences of a function's shares that chance alone makes with less than `LEVEL`."""
        weight = self.functions[function]
        # Add two hits and two misses, as for the share of a run.
        share = (weight / self.weight * self.samples + 2) / (self.samples + 4)
        variance, largest = share * (1 - share), _LARGEST_BY_CHANCE**2
        for number, process, others, spread in compared:
            if others and process.weight:
                own = process.functions.get(function, 0)
                difference = own / process.weight - (weight - own) / others
                if difference * difference > largest * variance * spread:
                    p = t_two_sided(difference / math.sqrt(variance * spread), math.inf)
                    yield _Difference(function, number, difference, p)
