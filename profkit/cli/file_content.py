"""Contents of files that commands are given: from disk or stdin, unpacked."""

from __future__ import annotations

import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import DamagedFile, UsageError

PIPE, STDIN = "-", "stdin"
"""What stands for stdin, and what stdin is called then."""

_GZIP, _MAGIC = 31, b"\x1f\x8b"
_LARGEST = 4 << 30
"""Bytes that a compressed file may unpack to."""


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file's content without any gzip around it."""

    name: str
    """As it was given, `STDIN` for a pipe."""
    content: bytes
    changed_ns: int
    """Unix time of its last change."""


def read_content(name: str) -> FileContent:
    """The content of a file, or of stdin for `PIPE`; raises UsageError, and DamagedFile for damaged gzip."""
    try:
        if name == PIPE:
            content = _unpacked(sys.stdin.buffer.read(), STDIN)
            return FileContent(STDIN, content, SYSTEM_CLOCK.unix_ns())
        data = Path(name).read_bytes()
        return FileContent(name, _unpacked(data, name), os.stat(name).st_mtime_ns)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}", "name a file that can") from error


def _unpacked(data: bytes, name: str) -> bytes:
    """Without gzip, all members of it."""
    parts = []
    left = _LARGEST
    while data.startswith(_MAGIC):
        unpacker = zlib.decompressobj(_GZIP)
        try:
            parts.append(unpacker.decompress(data, left))
        except zlib.error as error:
            raise DamagedFile(Path(name), str(error)) from error
        if not unpacker.eof:
            detail = f"it unpacks to more than {_LARGEST} bytes" if unpacker.unconsumed_tail else "cut short"
            raise DamagedFile(Path(name), detail)
        left = max(1, left - len(parts[-1]))
        data = unpacker.unused_data
    return b"".join(parts) if parts else data
