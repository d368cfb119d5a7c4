"""Ingestion: move every finished session and measured run from the spool into the store, exactly once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import DamagedFile, RefusedFile
from profkit.model.measurement import AnyInfo, AnyRun
from profkit.model.session import Dropped
from profkit.process.procfs import is_running
from profkit.store.clearing import alone_in, finish_removing, remove_folder_in, set_aside_in, take_dropped
from profkit.store.files import OwnedFolder
from profkit.store.measured import SENT_SUFFIX, read_measured, run_names, unfinished_names
from profkit.store.packs import is_session_file, pack_names, unpack
from profkit.store.records import LARGEST_BYTES
from profkit.store.spool import MANIFEST, early_names, in_spool, session_names
from profkit.store.spool_files import RESERVE, read_ending

if TYPE_CHECKING:
    from profkit.ingest.read import FolderRuns
    from profkit.store.known import IdTaken
    from profkit.store.runs import Store

_YOUNG_S = 60.0
"""Age below which an unfinished file, or a folder without a readable manifest, may still be written."""
AT_ONCE = 16
"""Maximum number of sessions or measured runs that are put into the store together, which limits memory."""
SAMPLES_AT_ONCE = 50_000
"""Number of samples after which no other session is put into the store together with these."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Result of ingesting a spool."""

    added: tuple[AnyInfo, ...] = ()
    """Runs that were new to the store."""
    recording: tuple[FolderRuns, ...] = ()
    """Sessions whose process or sampler is running; they stay in the spool."""
    damaged: tuple[DamagedFile, ...] = ()
    """Files that could not be read, and where they are kept now."""
    dropped: tuple[Dropped, ...] = ()
    """Sessions that were dropped to keep the spool below its limit, since this was last reported."""


def ingest(spool: Path, store: Store, clock: Clock = SYSTEM_CLOCK, owner: int | None = None) -> IngestReport:
    """Move every finished session and measured run of a spool into the store, under the spool's lock.

    A folder or file is removed when its runs are in the store, which identifies them by id. So after any
    interruption, the next call completes it. `owner` is the user whose files are taken, by default this
    process's. Raises SpoolUnavailable if the spool cannot be read and written, or belongs to another
    user, and StoreUnavailable; then runs that were not stored are still in the spool.
    """

    def take_all(opened: OwnedFolder) -> IngestReport:
        if all(name[0] == "." for name in opened.names()):
            return IngestReport()
        with alone_in(opened):
            return _joined(list(_reports(opened, store, clock)))

    return in_spool(spool, owner, take_all, IngestReport())


def clear_unfinished(
    spool: Path, clock: Clock = SYSTEM_CLOCK, owner: int | None = None
) -> tuple[DamagedFile, ...]:
    """Clear remains of processes that were killed before a session or run was written, as `ingest` does.

    Empty folders are deleted; the rest is set aside and returned. Raises SpoolUnavailable.
    """

    def clear(opened: OwnedFolder) -> tuple[DamagedFile, ...]:
        if not (early_names(opened) or unfinished_names(opened)):
            return ()
        with alone_in(opened):
            return _joined(list(_clear_unfinished(opened, clock))).damaged

    return in_spool(spool, owner, clear, ())


def _reports(spool: OwnedFolder, store: Store, clock: Clock) -> Iterator[IngestReport]:
    yield IngestReport(dropped=take_dropped(spool))
    yield IngestReport(damaged=finish_removing(spool))
    yield from _ingest_folders(spool, iter(session_names(spool)), store, clock)
    damaged: list[DamagedFile] = []
    yield from _ingest_folders(spool, _unpacked(spool, damaged), store, clock)
    yield IngestReport(damaged=tuple(damaged))
    yield from _ingest_measured(spool, store)
    yield from _clear_unfinished(spool, clock)


def _joined(reports: Sequence[IngestReport]) -> IngestReport:
    return IngestReport(
        added=tuple(info for report in reports for info in report.added),
        recording=tuple(runs for report in reports for runs in report.recording),
        damaged=tuple(damage for report in reports for damage in report.damaged),
        dropped=tuple(one for report in reports for one in report.dropped),
    )


def _ingest_folders(
    spool: OwnedFolder, names: Iterator[str], store: Store, clock: Clock
) -> Iterator[IngestReport]:
    """Store sessions in batches: each commit takes a round trip or a write to the disk."""
    while True:
        with ExitStack() as opened:
            batch: list[tuple[OwnedFolder, FolderRuns]] = []
            yield from _read_batch(spool, names, clock, opened, batch)
            if not batch:
                return
            added, refused = add_each(store, {folder.path.name: contents.runs for folder, contents in batch})
            yield IngestReport(added, damaged=_set_all_aside(spool, refused))
            for folder, contents in batch:
                with suppress(FileNotFoundError):  # removed by a process that ignores the lock
                    if folder.path.name not in refused:
                        yield IngestReport(damaged=_clear(spool, folder, contents))


def add_each(
    store: Store, given: Mapping[str, Sequence[AnyRun]]
) -> tuple[tuple[AnyInfo, ...], dict[str, IdTaken]]:
    """Store the runs in these files; return the new ones, and the files whose runs have ids of others."""
    from profkit.store.known import IdTaken

    refused: dict[str, IdTaken] = {}
    while True:
        left = {name: runs for name, runs in given.items() if name not in refused}
        try:
            return store.add(chain.from_iterable(left.values())), refused
        except IdTaken as taken:
            with_id = (
                name for name, runs in left.items() if any(run.info.id == taken.run_id for run in runs)
            )
            refused |= dict.fromkeys(with_id, taken)


def _set_all_aside(spool: OwnedFolder, refused: Mapping[str, IdTaken]) -> tuple[DamagedFile, ...]:
    return tuple(
        _set_aside(spool, DamagedFile(spool.path / name, taken.detail), name)
        for name, taken in refused.items()
    )


def _read_batch(
    spool: OwnedFolder,
    names: Iterator[str],
    clock: Clock,
    opened: ExitStack,
    batch: list[tuple[OwnedFolder, FolderRuns]],
) -> Iterator[IngestReport]:
    """Read sessions until a batch is full; yield reports of those that are not ready for the store."""
    samples = 0
    for name in names:
        with suppress(FileNotFoundError):  # removed by a process that ignores the lock
            folder = _open_folder(spool, name)
            if isinstance(folder, IngestReport):
                yield folder
                continue
            with ExitStack() as stays_open:
                stays_open.enter_context(folder)
                found = _read_folder(spool, folder, clock)
                if isinstance(found, IngestReport):
                    yield found
                    continue
                opened.push(stays_open.pop_all())
            batch.append((folder, found))
            samples += sum(run.info.samples for run in found.runs)
        if len(batch) >= AT_ONCE or samples >= SAMPLES_AT_ONCE:
            return


def _open_folder(spool: OwnedFolder, name: str) -> OwnedFolder | IngestReport:
    try:
        return spool.folder(name)
    except RefusedFile as refusal:
        return IngestReport(damaged=(refusal,))
    except PermissionError as error:
        damage = DamagedFile(spool.path / name, str(error.strerror))
        return IngestReport(damaged=(_set_aside(spool, damage, name),))


def _read_folder(spool: OwnedFolder, folder: OwnedFolder, clock: Clock) -> IngestReport | FolderRuns:
    """Return the contents of a finished session; a report if there is nothing to store yet."""
    from profkit.ingest.read import read_runs_in
    from profkit.samplers.memray.tracker import TrackerMissing

    refusals = [folder.refusal(entry) for entry in folder.names()]
    if refusals and None not in refusals:  # everything else was taken before
        return IngestReport(damaged=tuple(one for one in refusals if one is not None))
    try:
        contents = read_runs_in(folder)
    except DamagedFile as damage:
        if may_be_written(folder, clock):
            return IngestReport()
        refused = isinstance(damage, RefusedFile)
        return IngestReport(damaged=(damage if refused else _set_aside(spool, damage, folder.path.name),))
    except TrackerMissing as error:
        fix = f"{error}; until then its session stays there"
        return IngestReport(damaged=(DamagedFile(folder.path, "it has tracked memory", fix=fix),))
    if contents.live:
        return IngestReport(recording=(contents,))
    if contents.unreadable is not None and may_be_written(folder, clock):
        return IngestReport()
    return contents


def _unpacked(spool: OwnedFolder, damaged: list[DamagedFile]) -> Iterator[str]:
    """Unpack one session after the other, and yield its name; add what is damaged to the list."""
    for name in pack_names(spool):
        with suppress(FileNotFoundError, FileExistsError):  # of the latter, the folder was not kept before
            try:
                session = unpack(spool, name)
            except RefusedFile as refusal:
                damaged.append(refusal)
                continue
            except DamagedFile as damage:
                damaged.append(_set_aside(spool, damage, name))
                continue
            yield session


def _clear(spool: OwnedFolder, folder: OwnedFolder, contents: FolderRuns) -> tuple[DamagedFile, ...]:
    """Set aside files that were not stored, delete the rest of a folder; return damage with the new paths.

    A folder whose manifest cannot be read is set aside whole: another version may be able to read it.
    """
    name = folder.path.name
    if contents.unreadable is not None and not isinstance(contents.unreadable, RefusedFile):
        moved = _set_aside(spool, contents.unreadable, name)
        others = [damage for damage in contents.damaged if damage is not contents.unreadable]
        return (moved, *(DamagedFile(one.path, one.detail, moved.kept) for one in others))
    damaged = [
        damage if isinstance(damage, RefusedFile) else _set_aside(spool, damage, damage.path.name, folder)
        for damage in contents.damaged
    ]
    for entry in folder.names():
        was_read = is_session_file(entry) and not folder.is_folder(entry)
        if (refusal := folder.refusal(entry)) is None and not was_read:
            damage = DamagedFile(folder.path / entry, "it is no file of a session")
            damaged.append(_set_aside(spool, damage, entry, folder))
        elif refusal is not None and not any(one.path == refusal.path for one in damaged):
            damaged.append(refusal)
    known = {damage.path for damage in damaged}
    return (*damaged, *(one for one in remove_folder_in(spool, name, folder) if one.path not in known))


def _ingest_measured(spool: OwnedFolder, store: Store) -> Iterator[IngestReport]:
    names = run_names(spool)
    for start in range(0, len(names), AT_ONCE):
        yield _ingest_files(spool, names[start : start + AT_ONCE], store)


def _ingest_files(spool: OwnedFolder, names: Sequence[str], store: Store) -> IngestReport:
    runs: dict[str, tuple[AnyRun, ...]] = {}
    damages = []
    for name in names:
        try:
            runs[name] = _runs_in(spool, name)
        except DamagedFile as damage:
            damages.append(damage)
    added, refused = add_each(store, runs)
    for name in runs.keys() - refused.keys():
        os.unlink(name, dir_fd=spool.descriptor)
    damaged = (_set_aside(spool, damage, damage.path.name) for damage in damages)
    return IngestReport(added=added, damaged=(*damaged, *_set_all_aside(spool, refused)))


def _runs_in(spool: OwnedFolder, name: str) -> tuple[AnyRun, ...]:
    if not name.endswith(SENT_SUFFIX):
        return (read_measured(spool, name),)
    from profkit.store.run_files import decode_runs

    return decode_runs(spool.read(name, LARGEST_BYTES), spool.path / name)


def _clear_unfinished(spool: OwnedFolder, clock: Clock) -> Iterator[IngestReport]:
    yield from _set_files_aside(spool, clock)
    yield from _remove_early(spool, clock)


def _set_files_aside(spool: OwnedFolder, clock: Clock) -> Iterator[IngestReport]:
    """Set aside the files of measured runs that were still being written when their processes were killed."""
    for name in unfinished_names(spool):
        status = spool.status(name)
        if status is not None and _age_s(status.st_mtime_ns, clock) >= _YOUNG_S:
            damage = DamagedFile(spool.path / name, "its process ended while it was being written")
            yield IngestReport(damaged=(_set_aside(spool, damage, name),))


def _remove_early(spool: OwnedFolder, clock: Clock) -> Iterator[IngestReport]:
    """Delete the folders of sessions whose processes were killed before there was anything to keep.

    A folder with a recorded error is set aside.
    """
    for name in early_names(spool):
        with suppress(FileNotFoundError), spool.folder(name) as folder:
            if _is_young(folder, clock) or _runs(name):
                continue
            damage = _early_end(folder)
            if damage is not None:
                yield IngestReport(damaged=(_set_aside(spool, damage, name),))
            else:
                yield IngestReport(damaged=remove_folder_in(spool, name, folder))


def _early_end(folder: OwnedFolder) -> DamagedFile | None:
    """Return the ending recorded in the reserve of a session without a manifest; usually None."""
    try:
        ending = read_ending(folder)
    except DamagedFile as damage:
        return damage
    return DamagedFile(folder.path / RESERVE, ending.error) if ending is not None else None


def may_be_written(folder: OwnedFolder, clock: Clock) -> bool:
    """Return whether a young folder may still be written: it has no manifest, or its process runs."""
    return _is_young(folder, clock) and (folder.status(MANIFEST) is None or _runs(folder.path.name))


def _is_young(folder: OwnedFolder, clock: Clock) -> bool:
    statuses = [folder.status(name) for name in folder.names()]
    times = [status.st_mtime_ns for status in statuses if status is not None]
    return _age_s(max(times, default=os.fstat(folder.descriptor).st_mtime_ns), clock) < _YOUNG_S


def _runs(session: str) -> bool:
    """Return whether this host has a process with the pid in a session's id."""
    parts = session.split("-")
    return len(parts) == 3 and parts[1].isdecimal() and is_running(int(parts[1]))


def _age_s(time_ns: int, clock: Clock) -> float:
    return (clock.unix_ns() - time_ns) / 1e9


def _set_aside(
    spool: OwnedFolder, damage: DamagedFile, name: str, folder: OwnedFolder | None = None
) -> DamagedFile:
    """Set aside a damaged file; return the damage with its new path. A missing file cannot be kept."""
    try:
        return DamagedFile(damage.path, damage.detail, set_aside_in(spool, name, folder))
    except RefusedFile as refused:
        return refused
    except FileNotFoundError:
        return DamagedFile(damage.path, damage.detail, fix="everything else was read")
