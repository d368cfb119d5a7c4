"""Recovery of regions and sessions whose records are lost, from samples and call counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from profkit.ingest.segments import ReadSegment
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.session import Cover, Manifest, ProcessInfo, SamplerPlan, SessionState
from profkit.samplers.base import output_of
from profkit.store.files import OwnedFolder
from profkit.store.spool import SpoolSession
from profkit.transforms.attribution import RegionCut, cut_regions, find_marks
from profkit.transforms.combine import merge_profiles
from profkit.transforms.origin import OWN_CODE, OwnCode, is_markers_file

_UNKNOWN = "unknown"

WITHOUT_REGIONS = "samples without regions"
REST = Region(
    RegionKey(_UNKNOWN, _UNKNOWN, 0, WITHOUT_REGIONS), RegionKind.BLOCK, "", detached=True, all_threads=True
)
"""Placeholder for all unknown regions; its run has the samples that belong to no known region."""

_MARKER = re.compile(r"profkit:(.*)#([0-9a-f]{4,40})", re.DOTALL)
_SESSION = re.compile(r"\d{8}T\d{6}-(\d{1,9})-[0-9a-f]+")


_Function = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Recovered:
    """The regions of a session whose records are lost, and the segments with their markers."""

    regions: tuple[Region, ...] = ()
    segments: tuple[ReadSegment, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    """The regions' ids in the session, by their current ids."""
    notes: Mapping[str, tuple[Note, ...]] = field(default_factory=dict)
    """Notes on each region's run, by its current id."""
    incomplete: bool = False
    """True if there may be more unknown regions."""


NOTHING_RECOVERED = Recovered()


def recover_regions(session: SpoolSession, segments: Sequence[ReadSegment]) -> Recovered:
    """Find regions without a record that samples or calls name, if records are known to be lost.

    Otherwise markers without a record belong to child processes or to regions that ran before the session.
    """
    profiles = [read.recording.profile for read in segments if read.recording is not None]
    known = {region.id for region in session.regions}
    counted = [one for one in session.calls if one not in known]
    nothing_known = not known and any(profile.samples for profile in profiles)
    if not (session.lost.regions or counted or nothing_known):
        return Recovered(segments=tuple(segments))
    functions = _functions_above(profiles, {region.marker for region in session.regions})
    by_marker = {marker: _region_of(marker, above) for marker, above in functions.items()}
    ids = {region.id: _id_in(marker) for marker, region in by_marker.items()}
    from_calls = {one: _counted_region(one) for one in counted if one not in ids.values()}
    ids |= {region.id: one for one, region in from_calls.items()}
    notes = {region.id: (Note(NoteCode.REGION_FROM_SAMPLES),) for region in by_marker.values()}
    notes |= {region.id: (Note(NoteCode.REGION_FROM_CALLS),) for region in from_calls.values()}
    markers = {old: region.marker for old, region in by_marker.items()}
    return Recovered(
        regions=(*by_marker.values(), *from_calls.values()),
        segments=tuple(_renamed(read, markers) for read in segments),
        ids=ids,
        notes=notes,
        incomplete=session.lost.regions > len(by_marker) or bool(from_calls) or nothing_known,
    )


def cut_rest(
    segments: Iterable[ReadSegment], regions: Sequence[Region], *, may_tear: bool
) -> tuple[Region, RegionCut] | None:
    """Return the samples outside all of the regions, as a region of their own; None without any."""
    parts = [
        cut_regions(_outside(read, regions), (REST, *regions), (Cover(REST.id, None),), may_tear=may_tear)[
            REST.id
        ]
        for read in segments
        if read.recording is not None
    ]
    profile = merge_profiles(part.profile for part in parts)
    if not profile.samples:
        return None
    return REST, RegionCut(profile, torn=sum(part.torn for part in parts))


def substitute_manifest(folder: OwnedFolder) -> Manifest:
    """Return a manifest for a folder whose own cannot be read, from the folder's name and its files."""
    match = _SESSION.fullmatch(folder.path.name)
    times = [status.st_mtime_ns for name in folder.names() if (status := folder.status(name)) is not None]
    return Manifest(
        session=folder.path.name,
        state=SessionState.SUCCESS,
        created_ns=min(times, default=0),
        process=ProcessInfo(
            pid=int(match[1]) if match is not None else 0,
            start_ticks=0,
            host=_UNKNOWN,
            cwd="",
            argv=(),
            python=_UNKNOWN,
            torch=None,
            profkit=_UNKNOWN,
            git_commit=None,
        ),
        plan=SamplerPlan.unknown(_sampler_of(folder), scope="call"),
        ended_ns=max(times, default=0),
        notes=(Note(NoteCode.MANIFEST_UNREADABLE),),
    )


def _sampler_of(folder: OwnedFolder) -> str:
    outputs = filter(None, map(output_of, sorted(folder.names())))
    return next((sampler for _, sampler in outputs), "pyspy")


def with_rate(manifest: Manifest, segments: Iterable[ReadSegment]) -> Manifest:
    """Return a stand-in manifest with the rate at which the samples were taken."""
    periods = [read.recording.profile.period_ns for read in segments if read.recording is not None]
    rate_hz = 1e9 / max(periods, default=0.0) if any(periods) else 0.0
    return replace(manifest, plan=replace(manifest.plan, rate_hz=rate_hz))


def _functions_above(profiles: Iterable[Profile], known: set[str]) -> dict[str, Counter[Frame]]:
    """Count the samples of the functions directly above each marker that no record names."""
    above: dict[str, Counter[Frame]] = {}
    for profile in profiles:
        frames = profile.frames
        unknown = {
            index for index, frame in enumerate(frames) if _is_marker(frame) and frame.name not in known
        }
        own = OWN_CODE.also_of(frames, {frames[index].name for index in unknown})
        weights: Counter[int] = Counter()
        for sample in profile.samples if unknown else ():
            weights[sample.stack] += sample.weight
        for stack, weight in weights.items():
            _count_above(profile.stacks[stack], weight, frames, unknown, own, above)
    return above


def _count_above(
    stack: Sequence[int], weight: int, frames: Sequence[Frame], unknown: set[int], own: OwnCode,
    above: dict[str, Counter[Frame]],
) -> None:  # fmt: skip
    for position, index in enumerate(stack):
        if index in unknown:
            counter = above.setdefault(frames[index].name, Counter())
            called = (frames[one] for one in stack[position + 1 :] if not own.records(frames[one].file))
            counter.update(dict.fromkeys(list(called)[:1], weight))


def _is_marker(frame: Frame) -> bool:
    return is_markers_file(frame.file) and _MARKER.fullmatch(frame.name) is not None


def _id_in(marker: str) -> str:
    match = _MARKER.fullmatch(marker)
    return match[2] if match is not None else ""


def _region_of(marker: str, above: Counter[Frame]) -> Region:
    """Return a region made from its marker and the frames above it, at the smallest line in samples."""
    label = marker.removeprefix("profkit:").rpartition("#")[0]
    by_function: Counter[_Function] = Counter()
    for frame, weight in above.items():
        by_function[frame.name, frame.file] += weight
    # The module distinguishes regions that are otherwise equal.
    module = f"#{_id_in(marker)}"
    if not by_function:
        return Region(RegionKey(module, label, 0, label), RegionKind.FUNCTION, "")
    (name, file), _ = by_function.most_common(1)[0]
    line = min(frame.line for frame in above if (frame.name, frame.file) == (name, file))
    return Region(RegionKey(module, name, line, label), RegionKind.FUNCTION, file, expected=(name, file))


def _counted_region(known_by: str) -> Region:
    key = RegionKey(module=f"#{known_by}", qualname=_UNKNOWN, line=0, label=f"region {known_by}")
    return Region(key, RegionKind.FUNCTION, "")


def _renamed(read: ReadSegment, markers: Mapping[str, str]) -> ReadSegment:
    if read.recording is None or not markers:
        return read
    profile = read.recording.profile
    frames = tuple(
        frame._replace(name=markers[frame.name]) if frame.name in markers and _is_marker(frame) else frame
        for frame in profile.frames
    )
    return replace(read, recording=replace(read.recording, profile=replace(profile, frames=frames)))


def _outside(read: ReadSegment, regions: Sequence[Region]) -> Profile:
    assert read.recording is not None
    profile = read.recording.profile
    marks = find_marks(profile.frames, regions, OWN_CODE.also_of(profile.frames, (r.marker for r in regions)))
    known = {region.id for region in regions}
    covered = {cover.tid for cover in read.segment.covers if cover.region in known}
    kept = tuple(
        sample
        for sample in profile.samples
        if not marks.begins(profile.stacks[sample.stack])
        and not covered & {None, profile.threads[sample.thread].tid}
    )
    return replace(profile, samples=kept, starts=())
