"""The spool into the store: finished sessions are kept and their folders removed, each exactly once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import DamagedFile, SpoolUnavailable
from profkit.ingest.read import FolderRuns, read_runs
from profkit.model.run import RunInfo
from profkit.store.spool import remove_folder, session_folders, set_aside

if TYPE_CHECKING:
    from profkit.store.runs import Store

_LOCK = ".lock"
_YOUNG_S = 60.0
"""A folder without a manifest is left alone for so long: its process is about to write one."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What was found in the spool."""

    added: tuple[RunInfo, ...] = ()
    """Runs that the store did not have."""
    recording: tuple[FolderRuns, ...] = ()
    """Sessions whose process or sampler lives; they stay in the spool."""
    damaged: tuple[DamagedFile, ...] = ()
    """What could not be read, and where it is kept now."""


def ingest(spool: Path, store: Store, clock: Clock = SYSTEM_CLOCK) -> IngestReport:
    """Put every finished session of a spool into the store, waiting while another process does that.

    A folder is removed when its runs are in the store, which knows them by id: whatever interrupts this,
    the next call completes it. Raises SpoolUnavailable where the spool cannot be read and written, and
    StoreUnavailable; then what was not kept is still in the spool.
    """
    try:
        if not session_folders(spool):
            return IngestReport()
        with _alone_in(spool):
            reports = [_ingest_folder(spool, folder, store, clock) for folder in session_folders(spool)]
    except OSError as error:
        raise SpoolUnavailable(spool, str(error)) from error
    return IngestReport(
        added=tuple(info for report in reports for info in report.added),
        recording=tuple(found for report in reports for found in report.recording),
        damaged=tuple(damage for report in reports for damage in report.damaged),
    )


def _ingest_folder(spool: Path, folder: Path, store: Store, clock: Clock) -> IngestReport:
    if _is_new(folder, clock):
        return IngestReport()
    try:
        found = read_runs(folder)
    except DamagedFile as damage:
        return IngestReport(damaged=(_aside(spool, damage, folder),))
    if found.live:
        return IngestReport(recording=(found,))
    added = store.add(found.runs)
    damaged = tuple(_aside(spool, damage, damage.path) for damage in found.damaged)
    remove_folder(folder)
    return IngestReport(added=added, damaged=damaged)


def _is_new(folder: Path, clock: Clock) -> bool:
    age_ns = clock.unix_ns() - folder.stat().st_mtime_ns
    return not (folder / "manifest.json").exists() and age_ns < _YOUNG_S * 1e9


def _aside(spool: Path, damage: DamagedFile, path: Path) -> DamagedFile:
    """The same damage, with what is damaged moved out of the way; a missing file cannot be kept."""
    kept = set_aside(spool, path) if path.exists() else None
    return DamagedFile(damage.path, damage.detail, kept)


@contextmanager
def _alone_in(spool: Path) -> Iterator[None]:
    """Hold the spool's lock, which the system lets go when this process ends."""
    descriptor = os.open(spool / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
