"""A few kilobytes that a session takes at its start, to note there how it ended when the disk is full.

The file is overwritten in place, which needs no space and no inode. It is removed with a session's last
manifest, so that only a session that could not write that one leaves it behind.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.model.session import Ending, Manifest
from profkit.store.documents import document_bytes, parse_document
from profkit.store.owned import OwnedFolder

NAME = "reserve.json"
SIZE_BYTES = 4096
"""The block of most file systems."""
_SCHEMA = "profkit.spool-ending/1"
_LONGEST_ERROR = 1000

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_OVERWRITE = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW


def make_reserve(folder: Path) -> None:
    """Take the space; raises OSError if there is none, and leaves no file behind then."""
    path = folder / NAME
    descriptor = os.open(path, _NEW, 0o600)
    try:
        _take(descriptor)
    except OSError:
        path.unlink()
        raise
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> None:
    try:
        os.posix_fallocate(descriptor, 0, SIZE_BYTES)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise
        os.write(descriptor, bytes(SIZE_BYTES))


def release_reserve(folder: Path) -> None:
    """Give the space back."""
    (folder / NAME).unlink(missing_ok=True)


def note_ending(folder: Path, ending: Ending) -> None:
    """Write how the session ended into the reserve; raises OSError if not even that is possible."""
    data = _fitting(replace(ending, error=ending.error[:_LONGEST_ERROR]))
    descriptor = os.open(folder / NAME, _OVERWRITE)
    try:
        os.pwrite(descriptor, data.ljust(SIZE_BYTES), 0)
    finally:
        os.close(descriptor)


def read_ending(folder: OwnedFolder) -> Ending | None:
    """Return what the reserve says, None while it is unused; raises DamagedFile if it cannot be read.

    It is unused while it is empty, as after a start without space, or zeros.
    """
    if folder.status(NAME) is None:
        return None
    with suppress(ValueError, RecursionError):
        data = folder.read(NAME, SIZE_BYTES).rstrip(b"\0")
        return parse_document(data, _SCHEMA, Ending) if data else None
    raise DamagedFile(folder.path / NAME, "it is no note of how the session ended")


def with_ending(manifest: Manifest, ending: Ending) -> Manifest:
    """Return a manifest as it would be if the disk had not been full."""
    segments = {segment.index: segment for segment in (*manifest.segments, *ending.segments)}
    return replace(
        manifest,
        state=ending.state,
        error=ending.error,
        ended_ns=ending.ended_ns or ending.at_ns,
        truncated=ending.truncated or manifest.truncated,
        segments=tuple(segments[index] for index in sorted(segments)),
        lines=ending.lines or manifest.lines,
    )


def _fitting(ending: Ending) -> bytes:
    """As a document that is no larger than the reserve: the oldest segments and calls go, then the reason."""
    while len(data := document_bytes(_SCHEMA, ending)) > SIZE_BYTES:
        if len(ending.segments) > 1:
            ending = replace(ending, segments=ending.segments[1:])
        elif ending.calls or ending.segments:
            ending = replace(ending, calls=ending.calls[1:], segments=ending.segments if ending.calls else ())
        else:
            ending = replace(ending, error=ending.error[: len(ending.error) // 2])
    return data
