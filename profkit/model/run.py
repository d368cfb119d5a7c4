"""Sampled runs: what the store keeps about one region of one session."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Protocol

from profkit.model.histogram import NO_DURATIONS, Histogram
from profkit.model.notes import Note, is_warning
from profkit.model.profile import Profile
from profkit.model.ranks import RankTimes
from profkit.model.region import Region
from profkit.model.session import AwaitTime, ProcessInfo, ResourcePoint, SamplerPlan, SessionState
from profkit.model.trace import Trace
from profkit.units import Unit, format_bytes, format_duration, short_repr

_RENDERER = "profkit.render.notebook"
"""Imported by name on display, since the model must not import its renderer, a higher package."""


class Printer(Protocol):
    """The used part of IPython's pretty printer."""

    def text(self, text: str) -> None:
        """Print text that has no line breaks."""


class ShownInNotebooks:
    """Base of runs, measurements and comparisons, with the methods that Jupyter, VS Code and others call."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Return a frame with the report's page, small enough for a notebook file."""
        shown: str | None = importlib.import_module(_RENDERER).notebook_html(self)
        return shown

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        """Print one line: IPython keeps the text with the page, and all samples would take megabytes."""
        printer.text(importlib.import_module(_RENDERER).notebook_text(self))


ID_DIGITS, EARLIER_ID_DIGITS = 20, 10
"""Number of hexadecimal digits of a run's id, and of one from an earlier version.

Among 10⁹ runs, two have the same 20 with a chance below 10⁻⁶.
"""


def derived_id(content: bytes) -> str:
    """Return the id of the run that this content identifies; it begins with its id in earlier versions."""
    halves = (blake2b(content, digest_size=5, person=person).hexdigest() for person in (b"", b"more"))
    return "".join(halves)


_MUCH_TORN = 0.02
"""Share of torn samples above which the callers in the others may be wrong."""


@dataclass(frozen=True, slots=True)
class Imported:
    """Origin of a run recorded by another tool or by profkit elsewhere."""

    format: str
    """Name of the file's format in `formats.registry`."""
    tool: str
    """Program that recorded the profile, with its version if the file has it; empty if unknown."""
    file: str
    """Path as given; empty for a pipe."""
    unit: Unit
    total: int
    """Sum of all weights, in that unit."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory that was allocated in the tracked calls of a run, by any thread of the process."""

    peaks_bytes: tuple[int, ...]
    """Peak of each call, in the order of the calls."""
    allocated_bytes: int
    """Bytes of all allocations in all calls."""
    allocations: int
    left_bytes: int
    """Bytes that were allocated in a call and still alive at its end, in all calls."""
    python_allocators: bool = False
    """Whether objects in Python's own arenas were tracked; if not, an arena counts when it is allocated."""

    @property
    def peak_bytes(self) -> int:
        """The largest peak of a call; 0 if no call is known."""
        return max(self.peaks_bytes, default=0)


@dataclass(frozen=True, slots=True, repr=False)
class RunInfo:
    """Everything about a run except its samples; used for lists."""

    id: str
    session: str
    region: Region
    state: SessionState
    """RUNNING: still being recorded. SUCCESS, ENDED_EARLY, or FAILED with `error`."""
    started_ns: int
    """Unix time of the region's first call."""
    process: ProcessInfo
    plan: SamplerPlan
    sampler_version: str | None = None
    durations: Histogram = NO_DURATIONS
    """One entry per finished outermost call; `durations.sum_ns` is the wall time."""
    suspended_ns: int = 0
    """Part of the wall time in which async and generator runs waited for their next step."""
    skipped: int = 0
    raised: int = 0
    traced_away: int = 0
    """Number of times a compiler traced through the wrapper: calls of that code are not seen."""
    achieved_hz: float | None = None
    """Sampling rounds per second of the whole session; None if they cannot be counted."""
    session_s: float = 0.0
    """Time that the session's segments covered."""
    gap_s: float = 0.0
    """Time without sampling while the session was on: between segments, or when nothing could be read."""
    samples: int = 0
    """Number of samples in the profile; 0 for an imported one whose weights have another unit."""
    torn: int = 0
    errors: int = 0
    links: tuple[tuple[str, str], ...] = ()
    notes: tuple[Note, ...] = ()
    error: str | None = None
    truncated: bool = False
    imported: Imported | None = None
    """None if profkit recorded the run here; otherwise calls and session are unknown."""
    nested: int = 0
    """Finished calls inside another call of the region on the same thread (recursion). Their time is part of
    the outermost call's; only that one is in `durations`."""
    last_ns: int = 0
    """Unix time of the last update about its calls; 0 if unknown."""
    memory: Memory | None = field(default=None, metadata={"later": True})
    """Set if memory was tracked in place of taking samples; the profile is then that of the largest peak."""
    awaits: tuple[AwaitTime, ...] = field(default=(), metadata={"later": True})
    """Parts of `suspended_ns` by line, longest first; short ones may be missing."""

    @property
    def label(self) -> str:
        """The region's label."""
        return self.region.key.label

    @property
    def series(self) -> str:
        """What the windows of one region of one process have in common; empty if this is no window."""
        if self.plan.window_s is None:
            return ""
        process = self.process
        return f"{process.pid} {process.start_ticks} {self.region.version} {process.host} {self.label}"

    @property
    def torn_share(self) -> float:
        """Part of the region's samples that were discarded as torn."""
        return self.torn / max(1, self.samples + self.torn)

    @property
    def is_much_torn(self) -> bool:
        """Whether so many samples were torn that callers may be wrong."""
        return self.torn_share > _MUCH_TORN

    @property
    def warnings(self) -> tuple[Note, ...]:
        """The notes on losses and on biased samples; a run with some is listed with warnings."""
        return tuple(filter(is_warning, dict.fromkeys((*self.notes, *self.plan.notes))))

    @property
    def calls(self) -> int:
        """Finished calls that were profiled, nested ones included."""
        return self.durations.count + self.nested

    @property
    def outermost_calls(self) -> int:
        """Finished calls that are not nested: the divisor of the time per call."""
        return self.durations.count

    @property
    def wall_s(self) -> float:
        """Sum of the calls' durations; simultaneous calls each count."""
        return self.durations.sum_ns / 1e9

    @property
    def active_s(self) -> float:
        """Wall time without the time in which async and generator runs were suspended."""
        return (self.durations.sum_ns - self.suspended_ns) / 1e9

    @property
    def suspended_s(self) -> float:
        """See `suspended_ns`."""
        return self.suspended_ns / 1e9

    def __repr__(self) -> str:
        return f"<RunInfo {_identity(self)}>"


@dataclass(frozen=True, slots=True)
class ProcessPart:
    """One process of a merged run, with all its sessions."""

    process: ProcessInfo
    started_ns: int
    """Unix time of its first call."""
    runs: int
    calls: int
    samples: int
    weight: int
    """Weight of its samples in the merged profile."""
    cpu_share: float | None
    """CPU use while it was monitored, 1.0 is one core; None if that was too brief."""
    peak_rss_bytes: int
    """0 if it was not monitored."""
    working: int | None = None
    """Part of the weight in which threads worked; None if their states are not known."""
    children: tuple[int, ...] = ()
    """Pids of its child processes that have samples."""


@dataclass(frozen=True, slots=True)
class FunctionPart:
    """A function whose share differs between the processes of a merged run.

    Weights are those of the function itself and the library calls it makes.
    """

    name: str
    file: str
    line: int
    weight: int
    weights: tuple[int, ...]
    """By process, in the order of `Merged.processes`."""
    differs: tuple[bool, ...]
    """By process: whether its share differs significantly from that of all others combined."""


@dataclass(frozen=True, slots=True)
class Merged:
    """Runs that a merged run consists of."""

    infos: tuple[RunInfo, ...]
    """Newest first."""
    processes: tuple[ProcessPart, ...]
    """Those first that worked most, as far as it is known; ranks that waited least for others."""
    functions: tuple[FunctionPart, ...] = ()
    """Heaviest first."""
    ranks: RankTimes | None = None
    """Set if all processes are ranks of one job that wait for one another."""


@dataclass(frozen=True, slots=True, repr=False)
class WindowsInfo(RunInfo):
    """The windows of one region of one process, as one run: the newest one's id, and sums."""

    windows: int = 1

    @classmethod
    def of(cls, infos: Sequence[RunInfo]) -> WindowsInfo:
        """Return the sums of windows, newest first, of which one may be several."""
        return cls.summed(
            infos[0],
            windows=sum(info.windows if isinstance(info, WindowsInfo) else 1 for info in infos),
            started_ns=min(info.started_ns for info in infos),
            calls=sum(info.calls for info in infos),
            wall_ns=sum(info.durations.sum_ns for info in infos),
            samples=sum(info.samples for info in infos),
        )

    @classmethod
    def summed(
        cls, newest: RunInfo, windows: int, started_ns: int, calls: int, wall_ns: int, samples: int
    ) -> WindowsInfo:
        """Return windows with these sums, and all else as the newest one has it."""
        own = {one.name: getattr(newest, one.name) for one in fields(RunInfo)}
        sums = Histogram(count=calls, sum_ns=wall_ns)  # nested calls are among them
        changed = {"started_ns": started_ns, "durations": sums, "nested": 0, "samples": samples}
        return cls(**(own | changed), windows=windows)


@dataclass(frozen=True, slots=True, repr=False)
class Run(ShownInNotebooks):
    """A run with its samples and resources: the data of every report."""

    info: RunInfo
    profile: Profile | None = None
    """None if a remote sampler keeps the samples, or if there are none."""
    resources: tuple[ResourcePoint, ...] = ()
    merged: Merged | None = None
    """Set if this run combines several."""
    trace: Trace | None = None
    """What torch.profiler recorded, with mode="trace"."""
    trace_file: bytes | None = field(default=None, repr=False)
    """Its file about the last traced call, gzipped; only loaded for exports."""

    def __repr__(self) -> str:
        return f"<Run {_identity(self.info)}>"


def _identity(info: RunInfo) -> str:
    seen = (
        f"{info.samples} samples" if info.memory is None else f"peak {format_bytes(info.memory.peak_bytes)}"
    )
    return (
        f"{info.id} of {short_repr(info.label)}, {info.state.value}, {info.calls} calls in "
        f"{format_duration(info.wall_s)}, {seen}"
    )
