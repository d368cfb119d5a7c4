"""Spool: one folder per session, readable even if its process was killed; which may still be written.

    SPOOL/SESSION/manifest.json     the Manifest with `"schema": "profkit.spool/1"`; replaced by rename
                  regions.jsonl     a Region per line, when it first runs
                  calls.jsonl       a CallDelta per line: one per tick and region with new counts
                  resources.jsonl   a ResourcePoint per line: one per tick
                  threads.jsonl     a ThreadName per line, if the sampler may not see them
                  cells.jsonl       a CellName per line, in a notebook
                  captures.jsonl    a Capture per line, if memory is tracked: each call has its own segment
                  segment-000.…     output of the sampler or tracker, in its own format
                  trace-….json      a trace of torch.profiler, see `spool_files`
                  reserve.json      space for an Ending, see `spool_files`
    SPOOL/ID.measured.json          a measured run, see `measured`
    SPOOL/SESSION.packed            a session that was sent here, see `packs`
    SPOOL/unprofiled.jsonl          processes that were not profiled, see `spool_files`
    SPOOL/dropped.jsonl             sessions that were dropped by the size limit, see `clearing`
    SPOOL/.lock, .checked, .sizes   lock, time of the last size check, and its sizes
    SPOOL/.pushing, .push.log       lock and messages of the process that sends sessions elsewhere
    SPOOL/damaged/SESSION/          files that could not be read, never deleted

SESSION is the session's id, ID that of a run. The owner of the spool writes everything. Readers refuse
entries that are not a regular file or a real folder of that user, see `files`.
"""

from __future__ import annotations

import os
import posix
import re
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import DamagedFile, RefusedFile, SpoolUnavailable
from profkit.model.histogram import merge_histograms
from profkit.model.region import Region
from profkit.model.session import (
    SEGMENT_PREFIX,
    CallDelta,
    Capture,
    CellName,
    Lines,
    Manifest,
    ResourcePoint,
    Segment,
    SessionState,
    ThreadName,
    segment_stem,
)
from profkit.originals import REAL
from profkit.process.guard import reraise_signal_error
from profkit.process.procfs import is_same_process
from profkit.store import spool_files
from profkit.store.files import OwnedFolder, check_unshared, make_folder, open_spool
from profkit.store.journal import Lines as JournalLines
from profkit.store.journal import append_records
from profkit.store.records import UNFINISHED, read_document, write_document
from profkit.transforms.unsampled_time import add_awaits

SCHEMA = "profkit.spool/1"
DAMAGED = "damaged"
PACKED = ".packed"
MANIFEST, REGIONS, CALLS, RESOURCES = "manifest.json", "regions.jsonl", "calls.jsonl", "resources.jsonl"
THREADS, CELLS, CAPTURES = "threads.jsonl", "cells.jsonl", "captures.jsonl"
_JOURNAL = ".jsonl"
Record = Region | CallDelta | ResourcePoint | ThreadName | CellName | Capture
"""Types of the lines of journals."""
_JOURNALS: Mapping[type, str] = {
    Region: REGIONS, CallDelta: CALLS, ResourcePoint: RESOURCES, ThreadName: THREADS, CellName: CELLS,
    Capture: CAPTURES,
}  # fmt: skip
OWN_FILES = frozenset({MANIFEST, MANIFEST + UNFINISHED, *_JOURNALS.values(), spool_files.RESERVE})
"""Files that profkit itself writes into a session's folder."""
_EARLY = frozenset({MANIFEST + UNFINISHED, spool_files.RESERVE})
"""Files that exist before a session has data."""
LARGEST_MANIFEST_BYTES = 64 * 2**20

_ID = re.compile(r"\d{8}T\d{6}-\d{1,9}-[0-9a-f]+")
_CLOCKS_APART_S = 600.0
"""Tolerated difference between the clocks of two hosts, for sessions of another host."""
_SUMMED_AT_ONCE = 64

NOTHING_LOST = Lines()

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SpoolSession:
    """Content of a session's folder without the samples."""

    manifest: Manifest
    regions: tuple[Region, ...]
    """Regions, each once, in the order in which they first ran."""
    calls: Mapping[str, CallDelta]
    """Sums per region id; `at_ns` is the last tick's."""
    resources: tuple[ResourcePoint, ...]
    damaged: tuple[DamagedFile, ...]
    """Files with lines that could not be read, or are missing."""
    lost: Lines = NOTHING_LOST
    """Numbers of lines that are known to be lost."""
    threads: tuple[ThreadName, ...] = ()
    """Names of threads, in the order in which they were seen."""
    cells: tuple[CellName, ...] = ()
    """Names of cells; for a file with several, the last is in effect."""
    captures: tuple[Capture, ...] = ()
    """Calls whose memory was tracked, each once, in their order."""


def new_session_id(pid: int) -> str:
    """Return an id that sorts by time and has the process's id: `20261121T113217-4711-9f3a07c2`."""
    now = time.gmtime(REAL.time_ns() // 10**9)
    return f"{time.strftime('%Y%m%dT%H%M%S', now)}-{pid}-{posix.urandom(4).hex()}"


def pids_of_later_sessions(folder: Path) -> set[int]:
    """Return the pids of all processes with sessions that may have begun after that of this folder."""
    try:
        names = filter(_ID.fullmatch, posix.listdir(folder.parent))
    except OSError:
        return set()
    began = folder.name.partition("-")[0]
    return {int(name.split("-")[1]) for name in names if began <= name != folder.name}


def create_folder(spool: Path, session: str) -> Path:
    """Make the folder of a new session, for its owner alone, and the spool if it is missing.

    Raises OSError if that fails, FileExistsError for a session that has a folder, and SpoolUnavailable if
    another user can change the spool.
    """
    make_folder(spool)
    check_unshared(spool)
    folder = spool / session
    folder.mkdir(mode=0o700)
    return folder


def write_manifest(folder: Path, manifest: Manifest, *, sync: bool = False) -> None:
    """Replace the manifest atomically."""
    write_document(folder / MANIFEST, SCHEMA, manifest, indent=1, sync=sync)


def append(folder: Path, records: Sequence[Record], lines: Lines = NOTHING_LOST) -> Lines:
    """Append records of one type to their journal, and return `lines` with their number added.

    Raises OSError if the disk is full.
    """
    if not records:
        return lines
    name = _JOURNALS[type(records[0])]
    counted, number = name.removesuffix(_JOURNAL), append_records(folder / name, records)
    if not hasattr(lines, counted):
        return lines
    return replace(lines, **{counted: getattr(lines, counted) + number})


def remove_segments(folder: Path, segments: Iterable[Segment]) -> None:
    """Delete the files of segments that are no longer in the manifest; raises OSError."""
    stems = {segment_stem(segment.index) for segment in segments}
    for name in posix.listdir(folder):
        if name.partition(".")[0] in stems:
            posix.unlink(folder / name)


def close_folder(folder: Path, manifest: Manifest) -> None:
    """Write the last manifest, and sync journals, manifest and folder against a power loss.

    Raises OSError.
    """
    for name in _JOURNALS.values():
        with suppress(FileNotFoundError):
            _sync(folder / name, 0)
    write_manifest(folder, manifest, sync=True)
    spool_files.release_reserve(folder)
    with suppress(FileNotFoundError):  # a reader may already have taken the session
        _sync(folder, os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_session(folder: Path) -> SpoolSession:
    """Return the content of a session's folder, finished or not.

    Raises DamagedFile if its manifest cannot be read.
    """
    try:
        with open_spool(folder, None) as opened:
            return read_session_in(opened)
    except OSError as error:
        raise DamagedFile(folder / MANIFEST, error.strerror or str(error)) from error


def read_session_in(folder: OwnedFolder) -> SpoolSession:
    """Return the content of an open folder, as `read_session`; raises OSError if a retry may help."""
    manifest = read_manifest_in(folder)
    try:
        ending = spool_files.read_ending(folder)
    except DamagedFile as damage:
        reraise_signal_error(damage)
        return read_journals(folder, manifest, [damage])
    if ending is None:
        return read_journals(folder, manifest)
    return read_journals(folder, spool_files.with_ending(manifest, ending), unwritten=ending.calls)


def read_manifest_in(folder: OwnedFolder) -> Manifest:
    """Return the manifest of an open folder; raises DamagedFile, and OSError as `read_session_in`."""
    return read_document(folder, MANIFEST, SCHEMA, Manifest, LARGEST_MANIFEST_BYTES)


def read_journals(
    folder: OwnedFolder, manifest: Manifest, damaged: Iterable[DamagedFile] = (),
    unwritten: Iterable[CallDelta] = (),
) -> SpoolSession:  # fmt: skip
    """Return the content of an open folder's journals; `damaged` is known damage to add.

    `unwritten` are deltas that should be in the journal of calls.
    """
    counted = manifest.lines or NOTHING_LOST
    regions = JournalLines(folder, REGIONS, Region)
    calls = JournalLines(folder, CALLS, CallDelta)
    resources = JournalLines(folder, RESOURCES, ResourcePoint)
    threads = JournalLines(folder, THREADS, ThreadName)
    cells = JournalLines(folder, CELLS, CellName)
    captures = JournalLines(folder, CAPTURES, Capture)
    session = SpoolSession(
        manifest=manifest,
        regions=tuple({region.id: region for region in regions}.values()),
        calls=_summed(chain(calls, unwritten)),
        resources=tuple(resources),
        damaged=(),
        threads=tuple(threads),
        cells=tuple(cells),
        captures=tuple({capture.index: capture for capture in captures}.values()),
    )
    ended = manifest.ended_ns is not None and manifest.state is not SessionState.ENDED_EARLY
    lost = Lines(
        regions=_lost(regions, counted.regions, True),  # no later line replaces one
        calls=_lost(calls, counted.calls, ended),
        resources=_lost(resources, counted.resources, ended),
        threads=_lost(threads, counted.threads, ended),
    )
    problems = (
        _problem(regions, lost.regions), _problem(calls, lost.calls), _problem(resources, lost.resources),
        _problem(threads, lost.threads), _problem(cells, _lost(cells, 0, ended)),
        _problem(captures, _lost(captures, 0, ended)),
    )  # fmt: skip
    found = tuple(problem for problem in problems if problem is not None)
    return replace(session, damaged=(*damaged, *found), lost=lost)


def _lost(lines: JournalLines[_T], counted: int, ended: bool) -> int:
    """Count the lines known to be lost; one without an end is lost unless its writer was killed."""
    seen = lines.unreadable + (lines.torn and ended)
    return max(seen, counted - lines.read)


def _problem(lines: JournalLines[_T], lost: int) -> DamagedFile | None:
    if lines.damage is None and not lost:
        return None
    if isinstance(lines.damage, RefusedFile):
        return lines.damage
    what = "it is missing" if lines.missing else "it ends early"
    number = f"{lost} {'line is' if lost == 1 else 'lines are'} lost" if lost > lines.unreadable else ""
    detail = lines.damage.detail if lines.damage is not None else what
    return DamagedFile(lines.path, "; ".join(filter(None, (detail, number))))


def session_folders(spool: Path, owner: int | None = None) -> tuple[Path, ...]:
    """Return the folders of all sessions, oldest first; none if there is no spool.

    A folder without a session's files is left out: its process is about to write the manifest, or never will.
    Raises SpoolUnavailable if the spool cannot be read, or belongs to another user than `owner`.
    """
    return in_spool(spool, owner, lambda opened: tuple(spool / name for name in session_names(opened)), ())


def in_spool(spool: Path, owner: int | None, work: Callable[[OwnedFolder], _T], nothing: _T) -> _T:
    """Return what `work` returns for an open spool, or `nothing` if there is no spool.

    Raises SpoolUnavailable if it cannot be read, or belongs to another user than `owner` (None: this one).
    """
    try:
        with open_spool(spool, os.geteuid() if owner is None else owner) as opened:
            return work(opened)
    except (FileNotFoundError, NotADirectoryError):
        return nothing
    except OSError as error:
        raise SpoolUnavailable(spool, error.strerror or str(error)) from error


def session_names(spool: OwnedFolder) -> tuple[str, ...]:
    """Return the names of all sessions in an open spool, oldest first, including refused ones."""
    begun = {
        name: created_ns
        for name in spool.names()
        if name[0] != "." and name != DAMAGED and (created_ns := _created_ns(spool, name)) is not None
    }
    return tuple(sorted(begun, key=lambda name: (begun[name], name)))


def early_names(spool: OwnedFolder) -> tuple[str, ...]:
    """Return the names of folders of sessions that have no data yet, and may never have any."""
    return tuple(name for name in spool.names() if _ID.fullmatch(name) and _is_early(spool, name))


def _is_early(spool: OwnedFolder, name: str) -> bool:
    try:
        with spool.folder(name) as folder:
            return _EARLY.issuperset(folder.names())
    except (FileNotFoundError, PermissionError, RefusedFile):  # removed meanwhile, or not accessible
        return False


def is_live(manifest: Manifest, folder: OwnedFolder | None = None, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Return whether the profiled process or one of its samplers still runs and may still write.

    A process that records another one writes nothing after the session's end.

    Only the process's host can check that. On other hosts a session counts as live until it has ended, or
    nothing in its folder has changed for ten minutes: it writes each second.
    """
    if manifest.process.host != os.uname().nodename:
        seen_ns = max(manifest.created_ns, 0 if folder is None else folder.changed_ns())
        return manifest.ended_ns is None and clock.unix_ns() < seen_ns + _CLOCKS_APART_S * 1e9
    process = manifest.process
    processes: list[tuple[int, ...]] = []
    if not process.recorder or manifest.ended_ns is None:
        processes.append(process.recorder or (process.pid, process.start_ticks))
    processes += [
        (segment.pid, segment.start_ticks)
        for segment in manifest.segments
        if segment.pid is not None and segment.start_ticks is not None
    ]
    return any(is_same_process(pid, ticks) for pid, ticks in processes)


def _summed(deltas: Iterable[CallDelta]) -> dict[str, CallDelta]:
    """Add up the deltas of each region, a few at a time, since a long session has very many."""
    groups: dict[str, list[CallDelta]] = {}
    for delta in deltas:
        group = groups.setdefault(delta.region, [])
        group.append(delta)
        if len(group) == _SUMMED_AT_ONCE:
            group[:] = [_sum(delta.region, group)]
    return {region: _sum(region, group) for region, group in groups.items()}


def _sum(region: str, deltas: Sequence[CallDelta]) -> CallDelta:
    return CallDelta(
        region=region,
        at_ns=max(delta.at_ns for delta in deltas),
        durations=merge_histograms([delta.durations for delta in deltas]),
        skipped=sum(delta.skipped for delta in deltas),
        raised=sum(delta.raised for delta in deltas),
        suspended_ns=sum(delta.suspended_ns for delta in deltas),
        traced_away=sum(delta.traced_away for delta in deltas),
        first_call_ns=min((d.first_call_ns for d in deltas if d.first_call_ns is not None), default=None),
        nested=sum(delta.nested for delta in deltas),
        awaits=add_awaits(one for delta in deltas for one in delta.awaits),
    )


def is_sampler_file(name: str) -> bool:
    """Return whether this is the name of a sampler's output or log."""
    return name.startswith(SEGMENT_PREFIX)


def has_begun(names: Iterable[str]) -> bool:
    """Return whether these are files of a session that has data."""
    return any(name in OWN_FILES - _EARLY or is_sampler_file(name) for name in names)


def _created_ns(spool: OwnedFolder, name: str) -> int | None:
    """Return a session's start, else its folder's last change; None if it is not a session."""
    status = spool.status(name)
    if status is None or not (stat.S_ISDIR(status.st_mode) or stat.S_ISLNK(status.st_mode)):
        return None
    try:
        with spool.folder(name) as folder:
            if not has_begun(folder.names()):
                return None
            return read_manifest_in(folder).created_ns
    except FileNotFoundError:  # removed meanwhile by another process
        return None
    except (DamagedFile, PermissionError):
        return status.st_mtime_ns
