"""Recordings of a session: segments, gaps and achieved rate; traces of torch.profiler; and damage."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from profkit.errors import DamagedFile
from profkit.model.profile import Profile
from profkit.model.session import Manifest, SamplerPlan, Segment, ThreadName, segment_stem
from profkit.model.trace import Trace
from profkit.process.guard import reraise_signal_error
from profkit.samplers.base import Recording, Sampler, output_name, output_of
from profkit.store.files import OwnedFolder
from profkit.store.records import load_json
from profkit.store.spool_files import LARGEST_TRACE_BYTES, region_of
from profkit.transforms.operators import Json, sum_up_traces

_FEW_PERIODS = 10
"""Periods of sampling up to which the number of rounds says nothing about the rate."""
_FASTEST, _SLOWEST, _MARGIN_NS = 2, 20, 10 * 10**9
"""Bounds of the time that a number of samples can have taken: py-spy catches up and falls behind."""

_NO_OUTPUTS = (".log", ".rounds")
"""Ends of the names of files that are written beside an output."""


@dataclass(frozen=True, slots=True)
class ReadSegment:
    """A segment that is complete; `recording` is None if the sampler keeps it elsewhere."""

    segment: Segment
    recording: Recording | None
    ended_ns: int | None
    """None if the time of the end is not known."""

    @property
    def covered_ns(self) -> int:
        """Time in which the process was sampled; 0 if not known."""
        unseen_ns = 0 if self.recording is None else self.recording.unseen_ns
        # Its clock also runs while the machine is suspended, and that of the duration does not.
        return self.duration_ns - min(unseen_ns, max(0, self.duration_ns - self._planned_ns))

    @property
    def duration_ns(self) -> int:
        """Time from the start of sampling to its end; 0 if not known.

        If the process died before it could measure it, it is the difference of two times of day. If the
        clock was set in between, it is the planned time of that number of samples.
        """
        if self.segment.sampled_ns is not None:
            return max(0, self.segment.sampled_ns)
        between_ns = self.ended_ns - self.started_ns if self.ended_ns else 0
        if self.recording is None or self.recording.rounds is None:
            return max(0, between_ns)
        planned_ns = self._planned_ns
        least_ns, most_ns = planned_ns // _FASTEST, planned_ns * _SLOWEST + _MARGIN_NS
        return max(0, between_ns if least_ns <= between_ns <= most_ns else planned_ns)

    @property
    def _planned_ns(self) -> int:
        """The time that the rounds were to take; 0 if it is not known."""
        if self.recording is None or self.recording.rounds is None:
            return 0
        return round(self.recording.rounds * self.recording.profile.period_ns)

    def offset_ns(self, created_ns: int) -> int:
        """Return the start of sampling, relative to the start of its session."""
        if self.segment.offset_ns is not None:
            return self.segment.offset_ns
        return max(0, self.started_ns - created_ns)

    @property
    def started_ns(self) -> int:
        """Start of sampling; if the process died before that, the sampler's start."""
        return self.segment.running_ns or self.segment.started_ns


@dataclass(frozen=True, slots=True)
class Coverage:
    """Time that a session was sampled, time that it was on but not sampled, and the achieved rate."""

    session_s: float
    gap_s: float
    achieved_hz: float | None


NOT_COVERED = Coverage(0.0, 0.0, None)


def read_segments(
    folder: OwnedFolder, manifest: Manifest, sampler: Sampler, live: bool
) -> tuple[tuple[ReadSegment, ...], tuple[DamagedFile, ...]]:
    """Return the segments that can be read, and the damage of those that should be readable as a whole.

    A segment that is still being recorded is in neither, nor is one whose failure is in the manifest. Outputs
    that the manifest does not name are included: it may be older than they are.
    """
    read, damaged = [], []
    for segment in manifest.segments:
        try:
            recording = sampler.read(folder, segment, manifest.plan)
        except DamagedFile as damage:
            reraise_signal_error(damage)
            if not _is_expected(folder, damage, segment, manifest, live):
                damaged.append(damage)
        else:
            read.append(ReadSegment(segment, recording, segment.stopped_ns or _written_ns(folder, segment)))
            if recording is not None and not recording.complete and _was_stopped(segment, manifest):
                path = folder.path / output_name(segment.index, sampler.name)
                damaged.append(DamagedFile(path, "its end is missing, and samples with it"))
    if not live:
        known = {segment.index for segment in manifest.segments}
        for index in sorted(_outputs(folder) - known):
            try:
                read.append(_unnamed(folder, index, sampler, manifest.plan))
            except DamagedFile as damage:
                damaged.append(damage)
    return tuple(read), tuple(damaged)


def with_names(segments: Sequence[ReadSegment], names: Iterable[ThreadName], pid: int) -> list[ReadSegment]:
    """Return segments with the whole names of the threads of process `pid`."""
    known = {(name.tid, name.seen): name.name for name in names}
    return [_named(segment, known, (0, pid)) for segment in segments] if known else list(segments)


def _named(segment: ReadSegment, known: Mapping[tuple[int, str], str], pids: Collection[int]) -> ReadSegment:
    recording = segment.recording
    if recording is None:
        return segment
    threads = tuple(
        thread._replace(name=known.get((thread.tid, thread.name), thread.name))
        if thread.pid in pids else thread
        for thread in recording.profile.threads
    )  # fmt: skip
    named = replace(recording, profile=replace(recording.profile, threads=threads))
    return replace(segment, recording=named)


def on_one_clock(segments: Iterable[ReadSegment]) -> list[tuple[ReadSegment, Profile]]:
    """Return the segments with a recording, and profiles whose starts count from the first segment on."""
    recorded = [(read, read.recording) for read in segments if read.recording is not None]
    first_ns = min((read.started_ns for read, _ in recorded), default=0)
    return [
        (read, _shifted(recording.profile, read.started_ns - first_ns, _round_ns(read, recording)))
        for read, recording in recorded
    ]


def _round_ns(read: ReadSegment, recording: Recording) -> float:
    """Return the mean time of a round; the planned one if it is not known."""
    if recording.rounds and read.ended_ns is not None and read.covered_ns:
        return read.covered_ns / recording.rounds
    return recording.profile.period_ns


def _shifted(profile: Profile, by_ns: int, round_ns: float) -> Profile:
    if not profile.starts or by_ns <= 0 or round_ns <= 0:
        return profile
    by = round(by_ns / round_ns)
    return replace(profile, starts=tuple(start + by for start in profile.starts))


def has_outputs(folder: OwnedFolder) -> bool:
    """Return whether a sampler left any output."""
    return bool(_outputs(folder))


def _outputs(folder: OwnedFolder) -> set[int]:
    outputs = map(output_of, folder.names())
    return {output[0] for output in outputs if output is not None}


def _unnamed(folder: OwnedFolder, index: int, sampler: Sampler, plan: SamplerPlan) -> ReadSegment:
    """Return a segment that the manifest does not name; its length is computed from its samples."""
    recording = sampler.read(folder, Segment(index, 0), plan)
    ended_ns = _written_ns(folder, Segment(index, 0)) or 0
    length_ns = round((recording.rounds or 0) * recording.profile.period_ns) if recording is not None else 0
    return ReadSegment(Segment(index, max(0, ended_ns - length_ns)), recording, ended_ns)


def coverage_of(segments: Sequence[ReadSegment], created_ns: int) -> Coverage:
    """Return the coverage of a session; a segment that is missing between others leaves a gap.

    So does a time in which the process could not be read.
    """
    timed = [segment for segment in segments if segment.ended_ns is not None]
    covered_ns = sum(segment.covered_ns for segment in timed)
    asleep_ns = sum(segment.segment.asleep_ns for segment in timed)
    span_ns = _span_ns(timed, created_ns) - asleep_ns
    return Coverage(
        session_s=covered_ns / 1e9,
        gap_s=max(0, span_ns - covered_ns) / 1e9,
        achieved_hz=_achieved_hz(timed),
    )


def _span_ns(segments: Sequence[ReadSegment], created_ns: int) -> int:
    starts = [segment.offset_ns(created_ns) for segment in segments]
    ends = [start + segment.duration_ns for start, segment in zip(starts, segments, strict=True)]
    return max(ends) - min(starts) if segments else 0


def _achieved_hz(segments: Sequence[ReadSegment]) -> float | None:
    """Return the rate of the rounds; None if it is not known, or the recordings are too short to have one."""
    counted = [
        (segment.recording.rounds, segment.covered_ns)
        for segment in segments
        if segment.recording is not None and segment.recording.rounds is not None
    ]
    covered_ns = sum(time_ns for _, time_ns in counted)
    period_ns = max((one.recording.profile.period_ns for one in segments if one.recording), default=0.0)
    if covered_ns <= _FEW_PERIODS * period_ns:
        return None
    return sum(rounds for rounds, _ in counted) / (covered_ns / 1e9)


def _is_expected(
    folder: OwnedFolder, damage: DamagedFile, segment: Segment, manifest: Manifest, live: bool
) -> bool:
    """Return whether output is expected to be missing: not yet written, or the sampler failed."""
    if live and segment.stopped_ns is None:
        return True
    known = segment.error is not None or manifest.error is not None or segment.running_ns is None
    return known and folder.status(damage.path.name) is None


def _was_stopped(segment: Segment, manifest: Manifest) -> bool:
    """Return whether the program stopped the sampler without an error, so that its output had an end."""
    return segment.stopped_ns is not None and segment.error is None and manifest.error is None


def _written_ns(folder: OwnedFolder, segment: Segment) -> int | None:
    """Return when the sampler wrote its output, which it does when the process that it reads has died."""
    stem = f"{segment_stem(segment.index)}."
    outputs = [name for name in folder.names() if name.startswith(stem) and not name.endswith(_NO_OUTPUTS)]
    times_ns = [status.st_mtime_ns for name in outputs if (status := folder.status(name)) is not None]
    return max(times_ns, default=None)


def read_traces(
    folder: OwnedFolder,
) -> tuple[Mapping[str, tuple[Trace, bytes]], tuple[DamagedFile, ...]]:
    """Return the traces by region, each with its last file, gzipped; and the files that cannot be read."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(folder.names()):
        if (region := region_of(name)) is not None:
            files[region].append(name)
    found, damaged = {}, []
    for region, names in files.items():
        traces: list[Sequence[Json]] = []
        last = b""
        for name in names:
            try:
                data = folder.read(name, LARGEST_TRACE_BYTES)
                sum_up_traces([events := _events(data)])
            except DamagedFile as damage:
                damaged.append(damage)
            except (ValueError, RecursionError) as error:
                damaged.append(DamagedFile(folder.path / name, str(error)))
            else:
                traces.append(events)
                last = data
        if traces:
            found[region] = sum_up_traces(traces), gzip.compress(last, 6, mtime=0)
    return found, tuple(damaged)


def _events(data: bytes) -> Sequence[Json]:
    document = load_json(data)
    events = document.get("traceEvents") if isinstance(document, dict) else None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise ValueError("it is no trace of torch.profiler")
    return events
