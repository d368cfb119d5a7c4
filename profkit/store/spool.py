"""The spool: one folder a session, written so that a killed process leaves a readable one.

    SPOOL/SESSION/manifest.json     the Manifest with `"schema": "profkit.spool/1"`; replaced by rename
                  regions.jsonl     a Region a line, when it first runs
                  calls.jsonl       a CallDelta a line: one per tick and region that moved
                  resources.jsonl   a ResourcePoint a line: one per tick
                  segment-000.…     what the sampler wrote; its own business
    SPOOL/ID.measured.json          a measured run, see `measured`
    SPOOL/damaged/SESSION/          what could not be read, never deleted

SESSION is the session's id, ID that of a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import DamagedFile
from profkit.model.region import Region
from profkit.model.session import CallDelta, Manifest, ResourcePoint
from profkit.process.procfs import is_same_process
from profkit.stats import merge_histograms
from profkit.store.documents import UNFINISHED, read_document, write_document
from profkit.store.home import make_folder
from profkit.store.journal import append_records, read_records

SCHEMA = "profkit.spool/1"
DAMAGED = "damaged"

_MANIFEST = "manifest.json"
_REGIONS, _CALLS, _RESOURCES = "regions.jsonl", "calls.jsonl", "resources.jsonl"
_CLOCKS_APART_S = 600.0
"""How far the clocks of two hosts may differ before a session of one seems over to the other."""


@dataclass(frozen=True, slots=True)
class SpoolSession:
    """Everything that a spool folder tells but the samples."""

    manifest: Manifest
    regions: tuple[Region, ...]
    """Each once, in the order in which they first ran."""
    calls: Mapping[str, CallDelta]
    """Sums per region id; `at_ns` is the last tick's."""
    resources: tuple[ResourcePoint, ...]
    damaged: tuple[DamagedFile, ...]
    """Files of which some lines could not be read."""


def create_folder(spool: Path, session: str) -> Path:
    """Make the folder of a new session, for its owner alone, and the spool around it if need be.

    Raises OSError where that cannot be done, FileExistsError for a session that has a folder.
    """
    make_folder(spool)
    folder = spool / session
    folder.mkdir(mode=0o700)
    return folder


def segment_stem(index: int) -> str:
    """How the names of a segment's files begin."""
    return f"segment-{index:03d}"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put a manifest in the place of the one before; a reader sees the old or the new one, whole."""
    write_document(folder / _MANIFEST, SCHEMA, manifest, indent=1)


def append_regions(folder: Path, regions: Iterable[Region]) -> None:
    """Note regions that ran for the first time; raises OSError where the disk takes no more."""
    append_records(folder / _REGIONS, regions)


def append_calls(folder: Path, deltas: Iterable[CallDelta]) -> None:
    """Note what happened since the tick before; raises OSError where the disk takes no more."""
    append_records(folder / _CALLS, deltas)


def append_resources(folder: Path, points: Iterable[ResourcePoint]) -> None:
    """Note what the process used; raises OSError where the disk takes no more."""
    append_records(folder / _RESOURCES, points)


def read_session(folder: Path) -> SpoolSession:
    """What a folder tells, finished or not; raises DamagedFile only where its manifest cannot be read."""
    manifest = read_document(folder / _MANIFEST, SCHEMA, Manifest)
    regions = read_records(folder / _REGIONS, Region)
    deltas = read_records(folder / _CALLS, CallDelta)
    resources = read_records(folder / _RESOURCES, ResourcePoint)
    damages = (regions.damage, deltas.damage, resources.damage)
    return SpoolSession(
        manifest=manifest,
        regions=tuple({region.id: region for region in regions.records}.values()),
        calls=_summed(deltas.records),
        resources=resources.records,
        damaged=tuple(damage for damage in damages if damage is not None),
    )


def session_folders(spool: Path) -> tuple[Path, ...]:
    """The folders of all sessions, oldest first; none where there is no spool.

    A folder without anything in it is left out: its process is about to write the manifest, or never will.
    """
    if not spool.is_dir():
        return ()
    folders = [path for path in spool.iterdir() if path.is_dir() and path.name[0] != "."]
    begun = [folder for folder in folders if folder.name != DAMAGED and _has_begun(folder)]
    return tuple(sorted(begun, key=lambda folder: (_created_ns(folder), folder.name)))


def is_live(manifest: Manifest, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Whether the profiled process or one of its samplers still runs, and so may still write.

    Only a process's own host can see that. Elsewhere a session counts as live until it has ended, or
    until the longest duration that it was given is over.
    """
    if manifest.process.host != os.uname().nodename:
        limit_s = manifest.plan.max_duration_s + _CLOCKS_APART_S
        return manifest.ended_ns is None and clock.unix_ns() < manifest.created_ns + limit_s * 1e9
    processes = [(manifest.process.pid, manifest.process.start_ticks)]
    processes += [
        (segment.pid, segment.start_ticks)
        for segment in manifest.segments
        if segment.pid is not None and segment.start_ticks is not None
    ]
    return any(is_same_process(pid, ticks) for pid, ticks in processes)


def set_aside(spool: Path, path: Path) -> Path:
    """Move a session's folder, a file in one, or a measured run's file to where nobody reads it again.

    Returns where it is now: a place that bears the name of the session or of the file, with a number if
    there is such a place already.
    """
    named = path if path.is_dir() or path.parent == spool else path.parent
    holder = _new_folder(spool / DAMAGED, named.name)
    # rename(2) puts a folder in the place of an empty one.
    return path.rename(holder if path.is_dir() else holder / path.name)


def remove_folder(folder: Path) -> None:
    """Delete a session's folder; no reader ever sees half of it, and a folder that is gone is no error."""
    doomed = folder.with_name(f".{folder.name}.removed")
    try:
        folder.rename(doomed)
    except FileNotFoundError:
        return
    for root, folders, files in os.walk(doomed, topdown=False):
        for name in files:
            os.unlink(os.path.join(root, name))
        for name in folders:
            os.rmdir(os.path.join(root, name))
    doomed.rmdir()


def _summed(deltas: Iterable[CallDelta]) -> dict[str, CallDelta]:
    groups: dict[str, list[CallDelta]] = {}
    for delta in deltas:
        groups.setdefault(delta.region, []).append(delta)
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
    )


def _has_begun(folder: Path) -> bool:
    try:
        return bool({*os.listdir(folder)} - {_MANIFEST + UNFINISHED})
    except FileNotFoundError:  # removed meanwhile by another process
        return False


def _created_ns(folder: Path) -> int:
    """When a session began; where its manifest does not tell, when its folder last changed."""
    try:
        return read_document(folder / _MANIFEST, SCHEMA, Manifest).created_ns
    except DamagedFile:
        return folder.stat().st_mtime_ns if folder.exists() else 0


def _new_folder(parent: Path, name: str) -> Path:
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            number += 1
        else:
            return folder
