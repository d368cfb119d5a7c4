"""Locations of pprof files that profkit wrote: millions of small messages, which are read at once."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping
from itertools import count
from operator import add, eq
from typing import NamedTuple

from profkit.formats import wire
from profkit.formats.pprof.messages import fields_of, integer
from profkit.formats.pprof.schema import InLine, InLocation, InProfile

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
        found.ids.append(integer(location, InLocation.ID))
        found.functions.append(integer(of_line, InLine.FUNCTION))
        found.lines.append(integer(of_line, InLine.NUMBER))
