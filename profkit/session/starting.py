"""Start a sampler on this process, with a second try after a temporary failure."""

from __future__ import annotations

import posix
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import SamplerFailed
from profkit.model.notes import Note, NoteCode
from profkit.model.session import SamplerPlan, SessionState
from profkit.process.guard import reraise_signal_error
from profkit.process.procfs import count_samplers, processor_wait_s
from profkit.process.sockets import SocketWatch
from profkit.samplers.base import Attachment, LiveStacks, Sampler, await_state
from profkit.session.activity import live_stacks


def import_what_results_need() -> None:
    """Import the modules that results, the ticker and failures need; called while a sampler starts."""
    import psutil  # noqa: F401 - the ticker needs it

    from profkit.ingest import read  # noqa: F401
    from profkit.samplers import ptrace  # noqa: F401 - a program that changes its user may not read it later


@dataclass(frozen=True, slots=True)
class Start:
    """Arguments for the start of a sampler, with its timeout."""

    pid: int
    """Process to sample: this one, or another."""
    sampler: Sampler
    plan: SamplerPlan
    folder: Path
    index: int
    timeout_s: float
    clock: Clock
    meanwhile: Callable[[], object] = import_what_results_need
    """Called while the sampler starts."""


def start_sampler(start: Start) -> tuple[Attachment, Note | None]:
    """Start a sampler and wait until it is RUNNING; add a note if that took two tries.

    Raises SamplerError if it cannot be started; nothing stays attached then.
    """
    try:
        return _try(start), None
    except SamplerFailed as failure:
        reraise_signal_error(failure)
        if not failure.passing:
            raise
        first = failure
    try:
        attachment = _try(start)
    except SamplerFailed as second:
        reraise_signal_error(second)
        detail = f"{second.detail} (the second of two tries; the first: {first.detail})"
        raise SamplerFailed(second.sampler, second.stage, detail, second.fix) from second
    return attachment, Note.of(
        NoteCode.STARTED_TWICE, sampler=first.sampler, segment=start.index, detail=first.detail
    )


def _try(start: Start) -> Attachment:
    attachment = start.sampler.attach(start.pid, start.plan, start.folder, start.index, start.clock)
    try:
        start.meanwhile()
        await_state(
            attachment, SessionState.RUNNING, start.timeout_s, start.clock,
            "timeout_wait_for_running_sec", start.sampler.name,
        )  # fmt: skip
    except BaseException:
        attachment.kill()
        raise
    return attachment


def live_facts(sockets: SocketWatch, other: tuple[int, int, int] | None = None) -> LiveStacks:
    """Return the figures that determine how this process, or another, can be sampled now.

    `other` has the pid of the other one, and its numbers of threads and frames.
    """
    pid, threads, frames = (posix.getpid(), *live_stacks()) if other is None else other
    return LiveStacks(
        threads=threads,
        frames=frames,
        processors=posix.cpu_count() or 1,
        other_samplers=count_samplers(),
        processor_wait_s=processor_wait_s(pid),
        timed_sockets=sockets.timed(),
    )


def now_live(before: LiveStacks, *, timed_sockets: bool) -> LiveStacks:
    """Return the figures of this process that may have changed since a session's start."""
    threads, frames = live_stacks()
    return replace(
        before,
        threads=threads,
        frames=frames,
        processor_wait_s=processor_wait_s(posix.getpid()),
        timed_sockets=timed_sockets,
    )


def socket_message(*, blocking: bool) -> str:
    """Return the log message about the program's sockets with a timeout.

    `blocking` is whether sampling still stops the program, although that restarts the timeouts.
    """
    sockets = "sockets with a timeout (SO_RCVTIMEO or SO_SNDTIMEO), which starts again after each stop"
    if blocking:
        return f"the program has {sockets} for a sample and might never expire; leave out native=True"
    return (
        f"the program is sampled without stopping it, despite blocking=True: it has {sockets} and might "
        "never expire; callers of short functions may be wrong"
    )
