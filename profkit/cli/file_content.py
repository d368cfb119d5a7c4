"""Contents of files that commands are given: from disk, a pipe or stdin, unpacked, within limits."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import DamagedFile, UsageError
from profkit.formats.limits import MAGIC, Budget, enough_memory, unpacked

PIPE, STDIN = "-", "stdin"
"""What stands for stdin, and what stdin is called then."""

_PIECE = 1 << 20
_LONGEST_WAIT_S = 60.0
_GIVEN_PIPES = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Where a shell puts the pipes that it opens for a command, as for `<(...)`."""
_KINDS = {
    stat.S_IFDIR: "is a directory",
    stat.S_IFIFO: "is a named pipe, which may wait forever",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFCHR: "is a device",
    stat.S_IFBLK: "is a device",
}


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file's content without any gzip around it."""

    name: str
    """As it was given, `STDIN` for a pipe."""
    content: bytes
    changed_ns: int
    """Unix time of its last change."""


def read_content(name: str, budget: Budget) -> FileContent:
    """Return the content of a file, or of stdin for `PIPE`.

    Raises UsageError for what is not there or no file, DamagedFile for damaged gzip, and LimitExceeded as
    soon as a limit is reached.
    """
    shown = STDIN if name == PIPE else name
    try:
        with enough_memory(Path(shown)):
            if name == PIPE:
                return FileContent(STDIN, _content(sys.stdin.buffer, budget), SYSTEM_CLOCK.unix_ns())
            with _opened(name) as file:
                return FileContent(name, _content(file, budget), os.fstat(file.fileno()).st_mtime_ns)
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}", "name a file that can") from error
    except ValueError as error:
        raise DamagedFile(Path(shown), str(error)) from error


def _opened(name: str) -> BinaryIO:
    """Open a file, or a pipe that a shell made for this command; raise UsageError for anything else."""
    # Devices and sockets are not even opened: that alone may have effects, or wait.
    _check_kind(name, os.stat(name).st_mode)
    descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        _check_kind(name, os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb", buffering=0)
    except BaseException:
        os.close(descriptor)
        raise


def _check_kind(name: str, mode: int) -> None:
    given = stat.S_ISFIFO(mode) and name.startswith(_GIVEN_PIPES)
    if not (stat.S_ISREG(mode) or given or name == os.devnull):
        kind = _KINDS.get(stat.S_IFMT(mode), "is no file")
        raise UsageError(f"{name} {kind}", f"name a file, or pipe its content to `{PIPE}`")


def _content(file: BinaryIO, budget: Budget) -> bytes:
    pieces = _pieces(file, budget)
    first = next(pieces, b"")
    while 0 < len(first) < len(MAGIC) and (more := next(pieces, b"")):
        first += more
    whole: Iterator[bytes] = chain([first], pieces)
    if first.startswith(MAGIC):
        whole = unpacked(whole, budget)
    content = BytesIO()
    for piece in whole:
        content.write(piece)
        budget.check_bytes(content.tell())
    return content.getvalue()


def _pieces(file: BinaryIO, budget: Budget) -> Iterator[bytes]:
    """Return what a file holds piece by piece; wait for a pipe no longer than the deadline."""
    try:
        descriptor = file.fileno()
    except OSError:  # in memory
        yield from iter(lambda: file.read(_PIECE), b"")
        return
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while True:
        if not poll.poll(1000 * min(_LONGEST_WAIT_S, max(0.0, budget.left_s()))):
            budget.check_time()
            continue
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:
            continue
        if not piece:
            return
        yield piece
