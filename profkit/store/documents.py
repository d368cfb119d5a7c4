"""A file that holds one dataclass: a JSON object whose `schema` names its form."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TypeVar

from profkit.errors import DamagedFile
from profkit.store.records import from_json, to_json

UNFINISHED = ".new"
"""What the name of a document ends in while it is being written."""

_T = TypeVar("_T")


def write_document(path: Path, schema: str, value: object, indent: int | None = None) -> None:
    """Put a document in the place of the one before; a reader sees the old or the new one, whole.

    Raises OSError, and leaves nothing behind, where the disk takes no more.
    """
    fields = to_json(value)
    if not isinstance(fields, dict):
        raise TypeError(f"{value!r} is no dataclass")
    new = path.with_name(path.name + UNFINISHED)
    try:
        with open(new, "w", encoding="ascii", opener=_for_the_owner) as file:
            file.write(json.dumps({"schema": schema, **fields}, indent=indent))
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def read_document(path: Path, schema: str, kind: type[_T]) -> _T:
    """The dataclass in a file; raises DamagedFile, also where the file is missing or of another schema."""
    try:
        document: object = json.loads(path.read_bytes())
        if not isinstance(document, dict):
            raise ValueError("no JSON object")
        if (found := document.pop("schema", None)) != schema:
            raise ValueError(f"its schema is {found!r}, and this profkit reads {schema!r}")
        return from_json(kind, document)
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedFile(path, str(error)) from error


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
