"""Members of a JSON document, whose types are checked as they are read; errors name the place."""

from __future__ import annotations

import json
from typing import TypeVar

_T = TypeVar("_T")


def read_json(data: str | bytes) -> object:
    """The document; raises ValueError, which says so, for what is no JSON, or is nested too deeply."""
    try:
        document: object = json.loads(data)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no JSON: byte {error.start} is no text in {error.encoding}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON, or not all of it: {error}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return document


def member(holder: object, where: str, key: str, kind: type[_T]) -> _T:
    """A member of an object; raises ValueError, naming `where`, unless it is there and of this type."""
    if not isinstance(holder, dict):
        raise ValueError(f"{where} is no JSON object")
    if key not in holder:
        raise ValueError(f"{where} has no {key!r}")
    value: object = holder[key]
    if not isinstance(value, kind):
        raise ValueError(f"{where}.{key} is of type {type(value).__name__}, not {kind.__name__}")
    return value


def optional(holder: object, where: str, key: str, default: _T) -> _T:
    """A member that may be null or missing: then `default`, whose type it has otherwise."""
    if isinstance(holder, dict) and holder.get(key) is None:
        return default
    return member(holder, where, key, type(default))


def number(value: object, where: str) -> float:
    """A finite number; raises ValueError, naming `where`, for anything else."""
    if type(value) is not int and (type(value) is not float or value - value != 0):
        raise ValueError(f"{where} is no number")
    return value


def whole(value: object, where: str) -> int:
    """A whole number, which may be written as 3.0, and 0 for null."""
    if value is None:
        return 0
    found = number(value, where)
    if found != int(found):
        raise ValueError(f"{where} is no whole number")
    return int(found)


def column(holder: object, where: str, key: str, length: int) -> list[object]:
    """A list of so many entries; raises ValueError, naming `where`, for a longer or shorter one."""
    values = member(holder, where, key, list)
    if len(values) != length:
        raise ValueError(f"{where}.{key} has {len(values)} entries, not {length}")
    return values
