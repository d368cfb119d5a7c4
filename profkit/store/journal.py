"""A file of JSON lines that outlives a crash of its writer: one record a line, only ever appended to.

Appending is one `write(2)` of whole lines, so that only the last line can be torn.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from profkit.errors import DamagedFile
from profkit.store.records import from_json, to_json

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Journal(Generic[_T]):
    """The records of a file that can be read, and what is wrong with the others, if anything."""

    records: tuple[_T, ...]
    damage: DamagedFile | None = None


def append_records(path: Path, records: Iterable[object]) -> None:
    """Append dataclasses to a file, which is made if need be; raises OSError where they do not fit."""
    lines = "".join([json.dumps(to_json(record)) + "\n" for record in records]).encode("ascii")
    if not lines:
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        written = os.write(descriptor, lines)
    finally:
        os.close(descriptor)
    if written < len(lines):
        raise OSError(f"{path}: the disk took {written} of {len(lines)} bytes")


def read_records(path: Path, kind: type[_T]) -> Journal[_T]:
    """The records of a file; a torn last line is nothing special, and a missing file has no records."""
    try:
        *lines, _torn = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return Journal(())
    except OSError as error:
        return Journal((), DamagedFile(path, str(error)))
    records, problems = [], []
    for number, line in enumerate(lines, 1):
        try:
            records.append(from_json(kind, json.loads(line)))
        except (ValueError, RecursionError) as error:
            problems.append(f"line {number}: {error}")
    return Journal(tuple(records), DamagedFile(path, _summary(problems)) if problems else None)


def _summary(problems: list[str]) -> str:
    return problems[0] + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else "")
