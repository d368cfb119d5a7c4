"""Locations of pprof files that profkit wrote, and stacks of them: millions, which are read at once."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from operator import add, eq, itemgetter
from typing import NamedTuple

from profkit.formats import wire
from profkit.formats.pprof.schema import InLine, InLocation, InProfile
from profkit.formats.wire import fields_of, number_in

_INT64 = "q"
_INTEGER = rb"([\x80-\xff]{0,9}[\x00-\x7f])"


def _tag(field: int, kind: int) -> bytes:
    return re.escape(bytes([field << 3 | kind]))


_VARINT, _BYTES = 0, 2
_AS_WRITTEN = re.compile(
    _tag(InProfile.LOCATION, _BYTES)
    + rb"([\x00-\x7f])"
    + _tag(InLocation.ID, _VARINT)
    + _INTEGER
    + _tag(InLocation.LINE, _BYTES)
    + rb"([\x00-\x7f])"
    + _tag(InLine.FUNCTION, _VARINT)
    + _INTEGER
    + rb"(?:"
    + _tag(InLine.NUMBER, _VARINT)
    + _INTEGER
    + rb")?"
)
"""A whole field as profkit writes it: two sizes, id, function, and line unless that is 0."""


_LESS_1, _LESS_3 = (bytes((byte - tags) % 256 for byte in range(256)) for tags in (1, 3))
"""Translation tables: the size of a message without its tags."""


class Locations(NamedTuple):
    """Locations in their order, by column."""

    ids: array[int]
    functions: list[int]
    """Ids of functions."""
    lines: list[int]

    def places(self) -> Mapping[int, int] | None:
        """Return the indexes of locations by id; None if the ids are 1, 2, 3, …, as profkit writes them."""
        if all(map(eq, self.ids, count(1))):
            return None
        return {number: place for place, number in enumerate(self.ids)}


class _Integers(dict[bytes, int]):
    """Integers by their bytes, each read once: equal lines share one object, which saves memory."""

    def __missing__(self, data: bytes) -> int:
        (number,) = wire.integers(data)
        self[data] = number
        return number


def read_locations(pieces: Iterable[bytes]) -> Locations:
    """Parse whole fields of locations, in pieces; raise ValueError for a location that is not profkit's."""
    found = Locations(array(_INT64), [], [])
    known = _Integers({b"": 0})
    for piece in pieces:
        if not _add_all(piece, found, known):
            _add_each(piece, found)
    return found


def _add_all(piece: bytes, found: Locations, known: _Integers) -> bool:
    """Add the locations of a piece; return False, and add none, if one is not as profkit writes them."""
    matches = _AS_WRITTEN.findall(piece)
    if not matches:
        return not piece
    outer, ids, inner, functions, lines = zip(*matches, strict=True)
    outer_sizes, inner_sizes = b"".join(outer), b"".join(inner)
    # Sizes that match and add up leave no room for anything else.
    if sum(outer_sizes) + 2 * len(matches) != len(piece):
        return False
    of_lines = map(add, map(add, map(len, functions), map(len, lines)), map(bool, lines))
    of_locations = map(add, map(len, ids), inner_sizes)
    if bytes(of_lines) != inner_sizes.translate(_LESS_1) or bytes(of_locations) != outer_sizes.translate(
        _LESS_3
    ):
        return False
    found.ids.extend(wire.many_integers(b"".join(ids)))
    found.functions.extend(map(known.__getitem__, functions))
    found.lines.extend(map(known.__getitem__, lines))
    return True


def _add_each(piece: bytes, found: Locations) -> None:
    """Add the locations of a piece, whose fields may be in any order."""
    for _, message in wire.fields(piece):
        location = fields_of(message)
        (line,) = location.get(InLocation.LINE, ()) or (b"",)
        of_line = fields_of(line)
        found.ids.append(number_in(location, InLocation.ID))
        found.functions.append(number_in(of_line, InLine.FUNCTION))
        found.lines.append(number_in(of_line, InLine.NUMBER))


_UNITS = 1 << 16
_TWO_BYTES = 1 << 14
"""Integers below this take one or two bytes."""
_ENDS = bytes(128) + b"\1" * 128
"""Translation table: the last byte of an integer becomes 0, every other 1."""
_BEFORE_SINGLE = re.compile(rb"(?<![\x80-\xff])(?=[\x00-\x7f])")
_MISSING = -1
_BATCH = 1 << 12
"""Number of packed fields that are read at once."""


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
            start, end = end, end + len(field.translate(None, wire.NOT_LAST))
            yield tuple(found[start:end])


def _counted_from_one(numbers: Sequence[int], values: Sequence[int]) -> list[int]:
    """Return the value of each number, which must be at least 1."""
    least, most = min(numbers, default=1), max(numbers, default=1)
    if least < 1 or most >= len(values):
        raise ValueError(f"{least if least < 1 else most} is not a known id")
    return list(map(values.__getitem__, numbers))
