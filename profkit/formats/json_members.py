"""Typed access to members of JSON documents, with errors that name the place; lines of text files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import TypeVar

from profkit.formats.limits import Budget

_T = TypeVar("_T")

_INT64_MAX = 2**63 - 1


def read_json(data: str | bytes, budget: Budget | None = None) -> object:
    """Parse a document; raise ValueError, with the reason, for invalid or too deeply nested JSON.

    Python's parser cannot be stopped midway, and objects and lists take up to a hundred times the memory of
    their text. So they are counted first.
    """
    if budget is not None and isinstance(data, bytes):
        _count_records(data, budget)
    try:
        document: object = json.loads(data)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not JSON: byte {error.start} is not valid {error.encoding}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON, or it is cut short: {error}") from error
    except RecursionError as error:
        raise ValueError("its lists and objects are nested too deeply for Python's JSON parser") from error
    return document


def _count_records(data: bytes, budget: Budget) -> None:
    budget.count_records(data.count(b"[") + data.count(b"{"))


_SAMPLES = re.compile(rb'"samples"[ \t\r\n]*:[ \t\r\n]*\[[ \t\r\n]*\[([0-9,\[\] \t\r\n]*)\][ \t\r\n]*\]')
_BETWEEN_LISTS = re.compile(rb"\][ \t\r\n]*,[ \t\r\n]*\[")


def read_json_with_stacks(data: bytes, budget: Budget | None = None) -> object:
    """Parse a document as `read_json` does; equal lists of whole numbers in members `samples` are one object.

    Few of a profile's stacks are distinct, and each is parsed once. Python's parser makes an object of each
    number: it takes nine times the memory of such a text. The lists must not be changed.
    """
    if not json.detect_encoding(data).startswith("utf-8"):
        return read_json(data, budget)
    if budget is not None:
        _count_records(data, budget)
    lists = _SharedLists()
    try:
        document: object = json.loads(_SAMPLES.sub(lists.replaced, data), object_hook=lists.restored)
    except (ValueError, TypeError, RecursionError):  # of a list in a list, a TypeError
        return read_json(data)  # for the place of the error
    return document


class _SharedLists:
    """Lists of lists of whole numbers; each distinct list is parsed once."""

    def __init__(self) -> None:
        self._known: dict[bytes, list[int]] = {}
        self._lists: list[list[list[int]]] = []
        self._numbers: dict[int, int] = {}
        # No file can have this member.
        self._member = os.urandom(16).hex()

    def replaced(self, match: re.Match[bytes]) -> bytes:
        """Return the member `samples` with an object that represents its list."""
        if match.string[match.start() - 1 : match.start()] == b"\\":  # the end of a longer name
            return match[0]
        self._lists.append(list(map(self._parsed, _BETWEEN_LISTS.split(match[1]))))
        return f'"samples":{{"{self._member}":{len(self._lists) - 1}}}'.encode()

    def restored(self, found: dict[str, object]) -> object:
        """Return the list that an object represents; other objects are unchanged."""
        place = found.get(self._member)
        return self._lists[place] if isinstance(place, int) else found

    def _parsed(self, text: bytes) -> list[int]:
        known = self._known.get(text)
        if known is None:
            numbers = json.loads(b"[%b]" % text)
            known = self._known[text] = list(map(self._numbers.setdefault, numbers, numbers))
        return known


def member(holder: object, where: str, key: str, kind: type[_T]) -> _T:
    """Return a member of an object; raise ValueError, naming `where`, if it is missing or of another type."""
    if not isinstance(holder, dict):
        raise ValueError(f"{where} is not a JSON object")
    if key not in holder:
        raise ValueError(f"{where} has no {key!r}")
    value: object = holder[key]
    if not isinstance(value, kind) or (value.__class__ is bool and kind is int):
        raise ValueError(f"{where}.{key} is of type {type(value).__name__}, not {kind.__name__}")
    return value


def optional(holder: object, where: str, key: str, default: _T) -> _T:
    """Return a member with the type of `default`; return `default` if the member is null or missing."""
    if isinstance(holder, dict) and holder.get(key) is None:
        return default
    return member(holder, where, key, type(default))


def number(value: object, where: str) -> float:
    """Return a finite number; raise ValueError, naming `where`, for anything else."""
    if type(value) is not int and (type(value) is not float or value - value != 0):
        raise ValueError(f"{where} is not a number")
    return value


def bounded(value: object, where: str) -> float:
    """Return a number of at most 64 bits; raise ValueError, naming `where`, for anything else."""
    found = number(value, where)
    if not -_INT64_MAX - 1 <= found <= _INT64_MAX:
        raise ValueError(f"{where} is {written(found)}, a number of more than 64 bits")
    return found


def scaled(value: object, where: str, factor: float) -> int:
    """Return a number times `factor`, rounded; raise ValueError, naming `where`, beyond 64 bits."""
    number = bounded(value, where)
    found = round(number * factor)
    if not -_INT64_MAX - 1 <= found <= _INT64_MAX:
        raise ValueError(f"{where} is {written(number)}; multiplied by {factor:g} it needs more than 64 bits")
    return found


def written(value: float) -> str:
    """Return a number as text that is short for any number."""
    if isinstance(value, float) or abs(value) < 10**18:
        return f"{value!r}"
    return f"an integer of {value.bit_length()} bits"


def whole(value: object, where: str) -> int:
    """Return a whole number, which may be written as 3.0, and 0 for null."""
    if value is None:
        return 0
    found = bounded(value, where)
    if found != int(found):
        raise ValueError(f"{where} is not a whole number")
    return int(found)


def column(holder: object, where: str, key: str, length: int) -> list[object]:
    """Return a list of `length` entries; raise ValueError, naming `where`, for another length."""
    values = member(holder, where, key, list)
    if len(values) != length:
        raise ValueError(f"{where}.{key} has {len(values)} entries, not {length}")
    return values


def whole_steps(weights: Iterable[float]) -> Iterator[int]:
    """Yield weights as whole numbers; each partial sum differs from the original by at most a half."""
    total: float = 0
    done = 0
    for weight in weights:
        total += weight
        step = round(total) - done
        done += step
        yield step


def text_lines(data: bytes) -> Iterator[str]:
    """Yield lines without their ends; only line feeds end them. Invalid UTF-8 becomes surrogates."""
    for line in BytesIO(data):
        yield line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
