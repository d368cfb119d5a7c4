"""Protocol Buffers' wire format, as far as a schema of integers, strings and messages needs it.

Source: https://protobuf.dev/programming-guides/encoding/. Written as protobuf's own libraries write proto3:
fields in ascending order, no zeros and empty values, repeated integers packed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import count, islice
from typing import NamedTuple

from profkit.formats.limits import Budget, unlimited

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}
LONGEST_VARINT = 10
"""Maximum size of an integer, in bytes."""
_COUNTED_AT_ONCE = 1024
_INT64_MAX = 2**63 - 1


class _CutShort(ValueError):
    """Error: the data ends within a field."""


@lru_cache(1 << 16)
def varint(number: int) -> bytes:
    """Encode an integer, seven bits per byte; a negative one as its 64-bit two's complement."""
    if not -_INT64_MAX - 1 <= number <= _INT64_MAX:
        raise OverflowError(f"{number} does not fit into 64 bits")
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def integer(field: int, number: int) -> bytes:
    """Encode an integer field; empty for 0."""
    return varint(field << 3 | _VARINT) + varint(number) if number else b""


def present_integer(field: int, number: int) -> bytes:
    """Encode an integer field that is there even if it is 0, as a member of a oneof."""
    return varint(field << 3 | _VARINT) + varint(number)


def fixed64(field: int, number: int) -> bytes:
    """Encode a field of a fixed size for an integer that is not negative; empty for 0."""
    return varint(field << 3 | _FIXED64) + number.to_bytes(8, "little") if number else b""


def packed(field: int, numbers: Iterable[int]) -> bytes:
    """Encode a repeated integer field; empty for no integers."""
    data = b"".join(map(varint, numbers))
    return blob(field, data) if data else b""


def blob(field: int, data: bytes) -> bytes:
    """Encode a field of bytes: a string, or an encoded message, which may be empty."""
    return varint(field << 3 | _BYTES) + varint(len(data)) + data


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield each field of a message, integers as int64; raises ValueError if it is cut short."""
    at, end = 0, len(data)
    while at < end:
        field, value, at = _field(data, at)
        yield field, value


def counted_fields(data: bytes, budget: Budget) -> Iterator[tuple[int, int | bytes]]:
    """Yield each field as `fields` does, and count it as a record."""
    found = fields(data)
    while batch := tuple(islice(found, _COUNTED_AT_ONCE)):
        budget.count_records(len(batch))
        yield from batch


Fields = Mapping[int, Sequence[int | bytes]]


def fields_of(message: int | bytes, budget: Budget | None = None) -> Fields:
    """Return the values of a message; fields are counted if there is a budget.

    Raises ValueError for a number, and as `fields` does.
    """
    found: dict[int, list[int | bytes]] = {}
    data = bytes_of(message)
    for field, value in fields(data) if budget is None else counted_fields(data, budget):
        found.setdefault(field, []).append(value)
    return found


def number_in(fields: Fields, field: int) -> int:
    """Return an integer field; 0 if it is absent."""
    value = fields.get(field, (0,))[-1]
    if isinstance(value, bytes):
        raise ValueError(f"field {field} contains bytes instead of a number")
    return value


def integers_of(values: Iterable[int | bytes]) -> list[int]:
    """Return a repeated integer field, packed or not."""
    return [number for value in values for number in integers(value)]


def bytes_of(value: int | bytes) -> bytes:
    """Return bytes; raises ValueError for a number."""
    if isinstance(value, int):
        raise ValueError("a field contains a number instead of bytes")
    return value


class Repeated(NamedTuple):
    """The values of a message's most frequent field, of bytes, and its other fields."""

    distinct: list[bytes]
    """The field's values, each once, in the order of their first use."""
    order: list[int]
    """All of the field's values, as indexes into `distinct`."""
    others: dict[int, list[int | bytes]]
    whole: list[bytes]
    """All fields of the second kind, with their tags and sizes, in order; each piece has one or more."""


def repeated(
    chunks: Iterable[bytes], field: int, second: int | None = None, budget: Budget | None = None
) -> Repeated:
    """Parse a message in pieces for one of its fields, and for a second one; their numbers are below 16.

    Raises ValueError as `fields` does, and LimitExceeded.
    """
    numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
    order: list[int] = []
    others: dict[int, list[int | bytes]] = {}
    whole: list[bytes] = []
    tag, left = field << 3 | _BYTES, b""
    second_tag = None if second is None else second << 3 | _BYTES
    budget = budget or unlimited()
    counted = other_fields = size_so_far = 0
    for chunk in chunks:
        size_so_far += len(chunk)
        budget.check_bytes(size_so_far)
        data = left + chunk
        at, end = 0, len(data)
        with suppress(_CutShort):
            while at < end:
                if data[at] == second_tag:
                    after, count_of_run = _end_of_run(data, at)
                    whole.append(data[at:after])
                    other_fields, at = other_fields + count_of_run, after
                    continue
                if data[at] != tag:
                    other, value, at = _field(data, at)
                    others.setdefault(other, []).append(value)
                    other_fields += 1
                    continue
                # Few sizes have more than two bytes; a call for each would double the time.
                if at + 2 >= end:
                    size, start = _read_varint(data, at + 1)
                elif (size := data[at + 1]) < 0x80:
                    start = at + 2
                elif (high := data[at + 2]) < 0x80:
                    size, start = size & 0x7F | high << 7, at + 3
                else:
                    size, start = _read_varint(data, at + 1)
                if start + size > end:
                    break
                at = start + size
                order.append(numbers[data[start:at]])
        left = data[at:]
        budget.count_records(len(order) + other_fields - counted)
        counted = len(order) + other_fields
    if left:
        # Incomplete data is left: reading it again raises the error.
        _field(left, 0)
    return Repeated(list(numbers), order, others, whole)


def _end_of_run(data: bytes, at: int) -> tuple[int, int]:
    """Return the position after a field of bytes and the short ones that follow with its tag; their number.

    The field's number is below 16. Raises _CutShort if there is none.
    """
    tag, end = data[at], len(data) - 1
    _, _, at = _field(data, at)
    found = 1
    # A call for each field would double the time.
    while at < end and data[at] == tag and (size := data[at + 1]) < 0x80:
        after = at + 2 + size
        if after > end + 1:
            break
        at, found = after, found + 1
    return at, found


def first_blob(data: bytes, field: int) -> tuple[bytes, bytes]:
    """Return the first field and the rest; empty and all if it is not this field of bytes.

    The field's number is below 16. Raises ValueError as `fields` does.
    """
    if not data or data[0] != field << 3 | _BYTES:
        return b"", data
    size, start = (data[1], 2) if len(data) > 1 and data[1] < 0x80 else _read_varint(data, 1)
    if start + size > len(data):
        raise _CutShort(f"a field of {size} bytes is cut short")
    return data[start : start + size], data[start + size :]


def integers(value: int | bytes) -> list[int]:
    """Return the integers of a repeated field's value, packed or one by one."""
    if isinstance(value, int):
        return [value]
    numbers = []
    number = shift = 0
    for byte in value:
        if byte < 0x80:
            numbers.append(_int64(number | byte << shift))
            number = shift = 0
        else:
            number |= (byte & 0x7F) << shift
            shift += 7
    if shift:
        raise ValueError("an integer is cut short")
    return numbers


_WIDEST = 4
"""Maximum size in bytes of the integers that `many_integers` reads at once."""
NOT_LAST = bytes(range(0x80, 0x100))
"""Bytes of integers that others follow."""
_LOW_BITS = bytes(byte & 0x7F for byte in range(256))
"""Translation table: a byte of an integer becomes its seven bits."""
_LONGER = [re.compile(rb"[\x80-\xff]{%d}" % size) for size in range(_WIDEST + 1)]
"""By size: a part of an integer that is longer."""
_AFTER = [
    re.compile(rb"(?<=[\x00-\x7f][\x80-\xff]{%d}[\x00-\x7f])" % (size - 1)) for size in range(1, _WIDEST)
]
"""By size, from 1: the place after an integer."""


def many_integers(value: bytes) -> list[int]:
    """Return what `integers` does, several times as fast for thousands of integers.

    Zeros after shorter integers make all equally wide. Then each column of bytes is read at once.
    """
    width = next((size for size in range(1, _WIDEST + 1) if not _LONGER[size].search(value)), None)
    if width is None:
        return integers(value)
    if value and value[-1] >= 0x80:
        raise ValueError("an integer is cut short")
    wide = b"\0" + value
    # Ids are often equally wide, since neighbours are used together.
    if len(value) != width * len(value.translate(None, NOT_LAST)):
        for size in range(1, width):
            wide = _AFTER[size - 1].sub(bytes(width - size), wide)
    first, *others = (wide[1 + place :: width].translate(_LOW_BITS) for place in range(width))
    if not others:
        return list(first)
    if width == 2:
        return [a | b << 7 for a, b in zip(first, *others, strict=True)]
    if width == 3:
        return [a | b << 7 | c << 14 for a, b, c in zip(first, *others, strict=True)]
    return [a | b << 7 | c << 14 | d << 21 for a, b, c, d in zip(first, *others, strict=True)]


def _field(data: bytes, at: int) -> tuple[int, int | bytes, int]:
    """Return the number and the value of the field at a position, and the position after it."""
    tag, at = (data[at], at + 1) if data[at] < 0x80 else _read_varint(data, at)
    kind = tag & 7
    if kind == _VARINT:
        number, at = _read_varint(data, at)
        return tag >> 3, _int64(number), at
    if kind == _BYTES:
        size, at = _read_varint(data, at)
    elif kind in _FIXED_SIZES:
        size = _FIXED_SIZES[kind]
    else:
        raise ValueError(f"a field has the unknown wire type {kind}")
    if at + size > len(data):
        raise _CutShort(f"a field of {size} bytes is cut short")
    return tag >> 3, data[at : at + size], at + size


def _int64(number: int) -> int:
    if number > _INT64_MAX:
        number &= 2**64 - 1
        return number - 2**64 if number > _INT64_MAX else number
    return number


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the integer at a position, and the position after it."""
    number = shift = 0
    for place in range(at, min(at + LONGEST_VARINT, len(data))):
        byte = data[place]
        if byte < 0x80:
            return number | byte << shift, place + 1
        number |= (byte & 0x7F) << shift
        shift += 7
    if shift < 7 * LONGEST_VARINT:
        raise _CutShort("an integer is cut short")
    raise ValueError(f"an integer has more than {LONGEST_VARINT} bytes")
