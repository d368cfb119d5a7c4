"""Typed access to members of JSON documents, with errors that name the place; lines of text files."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
        budget.count_records(data.count(b"[") + data.count(b"{"))
    try:
        document: object = json.loads(data)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not JSON: byte {error.start} is not valid {error.encoding}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON, or it is cut short: {error}") from error
    except RecursionError as error:
        raise ValueError("its lists and objects are nested too deeply for Python's JSON parser") from error
    return document


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


def text_lines(data: bytes) -> Iterator[str]:
    """Yield lines without their ends; only line feeds end them. Invalid UTF-8 becomes surrogates."""
    for line in BytesIO(data):
        yield line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
