"""Comments of a pprof file with data that the format has no field for: totals, order and starts of samples.

Other readers pass over them, and those that filter a profile may keep them: data that does not match the
samples is ignored. Columns of integers are little-endian, compressed and in base64. They are short: of a
million samples, few are distinct, and most follow the one before.
"""

from __future__ import annotations

import base64
import sys
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from operator import add, mul
from typing import NamedTuple

from profkit.formats.limits import Budget
from profkit.model.profile import Profile, Sample

_TOTALS, _TURNS, _STARTS = "#profkit.totals/1", "#profkit.turns/1 ", "#profkit.starts/1 "
_UINT32, _INT64 = "I", "q"
_INT64_MAX = 2**63 - 1


def _first(comments: Iterable[str], head: str) -> str | None:
    return next((one for one in comments if one.startswith(head)), None)


def _packed(head: str, data: bytes) -> str:
    return f"{head}{base64.b64encode(zlib.compress(data)).decode('ascii')}"


def _unpacked(comment: str, head: str, most: int) -> tuple[bytes, bool]:
    """Return up to `most` bytes of a comment's data, and whether they are all."""
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(base64.b64decode(comment[len(head) :], validate=True), most)
    return data, unpacker.eof


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


_NOT_STATED = "-"


def states_totals(data: bytes) -> bool:
    """Return whether an uncompressed file has a comment with totals."""
    return f"{_TOTALS} ".encode() in data


def totals_comment(profile: Profile) -> str:
    """Return the comment for a profile that states totals."""
    texts = (_NOT_STATED if total is None else str(total) for total in profile.totals)
    return " ".join((_beginning(profile), *texts))


def with_totals(profile: Profile, comments: Iterable[str]) -> Profile:
    """Return the profile with the totals that a comment states for it; unchanged if none does.

    Raises ValueError for a comment that `totals_comment` does not write.
    """
    comment = _first(comments, _TOTALS)
    if comment is None:
        return profile
    beginning = _beginning(profile)
    texts = comment[len(beginning) :].split()
    if not comment.startswith(f"{beginning} ") or len(texts) != len(profile.frames):
        return profile
    totals = tuple(None if text == _NOT_STATED else int(text) for text in texts)
    if any(total is not None and total < 0 for total in totals):
        raise ValueError("one of its totals is negative")
    return replace(profile, totals=totals)


def _beginning(profile: Profile) -> str:
    frames = "".join(f"{name}\0{file}\0{line}\n" for name, file, line in profile.frames)
    checksum = zlib.crc32(frames.encode("utf-8", "surrogatepass"))
    return f"{_TOTALS} {profile.total_weight} {checksum}"


def starts_comment(profile: Profile) -> str | None:
    """Return the comment for a profile; None if its starts are not known, or need more than 64 bits."""
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
    return _packed(_STARTS, _little_endian(gaps))


def with_starts(profile: Profile, comments: Iterable[str]) -> Profile:
    """Return the profile with the starts that a comment has for its samples; unchanged if none has.

    Raises ValueError and zlib.error for a damaged comment.
    """
    comment = _first(comments, _STARTS)
    if comment is None or not profile.ordered:
        return profile
    size = 8 * len(profile.samples)
    data, is_all = _unpacked(comment, _STARTS, size + 1)
    if len(data) != size or not is_all:
        return profile
    ends: dict[int, int] = {}
    starts = []
    for (_, thread, weight), gap in zip(profile.samples, _column(_INT64, data), strict=True):
        start = ends.get(thread, 0) + gap
        starts.append(start)
        ends[thread] = start + weight
    return profile if min(starts, default=0) < 0 else replace(profile, starts=tuple(starts))


class Turns(NamedTuple):
    """Order of samples, since readers add up equal stacks and a file has their sums: two columns.

    For each sample in order, the number of its sum, as uint32, and its weight, as int64.
    """

    samples: bytes
    weights: bytes

    @property
    def length(self) -> int:
        """Number of turns."""
        return len(self.samples) // 4


_TURN_BYTES = 12


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
    """Return the samples one by one; None if the turns do not match these samples."""
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
    if sums != [sample.weight for sample in summed]:
        return None
    return tuple(map(known.__getitem__, turns_of))


def turns_comment(turns: Turns) -> str:
    """Return the comment for a file with these turns."""
    return _packed(_TURNS, turns.samples + turns.weights)


def turns_in(comments: Iterable[str], budget: Budget) -> Turns | None:
    """Return the turns that a comment has; None if none does.

    Raises ValueError and zlib.error for a damaged comment, and LimitExceeded.
    """
    comment = _first(comments, _TURNS)
    if comment is None:
        return None
    most = min(budget.limits.max_records, sys.maxsize // _TURN_BYTES - 1)
    data, is_all = _unpacked(comment, _TURNS, _TURN_BYTES * (most + 1))
    count, rest = divmod(len(data), _TURN_BYTES)
    budget.count_records(count)
    if rest or not is_all:
        raise ValueError("the order of its samples is cut short")
    return Turns(data[: 4 * count], data[4 * count :])
