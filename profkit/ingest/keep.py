"""The spool into the store: what is finished is kept and removed from the spool, each exactly once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import DamagedFile, SpoolUnavailable
from profkit.ingest.read import FolderRuns, read_runs
from profkit.model.kept import AnyInfo
from profkit.model.measurement import MeasuredRun
from profkit.store.measured import measured_files, read_measured, unfinished_files
from profkit.store.spool import remove_folder, session_folders, set_aside

if TYPE_CHECKING:
    from profkit.store.runs import Store

_LOCK = ".lock"
_YOUNG_S = 60.0
"""A folder without a manifest and an unfinished file are left alone for so long: their process is at it."""
_AT_ONCE = 16
"""Measured runs that are put into the store together: few enough for any memory."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What was found in the spool."""

    added: tuple[AnyInfo, ...] = ()
    """Runs that the store did not have."""
    recording: tuple[FolderRuns, ...] = ()
    """Sessions whose process or sampler lives; they stay in the spool."""
    damaged: tuple[DamagedFile, ...] = ()
    """What could not be read, and where it is kept now."""


def ingest(spool: Path, store: Store, clock: Clock = SYSTEM_CLOCK) -> IngestReport:
    """Put every finished session and measured run of a spool into the store, one process at a time.

    A folder or file is removed when its runs are in the store, which knows them by id: whatever interrupts
    this, the next call completes it. Raises SpoolUnavailable where the spool cannot be read and written,
    and StoreUnavailable; then what was not kept is still in the spool.
    """
    try:
        if not (session_folders(spool) or measured_files(spool) or unfinished_files(spool)):
            return IngestReport()
        with _alone_in(spool):
            reports = [_ingest_folder(spool, folder, store, clock) for folder in session_folders(spool)]
            reports += _ingest_measured(spool, store)
            reports += _ingest_unfinished(spool, clock)
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


def _ingest_measured(spool: Path, store: Store) -> Iterator[IngestReport]:
    files = measured_files(spool)
    for start in range(0, len(files), _AT_ONCE):
        yield _ingest_files(spool, files[start : start + _AT_ONCE], store)


def _ingest_files(spool: Path, files: Sequence[Path], store: Store) -> IngestReport:
    runs: dict[Path, MeasuredRun] = {}
    damages = []
    for file in files:
        try:
            runs[file] = read_measured(file)
        except DamagedFile as damage:
            damages.append(damage)
    added = store.add(runs.values())
    for file in runs:
        file.unlink()
    return IngestReport(added=added, damaged=tuple(_aside(spool, damage, damage.path) for damage in damages))


def _ingest_unfinished(spool: Path, clock: Clock) -> Iterator[IngestReport]:
    for file in unfinished_files(spool):
        with suppress(FileNotFoundError):  # finished meanwhile
            if _age_s(file, clock) >= _YOUNG_S:
                damage = DamagedFile(file, "its process ended while it was being written")
                yield IngestReport(damaged=(_aside(spool, damage, file),))


def _is_new(folder: Path, clock: Clock) -> bool:
    return not (folder / "manifest.json").exists() and _age_s(folder, clock) < _YOUNG_S


def _age_s(path: Path, clock: Clock) -> float:
    return (clock.unix_ns() - path.stat().st_mtime_ns) / 1e9


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
