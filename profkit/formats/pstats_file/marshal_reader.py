"""The part of Python's marshal format that statistics consist of, read without trust.

`marshal.loads` may crash the interpreter where bytes are damaged or hostile ("not intended to be secure",
Doc/library/marshal.rst). Here are dictionaries, tuples, text and numbers, of all versions of the format
(Python/marshal.c), never code, and nothing larger or deeper than the file pays for.
"""

from __future__ import annotations

import struct

from profkit.formats.limits import Budget, unlimited

_FLAG_REF = 0x80
_DEEPEST = 8
_COUNTED_AT_ONCE = 1024
_LONGEST = 64
"""Digits of 15 bits that a number may have."""
_DOUBLE = struct.Struct("<d")
_NULL = object()
_UNFINISHED = object()
_CONSTANTS: dict[int, object] = {ord("0"): _NULL, ord("N"): None, ord("T"): True, ord("F"): False}
_SHORT_TEXTS = b"zZ"
_TEXTS = b"aAustu"


def read_marshalled(data: bytes, budget: Budget | None = None) -> object:
    """The first object in the bytes; raises ValueError for what is not there or of another type."""
    found = _Reader(data, budget or unlimited()).value(0)
    if found is _NULL:
        raise ValueError("it holds nothing")
    return found


class _Reader:
    """A position in the bytes, and the objects that later ones refer to."""

    def __init__(self, data: bytes, budget: Budget) -> None:
        self._data, self._at = data, 0
        self._budget, self._uncounted = budget, 0
        self._known: list[object] = []

    def value(self, depth: int) -> object:
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        self._uncounted += 1
        if self._uncounted == _COUNTED_AT_ONCE:
            self._budget.count_records(self._uncounted)
            self._uncounted = 0
        code = self._byte()
        kind = code & ~_FLAG_REF
        if kind == ord("r"):
            return self._reference()
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        # A container has its number before what is in it.
        number = len(self._known)
        if code & _FLAG_REF:
            self._known.append(_UNFINISHED)
        found = self._content(kind, depth)
        if code & _FLAG_REF:
            self._known[number] = found
        return found

    def _content(self, kind: int, depth: int) -> object:
        if kind in b"()":
            size = self._byte() if kind == ord(")") else self._size()
            return tuple([self.value(depth + 1) for _ in range(size)])
        if kind == ord("{"):
            return self._dictionary(depth)
        if kind in _SHORT_TEXTS:
            return self._text(self._byte())
        if kind in _TEXTS:
            return self._text(self._size())
        return self._number(kind)

    def _dictionary(self, depth: int) -> dict[object, object]:
        found: dict[object, object] = {}
        while (key := self.value(depth + 1)) is not _NULL:
            # Tuples of tuples could make a hash that takes for ever.
            if not isinstance(key, tuple) or not all(isinstance(part, str | int) for part in key):
                raise ValueError(f"a dictionary has a key of type {type(key).__name__}")
            found[key] = self.value(depth + 1)
        return found

    def _number(self, kind: int) -> int | float:
        match chr(kind):
            case "i":
                return self._signed(4)
            case "I":
                return self._signed(8)
            case "g":
                (number,) = _DOUBLE.unpack(self._taken(8))
                return float(number)
            case "f":
                return float(self._taken(self._byte()))
            case "l":
                return self._long()
            case "c":
                raise ValueError("it holds code, as `python -m profile` leaves it; take cProfile instead")
            case other:
                raise ValueError(f"it holds an object of the type {other!r}, which statistics have none of")

    def _long(self) -> int:
        """Digits of 15 bits, the least first; their number is negative for a negative number."""
        size = self._signed(4)
        if abs(size) > _LONGEST:
            raise ValueError(f"a number in it has {abs(size)} digits")
        number = 0
        for place in range(abs(size)):
            number |= int.from_bytes(self._taken(2), "little") << 15 * place
        return -number if size < 0 else number

    def _reference(self) -> object:
        number = self._size()
        found = self._known[number] if number < len(self._known) else _UNFINISHED
        if found is _UNFINISHED or isinstance(found, dict):
            raise ValueError(f"it refers to object {number}, which is no text, number or tuple")
        return found

    def _text(self, size: int) -> str:
        return self._taken(size).decode("utf-8", "surrogatepass")

    def _size(self) -> int:
        """A number of things that each take at least a byte; so a lie about it is found at once."""
        size = self._signed(4)
        if not 0 <= size <= len(self._data):
            raise ValueError(f"something in it claims a size of {size}")
        return size

    def _byte(self) -> int:
        return self._taken(1)[0]

    def _signed(self, size: int) -> int:
        return int.from_bytes(self._taken(size), "little", signed=True)

    def _taken(self, size: int) -> bytes:
        data = self._data[self._at : self._at + size]
        if len(data) < size:
            raise ValueError("it is cut short")
        self._at += size
        return data
