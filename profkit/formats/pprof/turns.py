"""Order of the samples of a pprof file: readers add up equal stacks, so the file has their sums.

The order is in a comment, compressed and in base64. It is short: of a million samples, few are distinct.
"""

from __future__ import annotations

import base64
import sys
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import add, mul
from typing import NamedTuple

from profkit.formats.limits import Budget
from profkit.model.profile import Sample

_HEAD = "#profkit.turns/1 "
_TURN_BYTES = 12
_UINT32, _INT64 = "I", "q"
_INT64_MAX = 2**63 - 1


class Turns(NamedTuple):
    """For each sample in order, the number of its sum, as uint32, and its weight, as int64: two columns."""

    samples: bytes
    weights: bytes

    @property
    def length(self) -> int:
        """Number of turns."""
        return len(self.samples) // 4


def take_turns(samples: Sequence[Sample]) -> tuple[Sequence[Sample], Turns | None]:
    """Sum the samples by stack and thread, in the order of their first use; return them and their turns.

    Return the samples themselves and None if no two can be summed, or a sum needs more than 64 bits.
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


def samples_in_order(summed: Sequence[Sample], turns: Turns) -> tuple[Sample, ...] | None:
    """Return the samples one by one; None if the turns do not match these samples.

    A program that filters a profile may keep fields that it does not know.
    """
    if len(turns.samples) % 4 or len(turns.weights) % 8:
        return None
    numbers, weights = _column(_UINT32, turns.samples), _column(_INT64, turns.weights)
    if len(numbers) != len(weights) or len(set(numbers)) != len(summed):
        return None
    if max(numbers, default=-1) >= len(summed):
        return None
    # Of a million turns, few are distinct. One integer identifies a turn, which takes less than a tuple.
    places = {weight: place for place, weight in enumerate(dict.fromkeys(weights))}
    of_place, count = list(places), len(places)
    turns_of = array(_INT64, map(add, map(mul, numbers, repeat(count)), map(places.__getitem__, weights)))
    known: dict[int, Sample] = {}
    sums = [0] * len(summed)
    for turn, times in Counter(turns_of).items():
        number, weight = turn // count, of_place[turn % count]
        stack, thread, _ = summed[number]
        known[turn] = Sample(stack, thread, weight)
        sums[number] += weight * times
    return tuple(map(known.__getitem__, turns_of)) if sums == _weights(summed) else None


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


def turns_comment(turns: Turns) -> str:
    """Return the comment for a file with these turns."""
    packed = zlib.compress(turns.samples + turns.weights)
    return f"{_HEAD}{base64.b64encode(packed).decode('ascii')}"


def turns_in(comments: Iterable[str], budget: Budget) -> Turns | None:
    """Return the turns that a comment has; None if none does.

    Raises ValueError and zlib.error for a damaged comment, and LimitExceeded.
    """
    comment = next((one for one in comments if one.startswith(_HEAD)), None)
    if comment is None:
        return None
    packed = base64.b64decode(comment[len(_HEAD) :], validate=True)
    unpacker = zlib.decompressobj()
    most = min(budget.limits.max_records, sys.maxsize // _TURN_BYTES - 1)
    data = unpacker.decompress(packed, _TURN_BYTES * (most + 1))
    count, rest = divmod(len(data), _TURN_BYTES)
    budget.count_records(count)
    if rest or not unpacker.eof:
        raise ValueError("the order of its samples is cut short")
    return Turns(data[: 4 * count], data[4 * count :])
