"""Small files of the spool: reserves for a full disk, traces, and what was lately not profiled."""

from __future__ import annotations

import errno
import os
import re
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import DamagedFile
from profkit.model.session import Ending, Manifest, Unprofiled
from profkit.regular_files import open_own
from profkit.store.files import OwnedFolder, own_file
from profkit.store.journal import append_records, read_records
from profkit.store.records import document_bytes, parse_document

RESERVE = "reserve.json"
SIZE_BYTES = 4096
"""Block size of most file systems."""
_SCHEMA = "profkit.spool-ending/1"
_LONGEST_ERROR = 1000

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def make_reserve(folder: Path) -> None:
    """Reserve the space; raises OSError if there is none, and leaves no file behind then."""
    path = folder / RESERVE
    descriptor = open_own(path, _NEW)
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
    """Release the space."""
    (folder / RESERVE).unlink(missing_ok=True)


def failure_text(error: OSError, at_ns: int) -> str:
    """Return why a session's folder cannot be written, and since when."""
    at = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at_ns / 1e9))
    return f"the session's folder cannot be written: {error.strerror or error} (at {at})"


def note_ending(folder: Path, ending: Ending) -> None:
    """Write the session's ending into the reserve; raises OSError if even that fails."""
    data = _fitting(replace(ending, error=ending.error[:_LONGEST_ERROR]))
    descriptor = open_own(folder / RESERVE, os.O_WRONLY)
    try:
        os.pwrite(descriptor, data.ljust(SIZE_BYTES), 0)
    finally:
        os.close(descriptor)


def read_ending(folder: OwnedFolder) -> Ending | None:
    """Return the ending in the reserve, None if it is unused; raises DamagedFile if it is unreadable.

    An unused reserve is empty, as after a start without space, or has only zeros.
    """
    if folder.status(RESERVE) is None:
        return None
    with suppress(ValueError, RecursionError):
        data = folder.read(RESERVE, SIZE_BYTES).rstrip(b"\0")
        return parse_document(data, _SCHEMA, Ending) if data else None
    raise DamagedFile(folder.path / RESERVE, "it is not a record of how the session ended")


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
    """Return a document that fits the reserve; drop the oldest segments and calls, then cut the reason."""
    while len(data := document_bytes(_SCHEMA, ending)) > SIZE_BYTES:
        if len(ending.segments) > 1:
            ending = replace(ending, segments=ending.segments[1:])
        elif ending.calls or ending.segments:
            ending = replace(ending, calls=ending.calls[1:], segments=ending.segments if ending.calls else ())
        else:
            ending = replace(ending, error=ending.error[: len(ending.error) // 2])
    return data


UNFINISHED_TRACE = ".new"
"""Suffix of a trace while it is being written."""
LARGEST_TRACE_BYTES = 2**30
_TRACE = re.compile(r"trace-([0-9a-f]+)-(\d{3,})\.json(?:\.new)?")


def trace_name(region_id: str, number: int) -> str:
    """Return the file name of a region's trace by torch.profiler."""
    return f"trace-{region_id}-{number:03d}.json"


def is_trace_file(name: str) -> bool:
    """Return whether this is the name of a trace, finished or not."""
    return _TRACE.fullmatch(name) is not None


def region_of(name: str) -> str | None:
    """Return the id of the region whose trace is in a finished file; None for other files."""
    found = _TRACE.fullmatch(name)
    return None if found is None or name.endswith(UNFINISHED_TRACE) else found[1]


UNPROFILED = "unprofiled.jsonl"
KEPT_S = 7 * 86400.0
"""Time for which an entry is shown."""
LARGEST_BYTES = 2**20
"""Size limit of the journal, for servers that keep starting workers."""


def append_unprofiled(spool: Path, entry: Unprofiled) -> bool:
    """Add an entry to the spool's journal and return whether there was room.

    Raises OSError and SpoolUnavailable if the spool cannot be written.
    """
    path = own_file(spool, UNPROFILED)
    with suppress(FileNotFoundError):
        if path.stat().st_size >= LARGEST_BYTES:
            return False
    append_records(path, (entry,))
    return True


def read_unprofiled(spool: Path, clock: Clock = SYSTEM_CLOCK) -> tuple[Unprofiled, ...]:
    """Return the entries of the last seven days, and remove older ones from a spool of this user.

    Lines that cannot be read are left out. Raises OSError if the journal cannot be rewritten.
    """
    oldest_ns = clock.unix_ns() - round(KEPT_S * 1e9)
    entries = read_records(spool / UNPROFILED, Unprofiled)
    if _is_ours(spool):
        entries = _without_old(spool, entries, oldest_ns)
    return tuple(entry for entry in entries if entry.at_ns >= oldest_ns)


def _without_old(spool: Path, entries: tuple[Unprofiled, ...], oldest_ns: int) -> tuple[Unprofiled, ...]:
    path = spool.resolve() / UNPROFILED
    if any(entry.at_ns < oldest_ns for entry in entries):
        with suppress(FileNotFoundError):
            path.rename(path.with_name(f".{UNPROFILED}.{os.getpid()}"))
    # Others may append meanwhile, to a new file; the entries to keep are appended to it. If a reader is
    # interrupted, the next one handles its old file.
    for moved in sorted(spool.glob(f".{UNPROFILED}.*")):
        kept = [entry for entry in read_records(moved, Unprofiled) if entry.at_ns >= oldest_ns]
        append_records(path, kept)
        moved.unlink(missing_ok=True)
        entries = read_records(path, Unprofiled)
    return entries


def _is_ours(spool: Path) -> bool:
    try:
        return spool.stat().st_uid == os.geteuid()
    except (FileNotFoundError, NotADirectoryError):
        return False
