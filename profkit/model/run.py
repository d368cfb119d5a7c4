"""A run: what the store keeps about one region of one session."""

from __future__ import annotations

from dataclasses import dataclass, field

from profkit.model.histogram import NO_DURATIONS, Histogram
from profkit.model.notebook import ShownInNotebooks
from profkit.model.profile import Profile
from profkit.model.region import Region
from profkit.model.session import ProcessInfo, ResourcePoint, SamplerPlan, SessionState
from profkit.units import Unit, format_duration, short_repr


@dataclass(frozen=True, slots=True)
class Imported:
    """Where a run comes from that another tool took, or profkit elsewhere."""

    format: str
    """The name of the file's format in `formats.registry`."""
    tool: str
    """The program that took the profile, with its version where the file has it; empty if unknown."""
    file: str
    """As it was given; empty for what came through a pipe."""
    unit: Unit
    total: int
    """All weights together, in that unit."""


@dataclass(frozen=True, slots=True, repr=False)
class RunInfo:
    """Everything about a run but its samples; what lists are made of."""

    id: str
    session: str
    region: Region
    state: SessionState
    """RUNNING: still being recorded. SUCCESS, or FAILED with `error`."""
    started_ns: int
    """Unix time of the region's first call."""
    process: ProcessInfo
    plan: SamplerPlan
    sampler_version: str | None = None
    durations: Histogram = NO_DURATIONS
    """One entry per finished outermost call; `durations.sum_ns` is the wall time."""
    suspended_ns: int = 0
    """Of the wall time, what async and generator runs spent waiting for their next step."""
    skipped: int = 0
    raised: int = 0
    traced_away: int = 0
    """Times that a compiler traced through the wrapper: calls of that code are not seen."""
    achieved_hz: float | None = None
    """Sampling rounds per second of the whole session; None where they cannot be counted."""
    session_s: float = 0.0
    """Time that the session's segments covered."""
    gap_s: float = 0.0
    """Time between segments while the session was on: nobody sampled."""
    samples: int = 0
    """Those that the profile holds; 0 of an imported one whose weights count something else."""
    torn: int = 0
    errors: int = 0
    links: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    error: str | None = None
    truncated: bool = False
    imported: Imported | None = None
    """None for what profkit recorded here; else there were no calls and no session that it knows of."""
    nested: int = field(default=0, metadata={"later": True})
    """Finished calls inside another call of the region on the same thread: recursion. Their time is part of
    the outermost call's, which alone is in `durations`."""
    last_ns: int = field(default=0, metadata={"later": True})
    """Unix time of the last news about its calls; 0 if it is not known."""

    @property
    def label(self) -> str:
        """The region's label."""
        return self.region.key.label

    @property
    def calls(self) -> int:
        """Finished calls that were profiled, nested ones included."""
        return self.durations.count + self.nested

    @property
    def outermost_calls(self) -> int:
        """Finished calls that are not nested: what the time per call is divided by."""
        return self.durations.count

    @property
    def wall_s(self) -> float:
        """Sum of the calls' durations; calls at the same time each count."""
        return self.durations.sum_ns / 1e9

    @property
    def active_s(self) -> float:
        """Wall time without what async and generator runs spent suspended."""
        return (self.durations.sum_ns - self.suspended_ns) / 1e9

    @property
    def suspended_s(self) -> float:
        """See `suspended_ns`."""
        return self.suspended_ns / 1e9

    def __repr__(self) -> str:
        return f"<RunInfo {_identity(self)}>"


@dataclass(frozen=True, slots=True)
class ProcessPart:
    """One process of a merged run, with all of its sessions."""

    process: ProcessInfo
    started_ns: int
    """Unix time of its first call."""
    runs: int
    calls: int
    samples: int
    weight: int
    """Of its samples in the merged profile."""
    cpu_share: float | None
    """CPU use while it was watched, 1.0 is one core; None if it was watched too briefly."""
    peak_rss_bytes: int
    """0 if it was not watched."""


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
    """By process: whether its share differs significantly from that of all others together."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The runs that a merged run is made of."""

    infos: tuple[RunInfo, ...]
    """Newest first."""
    processes: tuple[ProcessPart, ...]
    """Heaviest first."""
    functions: tuple[FunctionPart, ...] = ()
    """Heaviest first."""


@dataclass(frozen=True, slots=True, repr=False)
class Run(ShownInNotebooks):
    """A run with its samples and resources: the data behind every report."""

    info: RunInfo
    profile: Profile | None = None
    """None where a remote sampler keeps the samples, or where there are none to keep."""
    resources: tuple[ResourcePoint, ...] = ()
    merged: Merged | None = None
    """Set if this is several runs as one."""

    def __repr__(self) -> str:
        return f"<Run {_identity(self.info)}>"


def _identity(info: RunInfo) -> str:
    """Return the run in a few words, on one line."""
    return (
        f"{info.id} of {short_repr(info.label)}, {info.state.value}, {info.calls} calls in "
        f"{format_duration(info.wall_s)}, {info.samples} samples"
    )
