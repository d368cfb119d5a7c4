"""Frozen dataclasses as JSON, converted by their type hints, and files with one such document."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import os
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import TypeVar, Union, cast, get_args, get_origin, get_type_hints

from profkit.errors import DamagedFile
from profkit.model.histogram import LARGEST_BUCKET, Histogram
from profkit.regular_files import own_folder
from profkit.store.files import OwnedFolder

_T = TypeVar("_T")
_Reader = Callable[[object, str], object]


def to_json(value: object) -> object:
    """Return the JSON form: dataclasses as objects, tuples as arrays, enums as their values."""
    kind = type(value)
    if kind is str or kind is int or value is None:  # most are
        return value
    if names := _names(cast(Hashable, kind)):
        return {name: to_json(getattr(value, name)) for name in names}
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    return value.value if isinstance(value, enum.Enum) else value


@cache
def _names(kind: Hashable) -> tuple[str, ...]:
    """Return the names of a dataclass's fields; none for other types."""
    return tuple([field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else ())


def from_json(kind: type[_T], value: object) -> _T:
    """Return the dataclass `kind` from its JSON form; raises ValueError that names the mismatch."""
    return cast(_T, _reader(cast(Hashable, kind))(value, ""))


def from_file(kind: type[_T], value: object) -> _T:
    """Read a dataclass from a file's JSON value; raises ValueError also for impossible numbers.

    Such numbers come from damage, and would only fail later, in the middle of a report.
    """
    found = from_json(kind, value)
    _check_numbers(found, "")
    return found


def _check_numbers(value: object, where: str) -> None:
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{where} has more than 64 bits")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}")
    elif isinstance(value, tuple):
        for item in value:
            _check_numbers(item, where)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inside = f"{where}." if where else ""
        for name in _readers(type(value)):
            _check_numbers(getattr(value, name), f"{inside}{name}")
        if isinstance(value, Histogram):
            _check_buckets(value, where)


def _check_buckets(histogram: Histogram, where: str) -> None:
    for bucket, count in histogram.buckets:
        if not 0 <= bucket <= LARGEST_BUCKET or count < 0:
            raise ValueError(f"{where} has {count} durations in bucket {bucket}")


@cache
def _reader(hint: Hashable) -> _Reader:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return lambda value, where: _dataclass(hint, value, where)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return lambda value, where: _enum(hint, value, where)
    if hint in (str, int, float, bool, NoneType):
        return lambda value, where: _scalar(cast(type, hint), value, where)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType) and len(arguments) == 2 and NoneType in arguments:
        read = _reader(arguments[arguments[0] is NoneType])
        return lambda value, where: None if value is None else read(value, where)
    if origin in (Union, UnionType) and set(arguments) <= {str, int, float}:
        return lambda value, where: _one_of(cast("tuple[type, ...]", arguments), value, where)
    if origin is tuple:
        return _tuple_reader(arguments)
    raise TypeError(f"{hint!r} has no JSON form here")


def _tuple_reader(arguments: tuple[Hashable, ...]) -> _Reader:
    if arguments[-1] is Ellipsis:
        read = _reader(arguments[0])
        return lambda value, where: tuple(
            [read(item, f"{where}[{n}]") for n, item in enumerate(_list(value, where))]
        )
    reads = [_reader(argument) for argument in arguments]

    def read_all(value: object, where: str) -> object:
        items = _list(value, where)
        if len(items) != len(reads):
            raise ValueError(f"{where} has {len(items)} items, not {len(reads)}")
        return tuple(
            [read(item, f"{where}[{n}]") for n, (read, item) in enumerate(zip(reads, items, strict=True))]
        )

    return read_all


@cache
def _readers(kind: type) -> dict[str, _Reader]:
    hints = get_type_hints(kind)
    return {field.name: _reader(hints[field.name]) for field in dataclasses.fields(kind)}


def _dataclass(kind: type, value: object, where: str) -> object:
    if not isinstance(value, dict):
        raise ValueError(f"{where or kind.__name__} is not a JSON object")
    readers = _readers(kind)
    missing, unknown = readers.keys() - value.keys() - _later(kind), value.keys() - readers.keys()
    if missing or unknown:
        problem = f"lacks {sorted(missing)}" if missing else f"has unknown {sorted(unknown)}"
        raise ValueError(f"{where or kind.__name__} {problem}")
    inside = f"{where}." if where else ""
    return kind(**{name: readers[name](item, f"{inside}{name}") for name, item in value.items()})


@cache
def _later(kind: type) -> frozenset[str]:
    """Return the fields that older documents lack, which have `metadata={"later": True}` and a default."""
    return frozenset(field.name for field in dataclasses.fields(kind) if field.metadata.get("later"))


def _enum(kind: type[enum.Enum], value: object, where: str) -> object:
    try:
        return kind(value)
    except ValueError as error:
        raise ValueError(f"{where} is {value!r}, not one of {[member.value for member in kind]}") from error


def _one_of(kinds: tuple[type, ...], value: object, where: str) -> object:
    if type(value) in kinds:
        return value
    raise ValueError(f"{where} is {value!r}, not one of {[kind.__name__ for kind in kinds]}")


def _scalar(kind: type, value: object, where: str) -> object:
    # JSON has one kind of number, and Python's True is an int.
    if type(value) is kind:
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError as error:
            raise ValueError(f"{where} is an integer of {value.bit_length()} bits") from error
    raise ValueError(f"{where} is {value!r}, not of type {kind.__name__}")


def _list(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"{where} is not a JSON array")
    return value


UNFINISHED = ".new"
"""Suffix of a document's name while it is being written."""
LARGEST_BYTES = 2**30
"""Size of the largest document that is read, unless a caller passes less."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
_INT64 = 2**63


def document_bytes(schema: str, value: object, indent: int | None = None) -> bytes:
    """Return a dataclass as the content of a document."""
    fields = to_json(value)
    if not isinstance(fields, dict):
        raise TypeError(f"{value!r} is not a dataclass")
    return json.dumps({"schema": schema, **fields}, indent=indent).encode("ascii")


def write_document(
    path: Path, schema: str, value: object, indent: int | None = None, *, sync: bool = False
) -> None:
    """Replace a document in a folder of this user's atomically, with `sync` also in case of a power loss.

    Raises OSError, and leaves nothing behind, if the disk is full.
    """
    data = document_bytes(schema, value, indent)
    new = path.name + UNFINISHED
    with own_folder(path.parent) as folder:
        try:
            with open(os.open(new, _NEW, 0o600, dir_fd=folder), "wb") as file:
                file.write(data)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(new, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(new, dir_fd=folder)
            raise


def read_document(
    folder: OwnedFolder, name: str, schema: str, kind: type[_T], most_bytes: int = LARGEST_BYTES
) -> _T:
    """Return the dataclass in a folder's file.

    Raises DamagedFile, also if it is missing or has another schema, and OSError if a retry may help.
    """
    data = folder.read(name, most_bytes)
    try:
        return parse_document(data, schema, kind)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(folder.path / name, str(error)) from error


def parse_document(data: bytes, schema: str, kind: type[_T]) -> _T:
    """Return the dataclass in a document's content; raises ValueError and RecursionError."""
    document = load_json(data)
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    if (found := document.pop("schema", None)) != schema:
        raise ValueError(f"its schema is {found!r}, and this profkit reads {schema!r}")
    return from_file(kind, document)


def load_json(data: bytes) -> object:
    """Return the JSON value; raises ValueError, also for integers of more than 64 bits."""
    if data[:1] == b"\0":  # json would take it for UTF-32
        raise ValueError("it contains zeros, as after a power failure")
    return json.loads(data, parse_int=_int64)


def _int64(digits: str) -> int:
    number = int(digits) if len(digits) <= 20 else _INT64
    if not -_INT64 <= number < _INT64:
        raise ValueError("it has a number of more than 64 bits")
    return number
