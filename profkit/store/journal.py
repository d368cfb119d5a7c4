"""Append-only files of JSON lines, one record per line, that survive a crash of their writer.

Appending is one `write(2)` of whole lines, so only the last line can be torn.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from profkit.errors import DamagedFile
from profkit.process.guard import reraise_signal_error
from profkit.regular_files import open_own
from profkit.store.files import OwnedFolder, open_spool
from profkit.store.records import from_json, load_json, to_json

LARGEST_BYTES = 2**30
"""Size of the largest journal that is read."""
LONGEST_LINE = 2**20

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT

_T = TypeVar("_T")


class Lines(Generic[_T]):
    """Iterable of the readable records of a journal; damage is known at the end."""

    def __init__(self, folder: OwnedFolder, name: str, kind: type[_T]) -> None:
        self._folder, self._name, self._kind = folder, name, kind
        self.path = folder.path / name
        self._problem = ""
        self.read = self.unreadable = 0
        """Numbers of readable lines, and of complete but unreadable ones."""
        self.torn = False
        """True if the last line has no end, as when the writer is killed while it writes."""
        self.damage: DamagedFile | None = None
        self.missing = folder.status(name) is None

    def __iter__(self) -> Iterator[_T]:
        """Yield the records; raises OSError if a retry may succeed."""
        if self.missing:
            return
        try:
            yield from self._records()
        except DamagedFile as damage:
            reraise_signal_error(damage)
            self.damage = damage
        else:
            if self.unreadable:
                more = f" (and {self.unreadable - 1} more)" if self.unreadable > 1 else ""
                self.damage = DamagedFile(self.path, self._problem + more)

    def _records(self) -> Iterator[_T]:
        for number, line in enumerate(_lines(self._folder.chunks(self._name, LARGEST_BYTES)), 1):
            if not line.endswith(b"\n"):
                self.torn = True
                return
            try:
                record = from_json(self._kind, load_json(line))
            except (ValueError, RecursionError) as error:
                self._problem = self._problem or f"line {number}: {error}"
                self.unreadable += 1
            else:
                self.read += 1
                yield record


def append_records(path: Path, records: Iterable[object]) -> int:
    """Append dataclasses to a file as `open_own` opens it, and return their number.

    Raises OSError if they do not fit. Then none of them is in the file, unless another process appended to it
    meanwhile: what was written by then stays.
    """
    lines = [json_line(record) for record in records]
    if not lines:
        return 0
    data = b"".join(lines)
    descriptor = open_own(path, _APPEND)
    try:
        written = os.write(descriptor, data)
        if written < len(data):
            _write_rest(descriptor, data, written)
    finally:
        os.close(descriptor)
    return len(lines)


def _write_rest(descriptor: int, data: bytes, written: int) -> None:
    """Write the rest after a short write; if that fails, remove the part that was written."""
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
    except OSError as error:
        # Another process may have appended since.
        end = os.lseek(descriptor, 0, os.SEEK_CUR)
        if os.fstat(descriptor).st_size == end:
            os.ftruncate(descriptor, end - written)
        reason = f"only {written} of {len(data)} bytes were written: {error.strerror}"
        raise OSError(error.errno, reason) from error


def json_line(record: object) -> bytes:
    """Return a dataclass as a line of a journal."""
    return json.dumps(to_json(record)).encode("ascii") + b"\n"


def read_records(path: Path, kind: type[_T]) -> tuple[_T, ...]:
    """Return the records of a file that can be read."""
    try:
        with open_spool(path.parent, None) as folder:
            return tuple(Lines(folder, path.name, kind))
    except OSError:
        return ()


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines with their ends, too long ones truncated; a torn last line has no end."""
    rest = b""
    for chunk in chunks:
        *whole, rest_of_chunk = chunk.split(b"\n")
        for line in whole:
            yield rest + line + b"\n"
            rest = b""
        rest = (rest + rest_of_chunk)[: LONGEST_LINE + 1]
    if rest:
        yield rest
