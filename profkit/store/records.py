"""Frozen dataclasses as JSON, converted by their type hints, and files with one such document."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import os
from collections.abc import Callable, Collection, Hashable, Mapping
from contextlib import suppress
from functools import cache
from itertools import repeat
from pathlib import Path
from types import NoneType, UnionType
from typing import TypeVar, Union, cast, get_args, get_origin, get_type_hints

from profkit.errors import DamagedFile
from profkit.model.histogram import LARGEST_BUCKET, Histogram
from profkit.regular_files import own_folder
from profkit.store.files import OwnedFolder

_T = TypeVar("_T")
_Reader = Callable[[object], object]
_INT64 = 2**63


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
    """Return the dataclass `kind` from its JSON form; raises ValueError that names the mismatch.

    Impossible numbers are refused, too: they come from damage, and would only fail later, in the middle of a
    report.
    """
    try:
        return cast(_T, _reader(cast(Hashable, kind))(value))
    except _Mismatch as mismatch:
        raise ValueError(f"{mismatch.where() or kind.__name__} {mismatch.problem}") from mismatch


class _Mismatch(ValueError):
    """A value that is not what its hint says; readers prepend its place from the inside out."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path: list[str] = []

    def where(self) -> str:
        """Return the place, such as `many[0].pair`."""
        return "".join(reversed(self.path)).removeprefix(".")


@cache
def _reader(hint: Hashable) -> _Reader:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _dataclass_reader(hint)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _enum_reader(hint)
    if hint in (str, int, float, bool, NoneType):
        return _scalar_reader(cast(type, hint))
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType) and len(arguments) == 2 and NoneType in arguments:
        read = _reader(arguments[arguments[0] is NoneType])
        return lambda value: None if value is None else read(value)
    if origin in (Union, UnionType) and set(arguments) <= {str, int, float}:
        return _union_reader({kind: _scalar_reader(kind) for kind in arguments})
    if origin is tuple:
        return _tuple_reader(arguments)
    raise TypeError(f"{hint!r} has no JSON form here")


def _tuple_reader(arguments: tuple[Hashable, ...]) -> _Reader:
    is_uniform, is_text = arguments[-1] is Ellipsis, arguments[0] is str
    reads = [_reader(argument) for argument in arguments if argument is not Ellipsis]

    def read(value: object) -> object:
        if not isinstance(value, list):
            raise _Mismatch("is not a JSON array")
        if not value and is_uniform:  # many are
            return ()
        if is_uniform and is_text and set(map(type, value)) == {str}:
            return tuple(value)
        if not is_uniform and len(value) != len(reads):
            raise _Mismatch(f"has {len(value)} items, not {len(reads)}")
        found: list[object] = []
        try:
            for read_item, item in zip(repeat(reads[0]) if is_uniform else reads, value, strict=False):
                found.append(read_item(item))
        except _Mismatch as mismatch:
            mismatch.path.append(f"[{len(found)}]")
            raise
        return tuple(found)

    return read


def _dataclass_reader(kind: type) -> _Reader:
    # The hints are resolved when a value is read: a dataclass may refer to itself.
    fields: dict[str, _Reader] = {}
    texts: set[str] = set()
    later = frozenset(field.name for field in dataclasses.fields(kind) if field.metadata.get("later"))

    def read(value: object) -> object:
        if not isinstance(value, dict):
            raise _Mismatch("is not a JSON object")
        if not fields:
            hints = get_type_hints(kind)
            fields.update((field.name, _reader(hints[field.name])) for field in dataclasses.fields(kind))
            texts.update(name for name in fields if hints[name] is str)
        if value.keys() != fields.keys():
            _check_names(value.keys() - fields.keys(), fields.keys() - value.keys() - later)
        name = ""
        found: dict[str, object] = {}
        try:
            for name, item in value.items():
                found[name] = item if type(item) is str and name in texts else fields[name](item)
        except _Mismatch as mismatch:
            mismatch.path.append(f".{name}")
            raise
        made: object = kind(**found)
        if isinstance(made, Histogram):
            _check_buckets(made)
        return made

    return read


def _check_names(unknown: Collection[str], missing: Collection[str]) -> None:
    if unknown or missing:
        raise _Mismatch(f"lacks {sorted(missing)}" if missing else f"has unknown {sorted(unknown)}")


def _check_buckets(histogram: Histogram) -> None:
    for bucket, count in histogram.buckets:
        if not 0 <= bucket <= LARGEST_BUCKET or count < 0:
            raise _Mismatch(f"has {count} durations in bucket {bucket}")


def _enum_reader(kind: type[enum.Enum]) -> _Reader:
    def read(value: object) -> object:
        try:
            return kind(value)
        except ValueError as error:
            raise _Mismatch(f"is {value!r}, not one of {[member.value for member in kind]}") from error

    return read


def _union_reader(readers: Mapping[type, _Reader]) -> _Reader:
    def read(value: object) -> object:
        if type(value) not in readers:
            raise _Mismatch(f"is {value!r}, not one of {[kind.__name__ for kind in readers]}")
        return readers[type(value)](value)

    return read


def _scalar_reader(kind: type) -> _Reader:
    def read(value: object) -> object:
        # JSON has one kind of number, and Python's True is an int.
        if type(value) is not kind:
            raise _Mismatch(f"is {value!r}, not of type {kind.__name__}")
        return value

    return {int: _whole_number, float: _number}.get(kind, read)


def _whole_number(value: object) -> object:
    if type(value) is not int:
        raise _Mismatch(f"is {value!r}, not of type int")
    if not -_INT64 <= value < _INT64:
        raise _Mismatch("has more than 64 bits")
    return value


def _number(value: object) -> object:
    if type(value) is int:
        try:
            return float(value)
        except OverflowError as error:
            raise _Mismatch(f"is an integer of {value.bit_length()} bits") from error
    if type(value) is not float:
        raise _Mismatch(f"is {value!r}, not of type float")
    if not math.isfinite(value):
        raise _Mismatch(f"is {value}")
    return value


UNFINISHED = ".new"
"""Suffix of a document's name while it is being written."""
LARGEST_BYTES = 2**30
"""Size of the largest document that is read, unless a caller passes less."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW


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
    return from_json(kind, document)


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
