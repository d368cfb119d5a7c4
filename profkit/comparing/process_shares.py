"""Which functions take a different share of the time in one process than in the others.

The share of each process is compared with that of all others together. Its variance has two parts, as in a
comparison of runs: what its samples missed, and by how much processes of the same program differ anyway.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from profkit.comparing.sampled_shares import RUN_IS_WORTH, UNORDERED
from profkit.comparing.sampled_slices import Function
from profkit.comparing.sampled_spread import LEVEL
from profkit.stats import holm, t_two_sided

LEAST_DIFFERENCE = 0.05
"""Five points: smaller differences are not reported."""
LEAST_SAMPLES = 40
"""Processes with fewer samples are not compared."""


@dataclass(frozen=True, slots=True)
class ProcessWeights:
    """The weight of functions in one process; each sample counts for one function."""

    samples: int
    weight: int
    """Of all samples."""
    functions: Mapping[Function, int]

    def share(self, function: Function) -> float:
        """The function's part of the process."""
        return self.functions.get(function, 0) / self.weight if self.weight else 0.0


def differing(processes: Sequence[ProcessWeights]) -> dict[Function, tuple[bool, ...]]:
    """Return the functions whose share differs significantly, with a flag for each process it differs in.

    All tests together raise a false alarm with probability `LEVEL` at most.
    """
    whole = _Whole.of(processes)
    tested: list[tuple[Function, int, float]] = []
    for function in _large(processes):
        for number, process in enumerate(processes):
            if process.samples >= LEAST_SAMPLES and whole.samples - process.samples >= LEAST_SAMPLES:
                tested.append((function, number, whole.p(process, function)))
    adjusted = holm([p for _, _, p in tested], LEVEL)
    found: dict[Function, set[int]] = {}
    for (function, number, _), test in zip(tested, adjusted, strict=True):
        if test.p < LEVEL and abs(whole.difference(processes[number], function)) >= LEAST_DIFFERENCE:
            found.setdefault(function, set()).add(number)
    return {
        function: tuple(number in numbers for number in range(len(processes)))
        for function, numbers in found.items()
    }


def _large(processes: Sequence[ProcessWeights]) -> list[Function]:
    """The functions whose share reaches the least difference somewhere: others cannot differ by it."""
    large = {
        function: None
        for process in processes
        for function, weight in process.functions.items()
        if weight >= LEAST_DIFFERENCE * process.weight
    }
    return list(large)


class _Whole(NamedTuple):
    """All processes together."""

    samples: int
    squares: int
    """The sum of the squares of the processes' samples."""
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

    def difference(self, process: ProcessWeights, function: Function) -> float:
        """The share in the process less the share in all others."""
        others = self.weight - process.weight
        if not others or not process.weight:
            return 0.0
        return (
            process.share(function) - (self.functions[function] - process.functions.get(function, 0)) / others
        )

    def p(self, process: ProcessWeights, function: Function) -> float:
        """The probability of a difference this large if there is none."""
        # Two hits and two misses are added, as for the share of a run.
        share = (self.functions[function] / self.weight * self.samples + 2) / (self.samples + 4)
        others = self.samples - process.samples
        chance = UNORDERED * (1 / process.samples + 1 / others)
        spread = (1 + (self.squares - process.samples**2) / others**2) / RUN_IS_WORTH
        deviation = math.sqrt(share * (1 - share) * (chance + spread))
        return t_two_sided(self.difference(process, function) / deviation, math.inf)
