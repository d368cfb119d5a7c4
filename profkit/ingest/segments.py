"""A session's segments: the recordings that can be read, what became of the others, and the time covered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.model.session import Manifest, Segment
from profkit.samplers.base import Recording, Sampler
from profkit.store.spool import segment_stem


@dataclass(frozen=True, slots=True)
class ReadSegment:
    """A segment that left what it should; `recording` is None where the sampler keeps it elsewhere."""

    segment: Segment
    recording: Recording | None
    ended_ns: int | None
    """None where nothing tells when it ended."""

    @property
    def covered_ns(self) -> int:
        """How long the sampler was at work; 0 where that is not known."""
        return max(0, (self.ended_ns or 0) - self.started_ns) if self.ended_ns else 0

    @property
    def started_ns(self) -> int:
        """When the sampler was at work; of a process that died early, when it was started."""
        return self.segment.running_ns or self.segment.started_ns


@dataclass(frozen=True, slots=True)
class Coverage:
    """How long a session was sampled, how long it was not though it was on, and how often."""

    session_s: float
    gap_s: float
    achieved_hz: float | None


def read_segments(
    folder: Path, manifest: Manifest, sampler: Sampler, live: bool
) -> tuple[tuple[ReadSegment, ...], tuple[DamagedFile, ...]]:
    """The segments that can be read, and what is wrong with those that should be but cannot.

    A segment that is still being recorded is neither, and so is one whose failure the manifest tells.
    """
    read, damaged = [], []
    for segment in manifest.segments:
        try:
            recording = sampler.read(folder, segment, manifest.plan)
        except DamagedFile as damage:
            if not _is_expected(damage, segment, manifest, live):
                damaged.append(damage)
        else:
            read.append(ReadSegment(segment, recording, segment.stopped_ns or _written_ns(folder, segment)))
    return tuple(read), tuple(damaged)


def coverage_of(segments: Sequence[ReadSegment]) -> Coverage:
    """The times of a session's segments; a gap is also where a segment is missing between others."""
    timed = [segment for segment in segments if segment.ended_ns is not None]
    covered_ns = sum(segment.covered_ns for segment in timed)
    asleep_ns = sum(segment.segment.asleep_ns for segment in timed)
    span_ns = _span_ns(timed) - asleep_ns
    return Coverage(
        session_s=covered_ns / 1e9,
        gap_s=max(0, span_ns - covered_ns) / 1e9,
        achieved_hz=_achieved_hz(timed),
    )


def _span_ns(segments: Sequence[ReadSegment]) -> int:
    starts = [segment.started_ns for segment in segments]
    ends = [segment.started_ns + segment.covered_ns for segment in segments]
    return max(ends) - min(starts) if segments else 0


def _achieved_hz(segments: Iterable[ReadSegment]) -> float | None:
    counted = [
        (segment.recording.rounds, segment.covered_ns)
        for segment in segments
        if segment.recording is not None and segment.recording.rounds is not None
    ]
    covered_ns = sum(time_ns for _, time_ns in counted)
    return sum(rounds for rounds, _ in counted) / (covered_ns / 1e9) if covered_ns else None


def _is_expected(damage: DamagedFile, segment: Segment, manifest: Manifest, live: bool) -> bool:
    """Whether there can be no output: it is still to come, or the sampler is known to have failed."""
    if live and segment.stopped_ns is None:
        return True
    told = segment.error is not None or manifest.error is not None or segment.running_ns is None
    return told and not damage.path.exists()


def _written_ns(folder: Path, segment: Segment) -> int | None:
    """When the sampler wrote its output, which it does when the process that it reads has died."""
    outputs = [path for path in folder.glob(f"{segment_stem(segment.index)}.*") if path.suffix != ".log"]
    return max((path.stat().st_mtime_ns for path in outputs), default=None)
