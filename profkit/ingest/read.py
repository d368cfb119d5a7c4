"""Reading of a session's folder as runs: one per region, with its samples, state and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from profkit.errors import DamagedFile, SpoolUnavailable, UsageError
from profkit.ingest.recovery import (
    NOTHING_RECOVERED,
    REST,
    Recovered,
    cut_rest,
    recover_regions,
    substitute_manifest,
    with_rate,
)
from profkit.ingest.segments import (
    NOT_COVERED,
    Coverage,
    ReadSegment,
    coverage_of,
    has_outputs,
    on_one_clock,
    read_segments,
    read_traces,
    with_names,
)
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile
from profkit.model.region import MEMRAY, Region, RegionKind
from profkit.model.run import Run, RunInfo, derived_id
from profkit.model.session import CallDelta, Manifest, ResourcePoint, SessionState
from profkit.model.trace import Trace
from profkit.samplers.base import Sampler
from profkit.samplers.registry import resolve as registry_resolve
from profkit.store.files import OwnedFolder, open_spool
from profkit.store.spool import MANIFEST, SpoolSession, is_live, read_journals, read_session_in
from profkit.transforms.attribution import RegionCut, cut_regions
from profkit.transforms.combine import merge_profiles
from profkit.transforms.origin import shown_file, with_cell_names
from profkit.transforms.simplify import keep_leaf_end
from profkit.transforms.unsampled_time import children_note


def session_notes(
    manifest: Manifest, segments: Iterable[ReadSegment], damaged: Sequence[DamagedFile], state: SessionState
) -> tuple[Note, ...]:
    """Return the notes of all runs of a session, which have this state."""
    notes = [*manifest.plan.notes, *manifest.notes]
    if state is SessionState.ENDED_EARLY:
        notes.append(Note(NoteCode.PROCESS_ENDED))
    if manifest.truncated:
        notes.append(Note.of(NoteCode.DURATION_REACHED, max_duration_s=manifest.plan.max_duration_s))
    notes += [note for read in segments if read.recording is not None for note in read.recording.notes]
    notes += [Note.of(NoteCode.FILE_UNREADABLE, file=damage.path.name) for damage in damaged]
    notes += _segment_errors(manifest)
    return tuple(dict.fromkeys(notes))


def run_notes(info: RunInfo) -> Iterator[Note]:
    """Yield the notes of one region's run, from its numbers."""
    if info.is_much_torn:
        # Measured with two alternating regions: as many torn stacks match their markers by chance.
        yield Note.of(NoteCode.TORN, torn=info.torn, samples=info.samples + info.torn)
    if info.traced_away:
        yield Note.of(NoteCode.CALLS_COMPILED, label=info.label)
    if info.samples and not info.calls and info.plan.window_s is None:
        yield Note(NoteCode.NO_CALL_FINISHED)


def _segment_errors(manifest: Manifest) -> Iterator[Note]:
    for segment in manifest.segments:
        if segment.error is not None and segment.error != manifest.error:
            yield Note.of(NoteCode.SEGMENT_FAILED, segment=segment.index, detail=segment.error)


Resolve = Callable[[str], Sampler]


@dataclass(frozen=True, slots=True)
class FolderRuns:
    """Contents of a session's folder; `live` folders may still change."""

    folder: Path
    manifest: Manifest
    live: bool
    runs: tuple[Run, ...]
    damaged: tuple[DamagedFile, ...]
    """Files that cannot be read wholly or in part; the runs are made from all others."""
    unreadable: DamagedFile | None = None
    """The manifest's damage; if there is any, everything but samples and calls is a guess."""


def read_runs(folder: Path, resolve: Resolve = registry_resolve, *, first_segment: int = 0) -> FolderRuns:
    """Return the runs of a session, finished or not, in the order in which their regions first ran.

    Of a session that is recording, segments before `first_segment` are not read. Raises DamagedFile if the
    folder has neither a manifest that can be read nor samples, and SpoolUnavailable if the system has no room
    to read it now.
    """
    try:
        with open_spool(folder, None) as opened:
            return read_runs_in(opened, resolve, first_segment)
    except FileNotFoundError as error:
        raise DamagedFile(folder, "it is missing") from error
    except OSError as error:
        raise SpoolUnavailable(folder.parent, error.strerror or str(error)) from error


def read_runs_in(
    folder: OwnedFolder, resolve: Resolve = registry_resolve, first_segment: int = 0
) -> FolderRuns:
    """Return the runs of an open folder, as `read_runs`; an OSError means that the caller may retry later."""
    try:
        session, live = _read_session(folder)
        if session.manifest.plan.sampler == MEMRAY:
            return _memory_runs(folder, session, live)
        sampler = _sampler(folder, session.manifest, resolve)
    except DamagedFile as damage:
        return _without_manifest(folder, damage, resolve)
    if live and first_segment:
        later = tuple(one for one in session.manifest.segments if one.index >= first_segment)
        session = replace(session, manifest=replace(session.manifest, segments=later))
    return _runs_of(folder, session, sampler, live)


def _without_manifest(folder: OwnedFolder, damage: DamagedFile, resolve: Resolve) -> FolderRuns:
    """Return runs made from samples and journals alone; raise the damage if there are no samples."""
    if not has_outputs(folder):
        raise damage
    manifest = substitute_manifest(folder)
    try:
        sampler = resolve(manifest.plan.sampler)
    except UsageError:
        raise damage from None
    manifest = with_rate(manifest, read_segments(folder, manifest, sampler, False)[0])
    session = read_journals(folder, manifest, [damage])
    return replace(_runs_of(folder, session, sampler, False), unreadable=damage)


def _runs_of(folder: OwnedFolder, session: SpoolSession, sampler: Sampler, live: bool) -> FolderRuns:
    manifest = session.manifest
    found, unread = read_segments(folder, manifest, sampler, live)
    segments = with_names(found, session.threads, manifest.process.pid)
    recovered = recover_regions(session, segments)
    traces, unread_traces = read_traces(folder)
    damaged = (*session.damaged, *unread, *unread_traces)
    data = _SessionData(
        session=session,
        state=_state(manifest, live),
        segments=recovered.segments,
        coverage=coverage_of(segments, manifest.created_ns),
        recovered=recovered,
        traces=traces,
    )
    notes = session_notes(manifest, segments, damaged, data.state)
    runs = [_run(region, cut, data, notes) for region, cut in _all_cuts(data)]
    reported = tuple(run for run in runs if _has_content(run, data))
    return FolderRuns(folder.path, manifest, live, reported, damaged)


def run_id(session: str, region_id: str) -> str:
    """Return the run's id; it is the same every time its folder is read."""
    return derived_id(f"{session}\0{region_id}".encode())


@dataclass(frozen=True, slots=True)
class _SessionData:
    session: SpoolSession
    state: SessionState
    segments: tuple[ReadSegment, ...] = ()
    coverage: Coverage = NOT_COVERED
    recovered: Recovered = NOTHING_RECOVERED
    traces: Mapping[str, tuple[Trace, bytes]] = field(default_factory=dict)
    """By region: what torch.profiler recorded, and its last file."""

    @property
    def period_ns(self) -> float:
        """The sampling period, from the achieved rate, else from the requested one."""
        rate_hz = self.coverage.achieved_hz or self.session.manifest.plan.rate_hz
        return 1e9 / rate_hz if rate_hz else 0.0

    @property
    def started_ns(self) -> int:
        """Start of sampling."""
        created_ns = self.session.manifest.created_ns
        return min((segment.started_ns for segment in self.segments), default=created_ns)


def _read_session(folder: OwnedFolder) -> tuple[SpoolSession, bool]:
    """Return the session and whether it is live; if it is not, it was read after its last change."""
    session = read_session_in(folder)
    live = is_live(session.manifest, folder)
    if live or session.manifest.ended_ns is not None:
        return session, live
    return read_session_in(folder), False


def _memory_runs(folder: OwnedFolder, session: SpoolSession, live: bool) -> FolderRuns:
    manifest = session.manifest
    from profkit.ingest.memory import read_memory

    memories, unread = read_memory(folder, session.regions, session.captures, live=live)
    damaged = (*session.damaged, *unread)
    data = _SessionData(session, _state(manifest, live))
    notes = session_notes(manifest, (), damaged, data.state)
    runs = []
    for region in session.regions:
        run, found = _run(region, None, data, notes), memories.get(region.id)
        if found is not None:
            memory, profile = found
            run = replace(run, info=replace(run.info, memory=memory), profile=profile)
        if found is not None or _has_content(run, data):
            runs.append(run)
    return FolderRuns(folder.path, manifest, live, tuple(runs), damaged)


def _sampler(folder: OwnedFolder, manifest: Manifest, resolve: Resolve) -> Sampler:
    try:
        return resolve(manifest.plan.sampler)
    except UsageError as error:
        detail = f"its sampler {manifest.plan.sampler!r} is not known here"
        raise DamagedFile(folder.path / MANIFEST, detail) from error


def _state(manifest: Manifest, live: bool) -> SessionState:
    if manifest.state.is_final:
        return manifest.state
    return SessionState.RUNNING if live else SessionState.ENDED_EARLY


def _all_cuts(data: _SessionData) -> Iterable[tuple[Region, RegionCut | None]]:
    """Yield each region of the session, also recovered ones, and the rest if there may be others."""
    regions = (*data.session.regions, *data.recovered.regions)
    may_tear = data.session.manifest.plan.may_tear
    yield from _cuts(regions, data.segments, may_tear=may_tear)
    if (
        data.recovered.incomplete
        and (rest := cut_rest(data.segments, regions, may_tear=may_tear)) is not None
    ):
        yield rest


def _cuts(
    regions: Sequence[Region], segments: Iterable[ReadSegment], *, may_tear: bool
) -> Iterable[tuple[Region, RegionCut | None]]:
    """Yield each region with its part of all recordings, or None if there is no recording."""
    parts: list[Mapping[str, RegionCut]] = [
        cut_regions(profile, regions, read.segment.covers, may_tear=may_tear)
        for read, profile in on_one_clock(segments)
    ]
    for region in regions:
        yield region, _joined([part[region.id] for part in parts]) if parts else None


def _joined(cuts: Sequence[RegionCut]) -> RegionCut:
    if len(cuts) == 1:
        return cuts[0]
    return RegionCut(
        profile=merge_profiles((cut.profile for cut in cuts), same_clock=True),
        torn=sum(cut.torn for cut in cuts),
        overhead=sum(cut.overhead for cut in cuts),
        outside=sum(cut.outside for cut in cuts),
    )


def _run(region: Region, cut: RegionCut | None, data: _SessionData, notes: tuple[Note, ...]) -> Run:
    info = _info(region, cut, data)
    resources = _resources(info, data)
    unsampled = children_note(resources, info.plan)
    notes = (*notes, *(() if unsampled is None else (unsampled,)))
    if region == REST:
        own = (Note(NoteCode.REGIONS_LOST), *notes)
    else:
        own = (*data.recovered.notes.get(region.id, ()), *notes, *run_notes(info))
    cells = {cell.file: cell.name for cell in data.session.cells}
    shown = replace(region, file=shown_file(region.file, cells))
    awaits = tuple(replace(one, file=shown_file(one.file, cells)) for one in info.awaits)
    trace, trace_file = data.traces.get(data.recovered.ids.get(region.id, region.id), (None, None))
    return Run(
        info=replace(info, notes=own, region=shown, awaits=awaits),
        profile=_kept_profile(cut.profile, region, data) if cut is not None else None,
        resources=resources,
        trace=trace,
        trace_file=trace_file,
    )


def _resources(info: RunInfo, data: _SessionData) -> tuple[ResourcePoint, ...]:
    """Return the session's resource points; of a test, only those while it ran, since tests are many."""
    points = data.session.resources
    if info.region.kind is not RegionKind.TEST:
        return points
    return tuple(point for point in points if info.started_ns <= point.at_ns <= info.last_ns)


def _kept_profile(profile: Profile, region: Region, data: _SessionData) -> Profile:
    """Return the profile to keep; add the pid if the sampler omitted that of its only process."""
    cut = keep_leaf_end(profile, region.stack_max_len)
    pid = data.session.manifest.process.pid
    threads = tuple(thread if thread.pid else thread._replace(pid=pid) for thread in cut.threads)
    cells = {cell.file: cell.name for cell in data.session.cells}
    return replace(with_cell_names(cut, cells), period_ns=data.period_ns, threads=threads)


def _info(region: Region, cut: RegionCut | None, data: _SessionData) -> RunInfo:
    manifest, coverage = data.session.manifest, data.coverage
    known_by = data.recovered.ids.get(region.id, region.id)
    calls = data.session.calls.get(known_by, CallDelta(known_by, manifest.created_ns))
    recordings = [read.recording for read in data.segments if read.recording is not None]
    links = [link for segment in manifest.segments for link in segment.links]
    return RunInfo(
        id=run_id(manifest.session, known_by),
        session=manifest.session,
        region=region,
        state=data.state,
        started_ns=calls.first_call_ns or data.started_ns,
        process=manifest.process,
        plan=manifest.plan,
        sampler_version=manifest.sampler_version,
        durations=calls.durations,
        suspended_ns=calls.suspended_ns,
        awaits=calls.awaits,
        skipped=calls.skipped,
        raised=calls.raised,
        traced_away=calls.traced_away,
        achieved_hz=coverage.achieved_hz,
        session_s=coverage.session_s,
        gap_s=coverage.gap_s,
        samples=cut.profile.total_weight if cut is not None else 0,
        torn=cut.torn if cut is not None else 0,
        errors=sum(recording.errors for recording in recordings),
        links=tuple(dict.fromkeys(links)),
        error=manifest.error,
        truncated=manifest.truncated,
        nested=calls.nested,
        last_ns=calls.at_ns,
    )


def _has_content(run: Run, data: _SessionData) -> bool:
    """Return whether there is anything to report: calls, samples, or a state other than success."""
    info = run.info
    counted = info.calls or info.skipped or info.raised or info.traced_away
    seen = info.samples or info.torn
    return bool(counted or seen or data.state is not SessionState.SUCCESS)
