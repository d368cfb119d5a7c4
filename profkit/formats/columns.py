"""Columns of integers in files: arrays, compressed by the planes of their bytes.

The first plane has the lowest byte of each integer. Equal high bytes, as of most columns, take no space then.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from collections.abc import Iterable

_UNSIGNED, _SIGNED = "BHIQ", "bhiq"
"""Types of arrays, of 1, 2, 4 and 8 bytes."""
_HEAD = struct.Struct("<cQ")
"""Type and length of a column."""
_FASTEST = 1
"""Level of zlib: others take several times as long, and save a few percent."""


def little_endian(column: array[int]) -> bytes:
    """Return the bytes of an array, the same on all machines."""
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column.tobytes()


def array_of(kind: str, data: bytes | bytearray) -> array[int]:
    """Return the array of this type that has these bytes; raises ValueError if they end within an integer."""
    column: array[int] = array(kind)
    column.frombytes(data)
    if sys.byteorder == "big":
        column.byteswap()
    return column


def column_of(values: Iterable[int]) -> array[int]:
    """Return the shortest array with these integers; raises OverflowError if one needs more than 64 bits."""
    known = values if isinstance(values, array) else tuple(values)
    low, high = min(known, default=0), max(known, default=0)
    for kind in _SIGNED if low < 0 else _UNSIGNED:
        bits = 8 * array(kind).itemsize - (low < 0)
        if high < 1 << bits and low >= -1 << bits:
            return array(kind, known)
    raise OverflowError(f"{low} or {high} needs more than 64 bits")


def pack_columns(columns: Iterable[array[int]]) -> bytes:
    """Return the compressed columns."""
    packer = zlib.compressobj(_FASTEST)
    parts = []
    for column in columns:
        parts.append(packer.compress(_HEAD.pack(column.typecode.encode(), len(column))))
        data, width = little_endian(column), column.itemsize
        parts += [packer.compress(data[place::width]) for place in range(width)]
    return b"".join((*parts, packer.flush()))


class ColumnReader:
    """Read columns that `pack_columns` has packed, one at a time: all of them at once would take much memory.

    Its methods raise ValueError, zlib.error and OverflowError.
    """

    def __init__(self, data: bytes) -> None:
        self._left = data
        self._unpacker = zlib.decompressobj()

    def take(self) -> array[int]:
        """Return the next column."""
        kind, length = _HEAD.unpack(self._bytes(_HEAD.size))
        column: array[int] = array(kind.decode("latin-1"))
        width = column.itemsize
        planes = self._bytes(width * length)
        joined = bytearray(len(planes))
        for place in range(width):
            joined[place::width] = planes[place * length : (place + 1) * length]
        return array_of(column.typecode, joined)

    def close(self) -> None:
        """Check that all columns were read, and that they are as they were written."""
        if self._unpacker.decompress(self._left, 1) or not self._unpacker.eof or self._unpacker.unused_data:
            raise ValueError("it does not end with its columns")

    def _bytes(self, size: int) -> bytes:
        # For zlib, a limit of 0 is none.
        taken = self._unpacker.decompress(self._left, size) if size else b""
        self._left = self._unpacker.unconsumed_tail
        if len(taken) != size:
            raise ValueError("its columns are cut short")
        return taken
