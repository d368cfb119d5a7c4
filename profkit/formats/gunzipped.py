"""Gzip taken off a content, no further than a budget allows."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from profkit.formats.limits import Budget

MAGIC = b"\x1f\x8b"
"""What gzip begins with."""

_GZIP = 31
_PACKED, _UNPACKED = 1 << 14, 1 << 20
"""Bytes that are given to zlib, and taken from it, at once."""


def gunzipped(data: bytes, budget: Budget) -> bytes:
    """Return a content without gzip around it, all members of it, or as it is if there is none.

    Raises ValueError for damaged gzip, and LimitExceeded.
    """
    return b"".join(unpacked([data], budget)) if data.startswith(MAGIC) else data


def unpacked(pieces: Iterable[bytes], budget: Budget) -> Iterator[bytes]:
    """Return the content of gzip that comes in pieces, as it comes; what follows its members is left out.

    Raises as `gunzipped` does, also if the content as a whole is larger than the budget allows.
    """
    size, packed = 0, _split(pieces)
    left = next(packed, b"")
    while left.startswith(MAGIC):
        unpacker = zlib.decompressobj(_GZIP)
        while not unpacker.eof:
            # What is not consumed yet is copied each time: so little is given at once.
            left = left or next(packed, b"")
            if not left:
                raise ValueError("its gzip is cut short")
            piece = _decompressed(unpacker, left)
            size += len(piece)
            budget.check_bytes(size)
            budget.check_time()
            yield piece
            left = unpacker.unconsumed_tail
        left = unpacker.unused_data
        if len(left) < len(MAGIC):
            left += next(packed, b"")


def _split(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), _PACKED):
            yield piece[start : start + _PACKED]


def _decompressed(unpacker: zlib._Decompress, data: bytes) -> bytes:
    try:
        return unpacker.decompress(data, _UNPACKED)
    except zlib.error as error:
        raise ValueError(f"its gzip is damaged: {error}") from error
