"""Order of samples beside their sums: files and stores have the sums of equal samples, and the turns apart.

Most readers need the sums alone. Of a million samples, few are distinct.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import add, itemgetter, mul
from typing import NamedTuple

from profkit.model.profile import Profile, Sample

_UINT32, _INT64 = "I", "q"
_INT64_MAX = 2**63 - 1


class Turns(NamedTuple):
    """Samples in order: the number of the sum that each is part of, as uint32, and its weight, as int64."""

    numbers: array[int]
    weights: array[int]


def take_turns(samples: Sequence[Sample]) -> tuple[Sequence[Sample], Turns | None]:
    """Sum the samples by stack and thread, in the order of their first use; return them and their turns.

    Return the samples themselves and None if no two can be summed, or a sum needs more than 64 bits.
    """
    sums: dict[tuple[int, int], int] = {}
    times = Counter(samples)
    for (stack, thread, weight), count in times.items():
        sums[stack, thread] = sums.get((stack, thread), 0) + weight * count
    if len(sums) == len(samples) or any(not -_INT64_MAX <= total <= _INT64_MAX for total in sums.values()):
        return samples, None
    places = {key: place for place, key in enumerate(sums)}
    number_of = {sample: places[sample.stack, sample.thread] for sample in times}
    turns = Turns(
        array(_UINT32, map(number_of.__getitem__, samples)), array(_INT64, map(itemgetter(2), samples))
    )
    return [tuple.__new__(Sample, (*where, total)) for where, total in sums.items()], turns


def samples_in_order(summed: Sequence[Sample], turns: Turns) -> tuple[Sample, ...] | None:
    """Return the samples one by one; None if the turns do not match these samples."""
    numbers, weights = turns
    if len(numbers) != len(weights) or len(set(numbers)) != len(summed):
        return None
    if max(numbers, default=-1) >= len(summed):
        return None
    # Few turns are distinct. One integer identifies a turn, which takes less memory than a tuple.
    places = {weight: place for place, weight in enumerate(dict.fromkeys(weights))}
    of_place, count = list(places), len(places)
    turns_of = array(_INT64, map(add, map(mul, numbers, repeat(count)), map(places.__getitem__, weights)))
    known: dict[int, Sample] = {}
    sums = [0] * len(summed)
    for turn, times in Counter(turns_of).items():
        number, weight = turn // count, of_place[turn % count]
        stack, thread, _ = summed[number]
        known[turn] = tuple.__new__(Sample, (stack, thread, weight))
        sums[number] += weight * times
    if sums != [sample.weight for sample in summed]:
        return None
    return tuple(map(known.__getitem__, turns_of))


def gaps_of(profile: Profile) -> array[int] | None:
    """Return the gap before each sample, since the last one of its thread.

    Return None if starts are not known, or a gap needs more than 64 bits.
    """
    if not profile.starts:
        return None
    ends: dict[int, int] = {}
    gaps: array[int] = array(_INT64)
    try:
        for (_, thread, weight), start in zip(profile.samples, profile.starts, strict=True):
            gaps.append(start - ends.get(thread, 0))
            ends[thread] = start + weight
    except OverflowError:
        return None
    return gaps


def starts_of(samples: Sequence[Sample], gaps: Sequence[int]) -> Iterator[int]:
    """Yield the starts of samples with these gaps, of which there must be as many."""
    ends: dict[int, int] = {}
    for (_, thread, weight), gap in zip(samples, gaps, strict=True):
        start = ends.get(thread, 0) + gap
        yield start
        ends[thread] = start + weight
