"""What a session leaves in its spool folder: manifest, segments, calls and resources."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field

from profkit.model.histogram import NO_DURATIONS, Histogram


class SessionState(enum.Enum):
    """Where a session stands; the value is the word that files carry."""

    PREPARING = "PREPARING"
    RUNNING = "RUNNING"
    PROCESSING = "PROCESSING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """Which process was profiled, and under what."""

    pid: int
    start_ticks: int
    """Field 22 of /proc/PID/stat: tells a process from a later one with the same pid."""
    host: str
    cwd: str
    argv: tuple[str, ...]
    python: str
    torch: str | None
    profkit: str
    git_commit: str | None
    seal: str = field(default="", metadata={"later": True})
    """Shows that this user recorded it on this machine (`process.manifest`); empty if unknown."""


@dataclass(frozen=True, slots=True)
class SamplerPlan:
    """What a sampler was told to do, after `auto` has been resolved."""

    sampler: str
    rate_hz: float
    blocking: bool
    idle: bool
    native: bool
    subprocesses: bool
    scope: str
    max_duration_s: float
    tags: tuple[str, ...] = ()
    """Sent to a sampler that keeps tags itself."""
    sample_each: float | None = None
    """Cycles per sample, where the caller gave them instead of a rate."""
    notes: tuple[str, ...] = ()
    """What the reader of a report should know about these choices."""


@dataclass(frozen=True, slots=True)
class Cover:
    """A region that was active through the whole of a segment, and the thread that it is about.

    Detached blocks and regions with `all_threads` are found this way; `tid` None is every thread.
    """

    region: str
    tid: int | None


@dataclass(frozen=True, slots=True)
class Segment:
    """One sampler output of a session, from start to stop.

    Moments are Unix times, for people. Durations are of the monotonic clock, which nobody can set.
    """

    index: int
    started_ns: int
    running_ns: int | None = None
    stopped_ns: int | None = None
    pid: int | None = None
    """The sampler's process, None where it keeps the samples elsewhere."""
    start_ticks: int | None = None
    remote_id: str | None = None
    """The id under which a remote sampler keeps the samples."""
    links: tuple[tuple[str, str], ...] = ()
    """(what, URL) under which a remote sampler shows them."""
    covers: tuple[Cover, ...] = ()
    asleep_ns: int = 0
    """Time before this segment in which the session slept: no gap, since there was nothing to sample."""
    error: str | None = None
    offset_ns: int | None = field(default=None, metadata={"later": True})
    """Time from the start of the session until the sampler was RUNNING."""
    sampled_ns: int | None = field(default=None, metadata={"later": True})
    """Time from RUNNING until the sampler was asked to stop; None if the process ended before that."""


@dataclass(frozen=True, slots=True)
class Lines:
    """How many lines of a session's journals were written, so that a reader can tell how many are lost."""

    regions: int = 0
    calls: int = 0
    resources: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """The head of a spool folder; replaced whole, by rename, at each change."""

    session: str
    state: SessionState
    created_ns: int
    process: ProcessInfo
    plan: SamplerPlan
    sampler_version: str | None = None
    segments: tuple[Segment, ...] = ()
    ended_ns: int | None = None
    error: str | None = None
    notes: tuple[str, ...] = ()
    truncated: bool = False
    lines: Lines | None = field(default=None, metadata={"later": True})
    """What was written when this was; later lines are possible. None: nobody counted."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A session that was deleted unread, since the spool was larger than its limit."""

    session: str
    at_ns: int
    size_bytes: int
    limit_bytes: int


@dataclass(frozen=True, slots=True)
class CallDelta:
    """What happened in a region since the tick before; a tick writes one per region that moved."""

    region: str
    at_ns: int
    durations: Histogram = NO_DURATIONS
    """One entry per finished outermost call; of async and generator runs first step to end."""
    skipped: int = 0
    raised: int = 0
    suspended_ns: int = 0
    traced_away: int = 0
    first_call_ns: int | None = None
    nested: int = field(default=0, metadata={"later": True})
    """Finished calls inside another call of the region on the same thread; the outer one has their time."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is left to say of a session whose folder cannot be written any more."""

    at_ns: int
    """When writing failed first."""
    state: SessionState
    error: str
    ended_ns: int | None = None
    truncated: bool = False
    segments: tuple[Segment, ...] = ()
    """The last ones, as many as fit."""
    lines: Lines | None = None
    calls: tuple[CallDelta, ...] = ()
    """What was counted and could not be written, as far as it fits."""


@dataclass(frozen=True, slots=True)
class ResourcePoint:
    """What the process used at one moment; `cpu_s` is user plus system time since its start."""

    at_ns: int
    cpu_s: float
    rss_bytes: int
    threads: int


@dataclass(frozen=True, slots=True)
class Unprofiled:
    """One process that was not profiled, as a line of the spool's journal."""

    at_ns: int
    """Unix time."""
    pid: int
    host: str
    reason: str
    """Why, as a clause: `PROFKIT_CHILDREN=0 is set`."""
    switch: str
    """What to do, as an instruction: `unset it to profile forked and spawned workers`."""
    label: str = ""
    """The region that was called; empty for a whole process."""
    partly: bool = field(default=False, metadata={"later": True})
    """Some of it was profiled and the rest was dropped."""


@dataclass(frozen=True, slots=True)
class UnprofiledGroup:
    """All processes with one reason."""

    reason: str
    switch: str
    partly: bool
    processes: int
    labels: tuple[str, ...]
    """The regions that were called, sorted."""
    first_ns: int
    last_ns: int


def grouped(entries: Iterable[Unprofiled]) -> tuple[UnprofiledGroup, ...]:
    """The entries by reason, newest reason first; a process counts once per reason."""
    groups: dict[tuple[str, str, bool], list[Unprofiled]] = {}
    for entry in entries:
        groups.setdefault((entry.reason, entry.switch, entry.partly), []).append(entry)
    found = [
        UnprofiledGroup(
            reason=reason,
            switch=switch,
            partly=partly,
            processes=len({(entry.host, entry.pid) for entry in group}),
            labels=tuple(sorted({entry.label for entry in group if entry.label})),
            first_ns=min(entry.at_ns for entry in group),
            last_ns=max(entry.at_ns for entry in group),
        )
        for (reason, switch, partly), group in groups.items()
    ]
    return tuple(sorted(found, key=lambda group: (-group.last_ns, group.reason)))
