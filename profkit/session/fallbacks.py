"""Samplers that a session tries, best first; how long one that failed is left out; facts for their rate.

If a sampler cannot be started in two tries, the next one is taken, with a warning.

The last one takes no samples: calls and wall times are recorded even if every sampler fails. A strict policy
has no such last one; the failure is raised.
"""

from __future__ import annotations

import posix
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from profkit.clock import Clock
from profkit.errors import AttachDenied, SamplerError, SamplerFailed, SamplerTimeout
from profkit.model.notes import Note, NoteCode
from profkit.model.region import CALLS_ONLY
from profkit.model.session import SamplerPlan, SessionState
from profkit.process.guard import reraise_signal_error
from profkit.process.procfs import count_samplers, processor_wait_s, usable_processors
from profkit.process.sockets import SocketWatch
from profkit.samplers.base import Attachment, LiveStacks, Sampler, await_state
from profkit.samplers.calls_only import CallsOnlySampler
from profkit.samplers.options import SamplerOptions
from profkit.samplers.process_attachment import folder_problem
from profkit.samplers.registry import AUTO, Fallback
from profkit.session.activity import live_stacks
from profkit.session.failures import RETRY_AFTER_S

ListFallbacks = Callable[[SamplerOptions], Sequence[Fallback]]
"""Function that returns the samplers to try, best first; raises UsageError."""

LONGEST_WAIT_S = 3600.0
"""Maximum time until a sampler is tried again: the wait doubles with each failure."""

_T = TypeVar("_T")
_Key = tuple[str, SamplerOptions]
_CALLS_ONLY = CallsOnlySampler()


class RecentFailures:
    """Samplers that failed in this process recently, by their options, and are not tried again yet."""

    def __init__(self, clock: Clock, say: Callable[[str], None]) -> None:
        self._clock, self.say = clock, say
        self._seen: dict[_Key, tuple[float, float, SamplerError]] = {}
        """When each may be tried again, the wait until then, and why."""

    def note(self, fallback: Fallback, error: SamplerError) -> None:
        """Remember why a sampler failed."""
        _, waited_s, _ = self._seen.get(_key(fallback), (0.0, RETRY_AFTER_S / 2, error))
        wait_s = min(LONGEST_WAIT_S, 2 * waited_s)
        self._seen[_key(fallback)] = self._clock.monotonic_s() + wait_s, wait_s, error

    def drop(self, fallback: Fallback) -> None:
        """Forget that a sampler failed, because it works now."""
        self._seen.pop(_key(fallback), None)

    def recent(self, fallback: Fallback) -> SamplerError | None:
        """Return why a sampler is not tried again yet, None if it may be."""
        until_s, _, error = self._seen.get(_key(fallback), (0.0, 0.0, None))
        return error if self._clock.monotonic_s() < until_s else None

    def over_at_s(self) -> float:
        """Return when the next one may be tried again; if there is none, when a missing program may be."""
        now_s = self._clock.monotonic_s()
        left = [until_s for until_s, _, _ in self._seen.values() if until_s > now_s]
        return min(left, default=now_s + RETRY_AFTER_S)

    def is_over(self, at_s: float) -> bool:
        """Return whether a time has passed."""
        return self._clock.monotonic_s() >= at_s

    def forget(self) -> None:
        """Forget all, so that every sampler is tried again."""
        self._seen.clear()


class Fallbacks:
    """Samplers that one session can use, with their options, best first; the first one left is in use."""

    def __init__(
        self, list_fallbacks: ListFallbacks, options: SamplerOptions, recent: RecentFailures, *, strict: bool
    ) -> None:
        """Find the samplers; raises UsageError, and for a strict policy the failure if there is none."""
        self._recent, self.say = recent, recent.say
        self._chosen = options.sampler != AUTO
        self._steps: list[Note] = []
        self.failure: str | None = None
        """Why the sampler that the user chose is not in use, if so."""
        self._last_failure: SamplerError | None = None
        """Why the sampler before the one in use failed, if so."""
        self._retry_at_s: float | None = None
        self._left = [*list_fallbacks(options), *([] if strict else [Fallback(_CALLS_ONLY, options)])]
        self._leave_unusable()

    @property
    def sampler(self) -> Sampler:
        """Sampler in use."""
        return self._left[0].sampler

    def plan(self, live: LiveStacks) -> SamplerPlan:
        """Return the plan for the sampler in use, with a note for each step down."""
        options = self._left[0].options
        plan = self.sampler.plan(options, live)
        return replace(plan, notes=(*self._steps, *plan.notes), window_s=options.window_s)

    def refuse(self, failure: SamplerError) -> None:
        """Remember that the sampler in use failed: the next session begins with another one."""
        self._recent.note(self._left[0], failure)

    def succeed(self) -> None:
        """Remember that the sampler in use works: if it fails again, the next wait is short."""
        self._recent.drop(self._left[0])

    def first_of(self, start: Callable[[], _T], folder: Path, again: Callable[[], _T] | None = None) -> _T:
        """Return what `start` returns; it raises SamplerError for each sampler that cannot be started.

        `again` is called in its place for samplers after the first one.
        """
        while True:
            try:
                return start()
            except SamplerError as failure:
                self.step_down(failure, folder)
            start = again or start

    def step_down(self, failure: SamplerError, folder: Path) -> None:
        """Take the next sampler because a start failed; raise the failure if there is none.

        None is taken if the folder is the cause, as others would fail too.
        """
        reraise_signal_error(failure)
        if folder_problem(folder) is not None:
            raise failure
        self.refuse(failure)
        if isinstance(failure, SamplerTimeout):  # no time is left for another sampler
            self._left[1:] = [fallback for fallback in self._left[1:] if fallback.sampler is _CALLS_ONLY]
        self._leave(failure)
        self._leave_unusable()

    def raise_if_unsampled(self) -> None:
        """Raise the last failure if all samplers failed."""
        if self._last_failure is not None and self.sampler.name == CALLS_ONLY:
            raise self._last_failure.with_traceback(None)

    def may_retry(self) -> bool:
        """Return whether no sampler is in use because all failed, and one may be tried again now."""
        return self._retry_at_s is not None and self._recent.is_over(self._retry_at_s)

    def _leave_unusable(self) -> None:
        """Take the next sampler until one may be tried now; raise the last failure if there is none."""
        while (error := self._left[0].missing or self._recent.recent(self._left[0])) is not None:
            self._leave(error)

    def _leave(self, failure: SamplerError) -> None:
        """Take the next sampler that may not fail as well, and say so; raise the failure if there is none."""
        left = self._left.pop(0).sampler.name
        while self._left and _is_hopeless(self._left[0], left, failure):
            del self._left[0]
        if not self._left:
            raise failure.with_traceback(None)
        self._last_failure = failure
        detail = str(failure)
        taken = self.sampler.name
        if taken == CALLS_ONLY:
            self._retry_at_s = self._recent.over_at_s()
            self.say(f"{detail}; recording calls and wall times without samples")
            if self._chosen:
                self.failure = detail
            else:
                self._steps.append(Note.of(NoteCode.NOT_SAMPLED, detail=detail))
        else:
            taken += " with blocking=False" if taken == left else ""
            self.say(f"{detail}; sampling with {taken} instead")
            self._steps.append(Note.of(NoteCode.SAMPLER_REPLACED, sampler=left, by=taken, detail=detail))


def _is_hopeless(fallback: Fallback, failed: str, failure: SamplerError) -> bool:
    """Return whether one would fail as sampler `failed` did: it needs what was denied, or its program."""
    if isinstance(failure, AttachDenied):
        return bool(fallback.needs & failure.refused)
    return fallback.sampler.name == failed


def _key(fallback: Fallback) -> _Key:
    return fallback.sampler.name, fallback.options


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
        processors=usable_processors(),
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
