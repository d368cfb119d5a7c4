"""The spool's journal of processes that were not profiled: `SPOOL/unprofiled.jsonl`, an entry a line.

Profiled programs append to it, so nothing here may import the store's database part.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.model.session import Unprofiled
from profkit.store.home import make_folder
from profkit.store.journal import append_records, read_records

FILE = "unprofiled.jsonl"
KEPT_S = 7 * 86400.0
"""How long an entry is shown."""
LARGEST_BYTES = 2**20
"""A server that starts workers without end must not fill the spool with notes about them."""


def append_unprofiled(spool: Path, entry: Unprofiled) -> bool:
    """Add an entry to the spool's journal and return whether there was room.

    Raises OSError if the spool cannot be written.
    """
    make_folder(spool)
    path = spool / FILE
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
    entries = read_records(spool / FILE, Unprofiled).records
    if _is_ours(spool):
        entries = _without_old(spool, entries, oldest_ns)
    return tuple(entry for entry in entries if entry.at_ns >= oldest_ns)


def _without_old(spool: Path, entries: tuple[Unprofiled, ...], oldest_ns: int) -> tuple[Unprofiled, ...]:
    """Take old entries out of the journal, and return what is in it then."""
    path = spool / FILE
    if any(entry.at_ns < oldest_ns for entry in entries):
        with suppress(FileNotFoundError):
            path.rename(path.with_name(f".{FILE}.{os.getpid()}"))
    # Others may append meanwhile: to a new file, into which the entries to keep are put back. An interrupted
    # reader leaves the old file to the next one.
    for taken in sorted(spool.glob(f".{FILE}.*")):
        kept = [entry for entry in read_records(taken, Unprofiled).records if entry.at_ns >= oldest_ns]
        append_records(path, kept)
        taken.unlink(missing_ok=True)
        entries = read_records(path, Unprofiled).records
    return entries


def _is_ours(spool: Path) -> bool:
    """Whether the spool is this user's: a collector makes no files in that of another."""
    try:
        return spool.stat().st_uid == os.geteuid()
    except (FileNotFoundError, NotADirectoryError):
        return False
