"""The order of samples, in columns of its own beside samples that are summed up.

A profile of a million samples has few distinct pairs of stack and thread. Each pair is one sample of the
file, with its whole weight: what a reader of pprof adds up anyway. Two fields beyond those of profile.proto,
which such readers pass over, tell the turns: whose sample it was (uint32), and its weight (int64), both
little-endian.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from profkit.model.profile import Sample

_UINT32, _INT64 = "I", "q"
_INT64_MAX = 2**63 - 1


class Turns(NamedTuple):
    """The two columns as bytes."""

    samples: bytes
    weights: bytes

    @property
    def length(self) -> int:
        """How many turns there are."""
        return len(self.samples) // 4


def take_turns(samples: Sequence[Sample]) -> tuple[Sequence[Sample], Turns | None]:
    """The samples summed up by stack and thread, in the order of their first use, and their turns.

    Where nothing is summed up, or a sum needs more than 64 bits, the samples themselves and None.
    """
    numbers: dict[tuple[int, int], int] = {}
    turns, sums = array(_UINT32), list[int]()
    for stack, thread, weight in samples:
        number = numbers.setdefault((stack, thread), len(sums))
        if number == len(sums):
            sums.append(weight)
        else:
            sums[number] += weight
        turns.append(number)
    if len(sums) == len(samples) or any(not -_INT64_MAX <= total <= _INT64_MAX for total in sums):
        return samples, None
    summed = [Sample(stack, thread, sums[number]) for (stack, thread), number in numbers.items()]
    weights = array(_INT64, (sample.weight for sample in samples))
    return summed, Turns(_little_endian(turns), _little_endian(weights))


def samples_in_turns(summed: Sequence[Sample], turns: Turns) -> tuple[Sample, ...] | None:
    """The samples one by one; None where the turns are not those of these samples.

    A program that filters a profile may keep fields that it does not know.
    """
    if len(turns.samples) % 4 or len(turns.weights) % 8:
        return None
    numbers, weights = _column(_UINT32, turns.samples), _column(_INT64, turns.weights)
    if len(numbers) != len(weights) or len(set(numbers)) != len(summed):
        return None
    if max(numbers, default=-1) >= len(summed):
        return None
    known: dict[tuple[int, int], Sample] = {}
    sums = [0] * len(summed)
    found = []
    for turn in zip(numbers, weights, strict=True):
        number, weight = turn
        sums[number] += weight
        sample = known.get(turn)
        if sample is None:
            sample = known[turn] = summed[number]._replace(weight=weight)
        found.append(sample)
    return tuple(found) if sums == _weights(summed) else None


def _weights(samples: Iterable[Sample]) -> list[int]:
    return [sample.weight for sample in samples]


def _column(kind: str, data: bytes) -> array[int]:
    column: array[int] = array(kind)
    column.frombytes(data)
    if sys.byteorder == "big":
        column.byteswap()
    return column


def _little_endian(column: array[int]) -> bytes:
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()
