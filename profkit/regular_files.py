"""Open files: of those that users or programs name only regular ones, and to write only in own folders.

Merely opening a device or a named pipe can have effects, or wait. What can be read once is the program's.
While profkit writes, someone who may change a folder above could put a link in the place of profkit's own.
"""

from __future__ import annotations

import errno
import os
import posix
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def open_regular(path: str | os.PathLike[str], flags: int = 0) -> int:
    """Return a descriptor that reads a regular file; raises OSError for all others, without opening them.

    `flags` are further ones of open(2), such as O_NOFOLLOW.
    """
    _check(posix.stat(path, follow_symlinks=not flags & posix.O_NOFOLLOW), path)
    flags |= posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC | posix.O_NOCTTY
    descriptor = posix.open(path, flags)
    try:
        _check(posix.fstat(descriptor), path)  # it may have been replaced meanwhile
    except OSError:
        posix.close(descriptor)
        raise
    return descriptor


def read_regular(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """Return the beginning of a regular file, at most so many bytes; raises as `open_regular`."""
    with open(open_regular(path), "rb", buffering=0) as file:
        return file.read(most_bytes)


def _check(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))


def open_own(path: Path, flags: int, mode: int = 0o600) -> int:
    """Open a file in a folder of this user's, neither of which may be a link; return the descriptor.

    Raises OSError.
    """
    with own_folder(path.parent) as folder:
        return os.open(path.name, flags | os.O_CLOEXEC | os.O_NOFOLLOW, mode, dir_fd=folder)


@contextmanager
def own_folder(path: Path) -> Iterator[int]:
    """Yield a descriptor of a folder of this user's, no link; raises OSError for others."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        if os.fstat(folder).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
        yield folder
    finally:
        os.close(folder)
