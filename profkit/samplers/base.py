"""What a sampler is to the rest of profkit: options in, an attachment out, a recording at the end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from profkit.samplers.options import SamplerOptions

if TYPE_CHECKING:
    from profkit.clock import Clock
    from profkit.model.profile import Profile
    from profkit.model.session import SamplerPlan, Segment, SessionState


@dataclass(frozen=True, slots=True)
class LiveStacks:
    """How much a sampler would have to read in each round: the budget's input."""

    threads: int
    frames: int
    crowding: float = 1.0
    """Processes of the machine that want to run, per processor; 1 if there are enough processors."""
    processors: int = 1
    other_samplers: int = 0
    """Samplers that run on this host already."""
    other_rates_hz: float = 0.0
    """Their rates together."""
    timed_sockets: bool = False
    """Whether the program has sockets with SO_RCVTIMEO or SO_SNDTIMEO, which stopping it starts again."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What one segment left: whole stacks, before any region is cut out of them.

    `rounds` is the number of sampling rounds, None where the output does not tell; `errors` counts
    samples that the sampler lost and says so.
    """

    profile: Profile
    rounds: int | None
    errors: int = 0
    notes: tuple[str, ...] = ()


class SegmentFiles(Protocol):
    """The files of a session's folder, opened so that links are not followed."""

    path: Path
    """The folder, for messages."""

    def read(self, name: str, most_bytes: int) -> bytes:
        """Return the content of a file; raises DamagedFile if it is missing, larger, or cannot be read."""
        ...


class Attachment(Protocol):
    """A sampler that is attached to a process, from its start to its end."""

    def segment(self) -> Segment:
        """The segment as it stands: pid, remote id, links; index and times are the caller's."""
        ...

    def poll(self) -> SessionState:
        """One look, without waiting; raises `SamplerError` where the sampler failed."""
        ...

    def poll_interval_s(self, attempt: int) -> float:
        """How long to wait before poll number `attempt` (0, 1, …) is worth it."""
        ...

    def request_stop(self) -> None:
        """Ask the sampler to finish and write; harmless when it has ended already."""
        ...

    def stop_timeout_s(self) -> float:
        """How long this sampler may take to finish once asked, where the user set no limit."""
        ...

    def resident_bytes(self) -> int:
        """Memory that the sampler holds, 0 where it runs elsewhere."""
        ...

    def warning(self) -> str | None:
        """What somebody did to the sampler though its samples are whole; None for nothing."""
        ...

    def kill(self) -> None:
        """End the sampler at once and leave no process behind; harmless when it has ended."""
        ...


class Sampler(Protocol):
    """A source of samples; one object a kind, without state."""

    name: str

    def find(self) -> str:
        """The path of the sampler's program; raises `SamplerMissing`."""
        ...

    def version(self) -> str | None:
        """The program's version, None where it has none; must not start a process."""
        ...

    def check(self, options: SamplerOptions) -> None:
        """Raise `InvalidOption` for anything that this sampler cannot honour."""
        ...

    def plan(self, options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
        """Resolve `auto` and defaults; pure but for the processor's frequency."""
        ...

    def attach(self, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock) -> Attachment:
        """Start on process `pid`; files of the segment go into `folder` and bear `index`.

        Returns as soon as the sampler is started: it is RUNNING only when `poll` says so. Raises
        `SamplerError` where it cannot be started; nothing is left running then.
        """
        ...

    def read(self, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> Recording | None:
        """Return what a segment left in its folder, None if this sampler keeps the samples elsewhere.

        Raises `DamagedFile` if the output is missing or cannot be read.
        """
        ...


LARGEST_OUTPUT_BYTES = 2**30
"""Size of the largest output that is read."""
LARGEST_LOG_BYTES = 16 * 2**20


def output_name(index: int) -> str:
    """Return the name of the file with the samples of a segment."""
    return f"segment-{index:03d}.speedscope.json"


def log_name(index: int) -> str:
    """Return the name of the sampler's log of a segment."""
    return f"segment-{index:03d}.log"


def output_path(folder: Path, index: int) -> Path:
    """The samples of a segment."""
    return folder.absolute() / output_name(index)


def log_path(folder: Path, index: int) -> Path:
    """The sampler's own words about a segment."""
    return folder.absolute() / log_name(index)
