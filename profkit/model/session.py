"""Contents of a session's spool folder: manifest, segments, calls and resources."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field

from profkit.model.histogram import NO_DURATIONS, Histogram
from profkit.model.notes import Note
from profkit.model.region import CALLS_ONLY, MEMRAY


class SessionState(enum.Enum):
    """State of a session or a run; the value is the word in files."""

    PREPARING = "PREPARING"
    RUNNING = "RUNNING"
    PROCESSING = "PROCESSING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    ENDED_EARLY = "ENDED_EARLY"
    """Only of runs: the process ended before its session did, as by os._exit or a signal."""

    @property
    def is_final(self) -> bool:
        """Whether nothing more is recorded."""
        return self in (SessionState.SUCCESS, SessionState.FAILED, SessionState.ENDED_EARLY)


@dataclass(frozen=True, slots=True)
class Member:
    """A process's place in a job of several processes, as its launcher or runtime says it."""

    job: str = ""
    """Name of the job; empty if the process belongs to none."""
    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None
    """Number of ranks of the job."""
    worker: str = ""
    """Name of the worker in a runtime without ranks, such as Dask or Ray."""


NO_MEMBER = Member()


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """The profiled process and its environment."""

    pid: int
    start_ticks: int
    """Field 22 of /proc/PID/stat: distinguishes processes that reuse a pid."""
    host: str
    cwd: str
    argv: tuple[str, ...]
    python: str
    torch: str | None
    profkit: str
    git_commit: str | None
    seal: str = ""
    """Proof that this user recorded it on this machine (`process.manifest`); empty if unknown."""
    launch: str = field(default="", metadata={"later": True})
    """Id of the `profkit run` that started the process; empty if none did."""
    recorder: tuple[int, ...] = field(default=(), metadata={"later": True})
    """Pid and start in ticks of the process that records this one; empty if it records itself."""
    member: Member = field(default=NO_MEMBER, metadata={"later": True})


_CONSISTENT = frozenset({"cpython", "inprocess", CALLS_ONLY, MEMRAY})
"""Samplers whose stacks are of one moment, although they do not stop the program."""


@dataclass(frozen=True, slots=True)
class SamplerPlan:
    """Settings of a sampler, after `auto` has been resolved."""

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
    """Cycles per sample, if the caller gave them instead of a rate."""
    notes: tuple[Note, ...] = ()
    """Notes on these settings."""
    gil: bool = field(default=False, metadata={"later": True})
    """True if only threads that hold the GIL are sampled; then `idle` is False."""
    async_stacks: bool = field(default=False, metadata={"later": True})
    """True if a stack has the asyncio tasks that await the running one."""
    window_s: float | None = field(default=None, metadata={"later": True})
    """Duration after which another session follows; None if a session may last."""

    @property
    def may_tear(self) -> bool:
        """Whether a stack can mix two moments, as the program runs while it is read."""
        return not self.blocking and self.sampler not in _CONSISTENT

    @classmethod
    def unknown(cls, sampler: str, *, scope: str, rate_hz: float = 0.0) -> SamplerPlan:
        """Return a plan of which only the sampler, its scope and perhaps its rate are known."""
        return cls(
            sampler,
            rate_hz,
            blocking=False,
            idle=True,
            native=False,
            subprocesses=False,
            scope=scope,
            max_duration_s=0.0,
        )


@dataclass(frozen=True, slots=True)
class Cover:
    """A region that was active during a whole segment, with its thread.

    It attributes samples to detached blocks and regions with `all_threads`; `tid` None means every thread.
    """

    region: str
    tid: int | None


SEGMENT_PREFIX = "segment-"
"""Beginning of the names of samplers' files."""


def segment_stem(index: int) -> str:
    """Return the beginning of the names of one segment's files."""
    return f"{SEGMENT_PREFIX}{index:03d}"


@dataclass(frozen=True, slots=True)
class Segment:
    """One sampler output of a session, from start to stop.

    Times are Unix times, for people. Durations are from the monotonic clock, which cannot be set.
    """

    index: int
    started_ns: int
    running_ns: int | None = None
    stopped_ns: int | None = None
    pid: int | None = None
    """The sampler's process; None if it keeps the samples elsewhere."""
    start_ticks: int | None = None
    remote_id: str | None = None
    """Id under which a remote sampler keeps the samples."""
    links: tuple[tuple[str, str], ...] = ()
    """(name, URL) of pages on which a remote sampler shows them."""
    covers: tuple[Cover, ...] = ()
    asleep_ns: int = 0
    """Time that the session slept before this segment: not a gap, since there was nothing to sample."""
    error: str | None = None
    offset_ns: int | None = None
    """Time from the start of the session until the sampler was RUNNING."""
    sampled_ns: int | None = None
    """Time from RUNNING until the sampler was asked to stop; None if the process ended first."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Numbers of lines written to a session's journals, from which a reader computes how many are lost."""

    regions: int = 0
    calls: int = 0
    resources: int = 0
    threads: int = field(default=0, metadata={"later": True})


@dataclass(frozen=True, slots=True)
class Manifest:
    """Main file of a spool folder; replaced as a whole, by rename, at each change."""

    session: str
    state: SessionState
    created_ns: int
    process: ProcessInfo
    plan: SamplerPlan
    sampler_version: str | None = None
    segments: tuple[Segment, ...] = ()
    ended_ns: int | None = None
    error: str | None = None
    notes: tuple[Note, ...] = ()
    truncated: bool = False
    lines: Lines | None = None
    """Lines written by then; more may follow. None if they were not counted."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A session that was deleted unread because the spool exceeded its limit."""

    session: str
    at_ns: int
    size_bytes: int
    limit_bytes: int


@dataclass(frozen=True, slots=True)
class AwaitTime:
    """Time for which runs of a region were suspended while one line awaited something."""

    file: str
    line: int
    function: str
    """Qualified name of the function that the line is in."""
    awaited: str
    """Qualified name of the awaited function, such as `sleep` or `Queue.get`; for a future, its type."""
    suspended_ns: int
    times: int


@dataclass(frozen=True, slots=True)
class CallDelta:
    """Changes of a region's counts since the previous tick; a tick writes one per region that changed."""

    region: str
    at_ns: int
    durations: Histogram = NO_DURATIONS
    """One entry per finished outermost call; for async and generator runs, from first step to end."""
    skipped: int = 0
    raised: int = 0
    suspended_ns: int = 0
    traced_away: int = 0
    first_call_ns: int | None = None
    nested: int = 0
    """Finished calls inside another call of the region on the same thread; the outer one includes their
    time."""
    awaits: tuple[AwaitTime, ...] = field(default=(), metadata={"later": True})
    """Parts of `suspended_ns` by line, longest first."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Final data of a session whose folder is no longer writable."""

    at_ns: int
    """Unix time at which writing first failed."""
    state: SessionState
    error: str
    ended_ns: int | None = None
    truncated: bool = False
    segments: tuple[Segment, ...] = ()
    """The last segments, as many as fit."""
    lines: Lines | None = None
    calls: tuple[CallDelta, ...] = ()
    """Counts that could not be written, as far as they fit."""

    @classmethod
    def of(cls, manifest: Manifest, error: str, at_ns: int, calls: tuple[CallDelta, ...]) -> Ending:
        """Return the ending of a session that failed now."""
        return cls(
            at_ns=at_ns,
            state=SessionState.FAILED,
            error=manifest.error or error,
            ended_ns=manifest.ended_ns,
            truncated=manifest.truncated,
            segments=manifest.segments,
            lines=manifest.lines,
            calls=calls,
        )


@dataclass(frozen=True, slots=True)
class Capture:
    """One call whose memory is tracked: a line of the journal when it begins, and one when it ends."""

    index: int
    """Number in the name of its file, from 0."""
    region: str
    started_ns: int
    """Unix time."""
    tid: int
    """Thread of the call."""
    thread: str
    """Its name."""
    ended: bool = False


@dataclass(frozen=True, slots=True)
class ChildUsage:
    """CPU time of child processes and their descendants since the session began, without profkit's own."""

    cpu_s: float
    unrecorded_s: float
    """Part of those that were not recorded themselves, as far as it is known."""
    processes: int
    """Number of processes that used most of this part; 0 if it is not known, as if each was short."""


@dataclass(frozen=True, slots=True)
class ResourcePoint:
    """Resource use of the process at one time; `cpu_s` is user plus system time since its start."""

    at_ns: int
    cpu_s: float
    rss_bytes: int
    threads: int
    children: ChildUsage | None = field(default=None, metadata={"later": True})
    """None if child processes have used nothing, or in runs of earlier versions."""


@dataclass(frozen=True, slots=True)
class ThreadName:
    """Name of a thread of the process, as Python has it."""

    tid: int
    seen: str
    """What the sampler may have instead: the kernel's 15 bytes, or nothing. A `tid` may be used again."""
    name: str


@dataclass(frozen=True, slots=True)
class CellName:
    """Name of a notebook cell, whose code has a file name that no reader knows."""

    file: str
    name: str


class UnprofiledReason(enum.Enum):
    """Reason why a process was not profiled; the value is the word in files and JSON."""

    CHILDREN_OFF = "children-off"
    """`PROFKIT_CHILDREN=0` is set, and the process was forked or spawned."""


@dataclass(frozen=True, slots=True)
class Unprofiled:
    """One process that was not profiled: a line of the spool's journal."""

    at_ns: int
    """Unix time."""
    pid: int
    host: str
    reason: UnprofiledReason
    label: str
    """The called region."""


@dataclass(frozen=True, slots=True)
class UnprofiledGroup:
    """All unprofiled processes with one reason."""

    reason: UnprofiledReason
    processes: int
    labels: tuple[str, ...]
    """The called regions, sorted."""
    first_ns: int
    last_ns: int


def grouped(entries: Iterable[Unprofiled]) -> tuple[UnprofiledGroup, ...]:
    """Group entries by reason, newest reason first; a process counts once per reason."""
    groups: dict[UnprofiledReason, list[Unprofiled]] = {}
    for entry in entries:
        groups.setdefault(entry.reason, []).append(entry)
    found = [
        UnprofiledGroup(
            reason=reason,
            processes=len({(entry.host, entry.pid) for entry in group}),
            labels=tuple(sorted({entry.label for entry in group})),
            first_ns=min(entry.at_ns for entry in group),
            last_ns=max(entry.at_ns for entry in group),
        )
        for reason, group in groups.items()
    ]
    return tuple(sorted(found, key=lambda group: (-group.last_ns, group.reason.value)))
