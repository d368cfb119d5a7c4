"""Numbers in profiles: packed integers, time units, and weights scaled to integers."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter

from profkit.formats import wire
from profkit.model.profile import Profile
from profkit.units import Unit

_UNITS = 1 << 16
_TWO_BYTES = 1 << 14
"""Integers below this take one or two bytes."""
_ENDS = bytes(128) + b"\1" * 128
"""Translation table: the last byte of an integer becomes 0, every other 1."""
_BEFORE_SINGLE = re.compile(rb"(?<![\x80-\xff])(?=[\x00-\x7f])")
_MISSING = -1
_BATCH = 1 << 12
"""Number of packed fields that are read at once."""
_NOT_LAST = bytes(range(0x80, 0x100))
"""Bytes of integers that others follow."""


class PackedLookup:
    """Lookup of the integers in packed fields; the values are 0 or more.

    If no integer takes more than two bytes, a zero before each single byte turns the field into an array of
    16-bit units, which itemgetter looks up at once. No other integer begins with a zero.
    """

    def __init__(self, meanings: Mapping[int, int]) -> None:
        self._meanings = meanings
        self._by_unit = [_MISSING] * _UNITS
        for number, meaning in meanings.items():
            if 0 <= number < _TWO_BYTES:
                (unit,) = array("H", wire.varint(number).rjust(2, b"\0"))
                self._by_unit[unit] = meaning

    def all(self, packed: bytes) -> tuple[int, ...]:
        """Return the value for each integer of a field; raises ValueError for an unknown integer."""
        single = (b"\0" + packed).translate(_ENDS).find(b"\0\0")
        even = packed if single < 0 else packed[:single] + _BEFORE_SINGLE.sub(b"\0", packed[single:])
        if len(even) % 2 or len(even) < 4:
            return self._one_by_one(packed)
        found: tuple[int, ...] = itemgetter(*array("H", even))(self._by_unit)
        return self._one_by_one(packed) if _MISSING in found else found

    def _one_by_one(self, packed: bytes) -> tuple[int, ...]:
        try:
            return tuple([self._meanings[number] for number in wire.integers(packed)])
        except KeyError as error:
            raise ValueError(f"{error} is not a known id") from error


def look_up_each(
    fields: Iterable[bytes], meanings: Mapping[int, int] | None, count: int
) -> Iterator[tuple[int, ...]]:
    """Yield the values for the integers of each packed field, as `PackedLookup.all` returns them.

    `meanings` has the value of each of `count` integers; None means n - 1 for each n from 1 on. Raises
    ValueError for an unknown integer.
    """
    if count < _TWO_BYTES or meanings is not None:
        numbered = {n: n - 1 for n in range(1, count + 1)} if meanings is None else meanings
        yield from map(PackedLookup(numbered).all, fields)
        return
    # Equal values are one object, which saves memory. No integer is 0.
    values, pending = list(range(-1, count)), iter(fields)
    while batch := list(islice(pending, _BATCH)):
        found = _counted_from_one(wire.many_integers(b"".join(batch)), values)
        end = 0
        for field in batch:
            start, end = end, end + len(field.translate(None, _NOT_LAST))
            yield tuple(found[start:end])


def _counted_from_one(numbers: Sequence[int], values: Sequence[int]) -> list[int]:
    """Return the value of each number, which must be at least 1."""
    least, most = min(numbers, default=1), max(numbers, default=1)
    if least < 1 or most >= len(values):
        raise ValueError(f"{least if least < 1 else most} is not a known id")
    return list(map(values.__getitem__, numbers))


def sample_time_ns(profile: Profile) -> int | float | None:
    """Return the nanoseconds of a weight of 1; None if unknown, or if times would not give weights back."""
    if profile.unit is Unit.NANOSECONDS:
        return 1
    if profile.unit is not Unit.SAMPLES or profile.period_ns <= 0:
        return None
    period = int(profile.period_ns) if profile.period_ns.is_integer() else profile.period_ns
    weights = {sample.weight for sample in profile.samples}
    return period if all(_is_multiple(weight, period) for weight in weights) else None


def period_of(value: float, where: str) -> float:
    """Return the time that a sample represents, in nanoseconds; raises ValueError if it cannot be one."""
    if not 0 <= value < math.inf:
        raise ValueError(f"{where} is {value}, not a time")
    return float(value)


def weight_of(time_ns: float, period_ns: float) -> int:
    """Return the weight of samples with this total time; raises ValueError if the period is 0."""
    if not period_ns:
        raise ValueError("its samples have times, but its period_ns is 0")
    if isinstance(time_ns, int) and period_ns == int(period_ns):
        return time_ns // int(period_ns)
    return round(time_ns / period_ns)


def whole_steps(weights: Iterable[float]) -> Iterator[int]:
    """Yield weights as whole numbers; each partial sum differs from the original by at most a half."""
    total: float = 0
    done = 0
    for weight in weights:
        total += weight
        step = round(total) - done
        done += step
        yield step


def _is_multiple(weight: int, period_ns: float) -> bool:
    try:
        return weight_of(weight * period_ns, period_ns) == weight
    except (OverflowError, ValueError):  # infinite, or not a number
        return False
