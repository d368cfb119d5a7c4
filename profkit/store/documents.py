"""A file that holds one dataclass: a JSON object whose `schema` names its form."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TypeVar

from profkit.errors import DamagedFile
from profkit.store.owned import OwnedFolder, open_spool
from profkit.store.records import from_file, to_json

UNFINISHED = ".new"
"""What the name of a document ends in while it is being written."""
LARGEST_BYTES = 2**30
"""Size of the largest document that is read, unless a caller says less."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
_INT64 = 2**63

_T = TypeVar("_T")


def document_bytes(schema: str, value: object, indent: int | None = None) -> bytes:
    """Return a dataclass as the content of a document."""
    fields = to_json(value)
    if not isinstance(fields, dict):
        raise TypeError(f"{value!r} is no dataclass")
    return json.dumps({"schema": schema, **fields}, indent=indent).encode("ascii")


def write_document(
    path: Path, schema: str, value: object, indent: int | None = None, *, sync: bool = False
) -> None:
    """Replace a document; a reader sees the old or the new one, whole, with `sync` also after a power loss.

    Raises OSError, and leaves nothing behind, if the disk is full.
    """
    data = document_bytes(schema, value, indent)
    new = path.with_name(path.name + UNFINISHED)
    try:
        with open(new, "wb", opener=_for_the_owner) as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def read_document(path: Path, schema: str, kind: type[_T]) -> _T:
    """Return the dataclass in a file; raises DamagedFile, also if it is missing or of another schema."""
    try:
        with open_spool(path.parent, None) as folder:
            return read_document_in(folder, path.name, schema, kind)
    except OSError as error:
        raise DamagedFile(path, error.strerror or str(error)) from error


def read_document_in(
    folder: OwnedFolder, name: str, schema: str, kind: type[_T], most_bytes: int = LARGEST_BYTES
) -> _T:
    """Return the dataclass in a file of a folder, as `read_document`; OSError is for another try later."""
    data = folder.read(name, most_bytes)
    try:
        return parse_document(data, schema, kind)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(folder.path / name, str(error)) from error


def parse_document(data: bytes, schema: str, kind: type[_T]) -> _T:
    """Return the dataclass in a document's content; raises ValueError and RecursionError."""
    document = load_json(data)
    if not isinstance(document, dict):
        raise ValueError("no JSON object")
    if (found := document.pop("schema", None)) != schema:
        raise ValueError(f"its schema is {found!r}, and this profkit reads {schema!r}")
    return from_file(kind, document)


def load_json(data: bytes) -> object:
    """Return the JSON value; raises ValueError, also for numbers that no file of profkit has."""
    if data[:1] == b"\0":  # json would take it for UTF-32
        raise ValueError("it holds zeros, as after a power failure")
    return json.loads(data, parse_int=_int64)


def _int64(digits: str) -> int:
    number = int(digits) if len(digits) <= 20 else _INT64
    if not -_INT64 <= number < _INT64:
        raise ValueError("it has a number of more than 64 bits")
    return number


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, _NEW, 0o600)
