"""Sending of finished sessions and measured runs to another place, each exactly once.

A server of profiles gets the samples of sessions. It cannot be asked what it has, so a session whose answer
was lost is sent again, with the same ids.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import DamagedFile, ProfkitError
from profkit.ingest.keep import may_be_written
from profkit.ingest.read import read_runs_in
from profkit.ingest.servers.profile_server import ProfileServer, RunsRefused
from profkit.model.region import MEMRAY
from profkit.model.run import Run
from profkit.store.clearing import (
    alone_in,
    finish_removing,
    gets_no_more,
    newest_of_processes,
    remove_folder_in,
    set_aside_in,
)
from profkit.store.files import OwnedFolder, check_unshared, make_folder, open_spool
from profkit.store.measured import run_names
from profkit.store.packs import (
    ARRIVING,
    LARGEST_SESSION_BYTES,
    ended,
    is_session_file,
    pack,
    pack_names,
    read_contents,
    unpack,
    write_file,
)
from profkit.store.places import Place, PlaceUnavailable, RemotePlace
from profkit.store.records import LARGEST_BYTES
from profkit.store.spool import PACKED, in_spool, read_manifest_in, session_names, write_manifest


@dataclass(frozen=True, slots=True)
class PushReport:
    """Result of sending what is in a spool."""

    sent: int = 0
    """Number of sessions and runs that are in the other place now."""
    known: int = 0
    """Number of those that were there already."""
    recording: int = 0
    """Number of sessions that may still be written; they stay."""
    damaged: tuple[ProfkitError, ...] = ()
    """What was not sent, and why."""
    unsuitable: int = 0
    """Number of sessions and measured runs that stay, as they have no samples of time, which servers want."""
    refused: tuple[RunsRefused, ...] = ()
    """Sessions that a server does not take; they stay."""


def push(
    spool: Path, place: Place | ProfileServer, clock: Clock = SYSTEM_CLOCK, owner: int | None = None
) -> PushReport:
    """Send all finished sessions, measured runs and packs of a spool, and delete each when it is there.

    After any interruption, the next call completes it: what is there is not sent again. Raises
    SpoolUnavailable, and PlaceUnavailable; then what was not sent is still in the spool.
    """

    def send_all(opened: OwnedFolder) -> PushReport:
        return sum_of([_alone(opened, send) for send in _sends(opened, place, clock)])

    return in_spool(spool, owner, send_all, PushReport())


def _alone(spool: OwnedFolder, send: Callable[[], PushReport]) -> PushReport:
    """Send one thing under the spool's lock, which others need in between; they may have taken it."""
    with alone_in(spool):
        try:
            return send()
        except DamagedFile as damage:
            return PushReport(damaged=(damage,))
        except RunsRefused as refusal:
            return PushReport(refused=(refusal,))
        except FileNotFoundError:
            return PushReport()


def _sends(
    spool: OwnedFolder, place: Place | ProfileServer, clock: Clock
) -> Iterator[Callable[[], PushReport]]:
    yield lambda: PushReport(damaged=finish_removing(spool))
    names = session_names(spool)
    newest = newest_of_processes(names)
    if isinstance(place, ProfileServer):
        for name in names:
            yield partial(_send_profiles, spool, name, newest, place, clock)
        for name in pack_names(spool):
            yield partial(_send_pack, spool, name, place, clock)
        yield lambda: PushReport(unsuitable=len(run_names(spool)))
        return
    for name in names:
        yield partial(_send_session, spool, name, newest, place, clock)
    for name in (*pack_names(spool), *run_names(spool)):
        yield partial(_send_file, spool, name, place)


def sum_of(reports: Sequence[PushReport]) -> PushReport:
    """Return the sums of reports."""
    return PushReport(
        sent=sum(report.sent for report in reports),
        known=sum(report.known for report in reports),
        recording=sum(report.recording for report in reports),
        damaged=tuple(damage for report in reports for damage in report.damaged),
        unsuitable=sum(report.unsuitable for report in reports),
        refused=tuple(refusal for report in reports for refusal in report.refused),
    )


def _send_session(
    spool: OwnedFolder, name: str, newest: Collection[str], place: Place, clock: Clock
) -> PushReport:
    with spool.folder(name) as folder:
        if not _has_ended(folder, name in newest, clock):
            return PushReport(recording=1)
        others = [_set_aside(spool, entry, folder) for entry in folder.names() if not is_session_file(entry)]
        packed = pack(folder)
        there = place.size_of(packed.name)
        is_known = there is not None and there == sum(map(len, packed.chunks))
        if not is_known:
            place.write(packed.name, pack(folder).chunks)
        refused = remove_folder_in(spool, name, folder)
    return PushReport(1, is_known, damaged=(*others, *refused))


def _send_profiles(
    spool: OwnedFolder, name: str, newest: Collection[str], server: ProfileServer, clock: Clock
) -> PushReport:
    with spool.folder(name) as folder:
        if not _has_ended(folder, name in newest, clock):
            return PushReport(recording=1)
        if read_manifest_in(folder).plan.sampler == MEMRAY:
            return PushReport(unsuitable=1)
        contents = read_runs_in(folder)
        runs = tuple(filter(has_time, contents.runs))
        if not runs and (contents.runs or contents.damaged):
            return PushReport(unsuitable=1, damaged=contents.damaged)
        for refusal in filter(None, map(folder.refusal, folder.names())):
            raise refusal  # it keeps the folder here, which would be sent again and again
        if runs:  # else nothing was called in this session
            server.send(name, runs)
        damaged = {damage.path.name for damage in contents.damaged}
        others = [entry for entry in folder.names() if entry in damaged or not is_session_file(entry)]
        aside = [_set_aside(spool, entry, folder) for entry in others]
        refused = remove_folder_in(spool, name, folder)
    return PushReport(len(runs[:1]), damaged=(*aside, *refused))


def has_time(run: Run) -> bool:
    """Return whether a run has samples of time, which servers of profiles want."""
    profile = run.profile
    return profile is not None and profile.unit.is_time and bool(profile.samples)


def _send_pack(spool: OwnedFolder, name: str, server: ProfileServer, clock: Clock) -> PushReport:
    with suppress(FileExistsError):  # its session has a folder here, which was sent before
        return _send_profiles(spool, unpack(spool, name), (), server, clock)
    return PushReport()


def _has_ended(folder: OwnedFolder, is_newest: bool, clock: Clock) -> bool:
    try:
        manifest = read_manifest_in(folder)
    except DamagedFile:  # the receiver reads the samples without it
        return not may_be_written(folder, clock)
    return gets_no_more(manifest, folder, is_newest)


def _set_aside(spool: OwnedFolder, entry: str, folder: OwnedFolder) -> DamagedFile:
    kept = set_aside_in(spool, entry, folder)
    return DamagedFile(folder.path / entry, "it is no file of a session", kept)


def _send_file(spool: OwnedFolder, name: str, place: Place) -> PushReport:
    if (refusal := spool.refusal(name)) is not None:
        raise refusal
    status = spool.status(name)
    if status is None:
        return PushReport()
    is_known = place.size_of(name) == status.st_size
    if not is_known:
        place.write(name, spool.chunks(name, LARGEST_BYTES))
    os.unlink(name, dir_fd=spool.descriptor)
    return PushReport(1, is_known)


def fetch(place: RemotePlace, spool: Path) -> None:
    """Move what others have sent to a URL into a spool, from which `ingest` keeps it.

    Raises PlaceUnavailable, and OSError and SpoolUnavailable if the spool cannot be written.
    """
    make_folder(spool)
    check_unshared(spool)
    with open_spool(spool, os.geteuid()) as opened:
        for name in place.names():
            if (place.size_of(name) or 0) > LARGEST_SESSION_BYTES:
                raise PlaceUnavailable(
                    place.name, f"{name} is larger than {LARGEST_SESSION_BYTES} bytes", "delete it there"
                )
            write_file(opened, name, place.chunks(name))
            place.remove(name)


def end_sessions_of(spool: Path, host: str, owner: int | None = None) -> int:
    """End the unfinished sessions of a lost host in a spool, so that they are read at once; return how many.

    What it was sending when it was lost becomes a session, too, as far as it has arrived.
    """

    def end_all(opened: OwnedFolder) -> int:
        with alone_in(opened):
            written = sum(_end(opened, name, host) for name in session_names(opened))
            hidden = [name for name in opened.names() if name[0] == "." and name.endswith(PACKED + ARRIVING)]
            return written + sum(_let_arrive(opened, name, host) for name in hidden)

    return in_spool(spool, owner, end_all, 0)


def _end(spool: OwnedFolder, name: str, host: str) -> bool:
    with suppress(DamagedFile, FileNotFoundError), spool.folder(name) as folder:
        manifest = read_manifest_in(folder)
        if manifest.process.host == host and manifest.ended_ns is None:
            write_manifest(folder.path.resolve(), ended(manifest, folder), sync=True)
            return True
    return False


def _let_arrive(spool: OwnedFolder, hidden: str, host: str) -> bool:
    name = hidden.removeprefix(".").removesuffix(ARRIVING)
    if spool.status(name) is not None:
        return False
    with suppress(DamagedFile, ValueError, RecursionError, FileNotFoundError):
        with spool.open(hidden) as file:
            contents, _ = read_contents(file)
        if contents.host == host:
            os.rename(hidden, name, src_dir_fd=spool.descriptor, dst_dir_fd=spool.descriptor)
            return True
    return False
