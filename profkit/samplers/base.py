"""Interface of samplers: plan, attachment and recording; the default rate, by which they share a host.

It holds if the user sets none: all samplers of a host together take a part of its processors.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from profkit.errors import SamplerTimeout
from profkit.model.notes import Note, NoteCode
from profkit.model.region import CALLS_ONLY
from profkit.model.session import SEGMENT_PREFIX, SamplerPlan, SessionState, segment_stem
from profkit.samplers.options import SamplerOptions

if TYPE_CHECKING:
    from profkit.clock import Clock
    from profkit.model.profile import Profile
    from profkit.model.session import Segment


READ, PTRACE = "read", "ptrace"
"""What a system may deny to samplers: reading the memory of a process, and stopping it with ptrace."""
HOST_CPU = 0.10
"""Maximum share of the host's processors for all of its samplers if there are several."""
SLOWEST_HZ = 10


@dataclass(frozen=True, slots=True)
class LiveStacks:
    """Stacks that a sampler reads per round, and the host's other samplers: the input of its budget."""

    threads: int
    frames: int
    processors: float = 1
    """Processors of the host; in a control group with a quota, such as a container, those of the quota."""
    other_samplers: int = 0
    """Number of samplers that already run on this host."""
    processor_wait_s: float = 0.0
    """How long the program waits for a processor each time, as after a stop."""
    timed_sockets: bool = False
    """True if the program has sockets with SO_RCVTIMEO or SO_SNDTIMEO; each stop restarts the timeout."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Content of one segment: full stacks, before attribution to regions.

    `rounds` is the number of sampling rounds, None if the output does not contain it. `errors` counts the
    samples that the sampler reports as lost.
    """

    profile: Profile
    rounds: int | None
    errors: int = 0
    notes: tuple[Note, ...] = ()
    unseen_ns: int = 0
    """Time in which the process could not be read at all, or was stopped."""
    complete: bool = True
    """False if the output has no end: its sampler was killed, or the file was cut."""


class SegmentFiles(Protocol):
    """Files of a session's folder, opened without following links."""

    path: Path
    """Path of the folder, for messages."""

    def read(self, name: str, most_bytes: int) -> bytes:
        """Return the content of a file; raises DamagedFile if it is missing, too large or unreadable."""


class Pauses(NamedTuple):
    """Pauses after attempts: each is longer than the one before, up to the longest."""

    first_s: float
    growth: float
    longest_s: float

    def after_s(self, attempt: int) -> float:
        """Return the pause after attempt number `attempt` (0, 1, …)."""
        # After 500 attempts any growth has reached the maximum, and a larger power would overflow.
        return float(min(self.longest_s, self.first_s * self.growth ** min(attempt, 500)))


class Attachment(Protocol):
    """Sampler that is attached to a process, from its start to its end."""

    def segment(self) -> Segment:
        """Return the segment's current pid, remote id and links; the caller sets index and times."""

    def poll(self) -> SessionState:
        """Return the current state without waiting; raises `SamplerError` if the sampler failed."""

    pauses: Pauses
    """Pauses between polls."""

    def request_stop(self) -> None:
        """Ask the sampler to finish and write its output; does nothing if it has already ended."""

    def stop_timeout_s(self) -> float:
        """Return the default time limit for this sampler to finish after `request_stop`."""

    def resident_bytes(self) -> int:
        """Return the sampler's resident memory, 0 if it runs elsewhere."""
        return 0

    def warning(self) -> str | None:
        """Return why the sampler was interrupted although its samples are complete, or None."""
        return None

    def kill(self) -> None:
        """End the sampler at once and leave no process behind; does nothing if it has ended."""


class Sampler(Protocol):
    """Source of samples; one stateless object per kind."""

    name: str

    def find(self) -> str:
        """Return the path of the sampler's program; raises `SamplerMissing`."""

    def version(self) -> str | None:
        """Return the program's version, None if unknown; must not start a process."""

    def check(self, options: SamplerOptions) -> None:
        """Raise `InvalidOption` for an option that this sampler does not support."""

    def plan(self, options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
        """Resolve `auto` and defaults; pure except for reading the processor's frequency."""

    def attach(self, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock) -> Attachment:
        """Start sampling process `pid`; the segment's files go into `folder`, with `index` in their names.

        Returns when the sampler is started; it is RUNNING only when `poll` returns that. Raises
        `SamplerError` if it cannot be started, and leaves nothing running.
        """

    def read(self, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> Recording | None:
        """Return the recording of a segment, None if this sampler keeps the samples elsewhere.

        Raises `DamagedFile` if the output is missing or cannot be read.
        """


def plain_plan(sampler: str, options: SamplerOptions, rate_hz: float) -> SamplerPlan:
    """Return the plan of a sampler that does not stop the program and reads Python's stacks only."""
    return SamplerPlan(
        sampler=sampler,
        rate_hz=rate_hz,
        blocking=False,
        idle=options.idle,
        native=False,
        subprocesses=False,
        scope=options.scope,
        max_duration_s=options.max_duration_s,
        tags=options.tags,
        sample_each=options.sample_each,
    )


def default_rate(
    usual_hz: int, affordable_hz: int, live: LiveStacks, round_cpu_s: float
) -> tuple[int, tuple[Note, ...]]:
    """Return the rate if the user set none, with a note if it is below the usual one.

    What a round costs is known from measurements; how busy the machine is says nothing about it. The samplers
    of one host share a part of its processors in equal parts. `affordable_hz` is the maximum for the sake of
    the program, and `round_cpu_s` the processor time of a round.
    """
    rate_hz, others = min(usual_hz, affordable_hz), live.other_samplers
    part_hz = max(SLOWEST_HZ, int(HOST_CPU * live.processors / round_cpu_s / (others + 1)))
    if others and part_hz < rate_hz:
        return part_hz, (Note.of(NoteCode.SHARED_HOST, rate_hz=part_hz, samplers=others, share=HOST_CPU),)
    if rate_hz == usual_hz:
        return rate_hz, ()
    why = Note.of(
        NoteCode.LONG_ROUNDS, rate_hz=rate_hz, usual_hz=usual_hz, frames=live.frames, threads=live.threads
    )
    return rate_hz, (why,)


LARGEST_OUTPUT_BYTES = 2**30
"""Maximum size of an output that is read."""
LARGEST_LOG_BYTES = 16 * 2**20


FROM_INSIDE = frozenset({"inprocess", CALLS_ONLY})
"""Samplers for which no other process reads the sampled one."""

_OUTPUTS = {"pyspy": ".speedscope.json", "cpython": ".stacks", "inprocess": ".inprocess.stacks"}
"""Ends of the names of output files, by sampler; one that keeps its samples elsewhere has none."""


def output_of(name: str) -> tuple[int, str] | None:
    """Return the number of the segment whose output file has this name, and its sampler; None for others."""
    for sampler, end in _OUTPUTS.items():
        number = name.removeprefix(SEGMENT_PREFIX).removesuffix(end)
        index = int(number) if number.isascii() and number.isdecimal() and len(number) < 10 else None
        if index is not None and name == output_name(index, sampler):
            return index, sampler
    return None


def output_name(index: int, sampler: str) -> str:
    """Return the name of a segment's output file, which has the samples."""
    return f"{segment_stem(index)}{_OUTPUTS[sampler]}"


def log_name(index: int) -> str:
    """Return the name of a segment's sampler log."""
    return f"{segment_stem(index)}.log"


def rounds_name(index: int) -> str:
    """Return the name of a segment's journal of rounds, which has the states of threads."""
    return f"{segment_stem(index)}.rounds"


def output_path(folder: Path, index: int, sampler: str) -> Path:
    """Return the path of a segment's output file."""
    return folder.absolute() / output_name(index, sampler)


def rounds_path(folder: Path, index: int) -> Path:
    """Return the path of a segment's journal of rounds."""
    return folder.absolute() / rounds_name(index)


def log_path(folder: Path, index: int) -> Path:
    """Return the path of a segment's sampler log."""
    return folder.absolute() / log_name(index)


_ORDER = (
    SessionState.PREPARING,
    SessionState.RUNNING,
    SessionState.PROCESSING,
    SessionState.SUCCESS,
    SessionState.FAILED,
)


def await_state(
    attachment: Attachment,
    target: SessionState,
    timeout_s: float,
    clock: Clock,
    option: str,
    sampler: str = "the sampler",
) -> SessionState:
    """Poll until the sampler is in the wanted state or past it, and return the state.

    Polls at least once, and once more at the deadline. Raises `SamplerTimeout`, whose message names `option`
    as the limit to raise, and any `SamplerError` of a poll.
    """
    deadline_s = clock.monotonic_s() + timeout_s
    attempt = 0
    while True:
        state = attachment.poll()
        if _ORDER.index(state) >= _ORDER.index(target):
            return state
        left_s = deadline_s - clock.monotonic_s()
        if left_s <= 0:
            raise SamplerTimeout(sampler, target.value, timeout_s, option)
        clock.sleep(min(attachment.pauses.after_s(attempt), left_s))
        attempt += 1


def kill_stopped(attachment: Attachment) -> None:
    """Kill the rest of a sampler that was asked to stop, even if a signal handler interrupts this call."""
    try:
        attachment.kill()
    except BaseException:
        attachment.kill()
        raise
