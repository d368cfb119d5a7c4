"""Session: one sampler on this process, as a chain of segments; how long they are, when an idle one ends."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import SamplerError, SamplerFailed
from profkit.model.notes import Note, NoteCode
from profkit.model.region import CALLS_ONLY
from profkit.model.session import (
    Cover,
    Manifest,
    ProcessInfo,
    SamplerPlan,
    Segment,
    SessionState,
    ThreadName,
)
from profkit.process.guard import reraise_signal_error, suppressed
from profkit.process.membership import updated
from profkit.process.prctl import DumpableState
from profkit.process.sockets import SocketWatch
from profkit.samplers.base import FROM_INSIDE, Attachment, await_state, kill_stopped
from profkit.samplers.options import UNLIMITED_S, SamplerOptions
from profkit.session import activity
from profkit.session.counters import Counters, Policy
from profkit.session.failures import ended_early
from profkit.session.fallbacks import (
    Fallbacks,
    ListFallbacks,
    RecentFailures,
    Start,
    live_facts,
    now_live,
    socket_message,
    start_sampler,
)
from profkit.session.record import SessionRecord
from profkit.session.resources import SEEN, ResourceMeter, ThreadNames
from profkit.store import spool as files

IDLE_END_S = 10.0
SEGMENT_S = 60.0
EARLY_S = 5.0
"""Age of a segment below which a sampler that ends without a request counts as a failed start."""
SAMPLER_BYTES = 100 * 2**20
_GRACE_S = 0.5
"""Grace period after an interrupt for the sampler to finish its output."""


class Session(SessionRecord):
    """Session that samples while it has an attachment; else it is dormant."""

    def __init__(
        self, spool: Path, list_fallbacks: ListFallbacks, recent: RecentFailures, options: SamplerOptions,
        policy: Policy, process: ProcessInfo, clock: Clock, other: tuple[int, int, int] | None = None,
    ) -> None:  # fmt: skip
        """Make the folder and choose the sampler; `other`: see `live_facts`.

        Raises UsageError for options that no sampler can honour, OSError if no folder can be made, and for a
        strict policy the SamplerError if no sampler may be tried. No folder is left behind then.
        """
        fallbacks = Fallbacks(list_fallbacks, options, recent, strict=policy.strict)
        sockets = SocketWatch(clock=clock)
        live = live_facts(sockets, other)
        manifest = Manifest(
            session=files.new_session_id(process.pid),
            state=SessionState.PREPARING,
            created_ns=clock.unix_ns(),
            process=process,
            plan=fallbacks.plan(live),
            sampler_version=fallbacks.sampler.version(),
            error=fallbacks.failure,
        )
        super().__init__(spool, manifest, clock)
        self.fallbacks, self.options, self.policy = fallbacks, options, policy
        """`policy`: that of the call that started the session."""
        self._live, self._sockets, self._say = live, sockets, fallbacks.say
        self._meter = ResourceMeter(process.pid, self.folder, clock)
        self._names: ThreadNames | None = None
        self._dumpable = DumpableState(may_lift=options.allow_dumpable)
        self.attachment: Attachment | None = None
        self.is_starting = False
        """True while a sampler is being started."""
        self.active: list[Cover] = []
        """Regions under way to which whole segments belong."""
        self.covers: tuple[Cover, ...] = ()
        """Those to which the current segment belongs."""
        self.calls_in_segment = False
        """True if anything ran since the segment began; if not, a result needs no rotation."""
        self.last_used_s = self.started_s = self.segment_started_s = clock.monotonic_s()
        self._asleep_since_ns: int | None = None
        """Value of `_elapsed_ns` when sampling paused."""
        self._why_ended: str | None = None
        """The sampler's warning, if any."""
        self.indistinct: set[tuple[int, int]] = set()
        """Code objects, by identity, and lines of blocks that have several labels in this session."""
        if Note(NoteCode.BLOCKING_NOT_KEPT) in self.plan.notes:
            self._say(socket_message(blocking=False))

    @property
    def plan(self) -> SamplerPlan:
        """Plan for the sampler."""
        return self._manifest.plan

    def join(self, counters: Counters, policy: Policy, cover: Cover | None = None) -> None:
        """Count a region's calls from now on, and sample; with a cover until `leave`, in own segments."""
        self.last_used_s, self.calls_in_segment = self._clock.monotonic_s(), True
        self.mention(counters)
        counters.flushes = counters.leaves = activity.is_worker()
        try:
            counters.live = cover is None
            if cover is not None:
                self.active.append(cover)
            if self.attachment is None and not self._manifest.truncated:
                self.begin_segment(policy)
            else:
                self.renew_covers()
        except BaseException:
            counters.live = False
            self.leave(cover)
            raise

    def leave(self, cover: Cover | None) -> None:
        """Forget a region that was under way; `renew_covers` ends its segment."""
        if cover in self.active:
            self.active.remove(cover)

    def renew_covers(self) -> None:
        """Rotate if other regions have whole segments now than when the segment began."""
        if not self._manifest.truncated and set(self.active) != set(self.covers):
            self.rotate(self.policy)

    def rotate(self, policy: Policy) -> None:
        """End the segment and start another, with a short gap."""
        try:
            self.end_segment(policy)
            self.begin_segment(policy)
        except KeyboardInterrupt:
            self.pause()
            raise

    def begin_segment(self, policy: Policy) -> None:
        """Attach the sampler and wait until it is RUNNING; on any failure nothing stays attached."""
        now_ns = self._elapsed_ns()
        asleep_ns = 0 if self._asleep_since_ns is None else now_ns - self._asleep_since_ns
        segments, covers = self._manifest.segments, tuple(self.active)
        index = segments[-1].index + 1 if segments else 0  # earlier ones may have been deleted
        segment = Segment(index, self._clock.unix_ns(), covers=covers, asleep_ns=asleep_ns)
        self._asleep_since_ns = None
        self.covers, self.calls_in_segment = covers, bool(covers)
        self.change(segments=(*segments, segment))
        self.is_starting = True
        try:
            start = partial(self._start_sampler, index, policy)
            again = partial(self._start_next, policy)
            self.attachment, note = start() if index else self.fallbacks.first_of(start, self.folder, again)
        except BaseException as error:
            self._dumpable.restore()
            self._note_segment(stopped_ns=self._clock.unix_ns(), error=str(error) or type(error).__name__)
            self.save()
            raise
        finally:
            self.is_starting = False
        self.segment_started_s = self._clock.monotonic_s()
        self._note_segment(running_ns=self._clock.unix_ns(), offset_ns=self._elapsed_ns())
        self.change(state=SessionState.RUNNING, notes=(*self._manifest.notes, *((note,) if note else ())))
        if not index:
            self.write_resources()

    def _start_sampler(self, index: int, policy: Policy) -> tuple[Attachment, Note | None]:
        sampler, timeout_s = self.fallbacks.sampler, policy.running_timeout_s
        self._dumpable.lift(needed=sampler.name not in FROM_INSIDE)
        return start_sampler(
            Start(self._manifest.process.pid, sampler, self.plan, self.folder, index, timeout_s, self._clock)
        )

    def _start_next(self, policy: Policy) -> tuple[Attachment, Note | None]:
        """Start another sampler than planned, because that one could not be started."""
        plan, version = self.fallbacks.plan(self._live), self.fallbacks.sampler.version()
        self.change(plan=plan, sampler_version=version, error=self.fallbacks.failure)
        return self._start_sampler(0, policy)

    def write_calls(self, counted: Iterable[Counters]) -> bool:
        """Write what regions have counted; they have used the session if that is anything."""
        has_counted = super().write_calls(counted)
        if has_counted:
            self.last_used_s, self.calls_in_segment = self._clock.monotonic_s(), True
        return has_counted

    def tick(self) -> None:
        """Write counts and resources, and enforce the limits, once a second; this may end the session."""
        self.drain()
        now_s = self._clock.monotonic_s()
        if activity.calls_under_way():
            self.last_used_s = now_s
        elif now_s - self.last_used_s >= IDLE_END_S:
            self.end()
            return
        self.write_resources(self._new_names())
        if self.fallbacks.may_retry():
            self.pause()  # the next call starts another session
        attachment = self.attachment
        if attachment is None or self.plan.sampler == CALLS_ONLY:
            return
        # Polling a remote sampler starts a process, and its samples are kept elsewhere: only limit its time.
        here = attachment.segment().remote_id is None
        age_s = now_s - self.segment_started_s
        if here and attachment.poll() is not SessionState.RUNNING:
            self._end_without_sampler()
            return
        if age_s >= EARLY_S:
            self.fallbacks.succeed()
        if now_s - self.started_s >= self.plan.max_duration_s:
            self.end_segment(self.policy)
            self.change(truncated=True)
        elif here and (
            self.check_stops() or age_s >= SEGMENT_S or attachment.resident_bytes() >= SAMPLER_BYTES
        ):
            self.rotate(self.policy)
            if self.options.max_duration_s >= UNLIMITED_S:
                self.thin_out()

    def _end_without_sampler(self) -> None:
        """End the session because its sampler has ended; the next call may start another."""
        self.end_segment(self.policy)
        if self._clock.monotonic_s() - self.segment_started_s < EARLY_S:
            self.fallbacks.refuse(ended_early(self.plan.sampler, EARLY_S))  # the next session says so
        self.end("the sampler ended unexpectedly")

    def _new_names(self) -> tuple[ThreadName, ...]:
        """Return names of threads that the sampler does not see, and that are not recorded yet."""
        seen = SEEN.get(self.plan.sampler)
        if self.attachment is None or seen is None:
            return ()
        self._names = self._names or ThreadNames(seen)
        return self._names.new()

    def check_stops(self) -> bool:
        """Look for what the stops of blocking samples cost or break by now; return whether to rotate.

        Stacks may be deeper and the machine busier than at the start, and stops restart the timeouts of
        sockets. The next segment then samples without blocking at the same rate, unless the sampler cannot;
        for sockets even if blocking was requested. Both exceptions are logged once. Call it every second.
        """
        if not self.plan.blocking:
            return False
        new_sockets = not self._live.timed_sockets and self._sockets.timed()
        live = now_live(self._live, timed_sockets=new_sockets or self._live.timed_sockets)
        plan = self.fallbacks.plan(live)
        if plan.blocking and not new_sockets:
            return False
        self._live = live
        new = [note for note in plan.notes if note not in self.plan.notes]
        if new and new_sockets and (plan.blocking or self.options.blocking is True):
            self._say(socket_message(blocking=plan.blocking))
        self.change(plan=replace(self.plan, blocking=plan.blocking, notes=(*self.plan.notes, *new)))
        return not plan.blocking

    def end_segment(self, policy: Policy) -> None:
        """Stop the sampler and wait until its output is complete; kill and report a stuck one.

        Raises SamplerError if it had failed before; no more output follows then.
        """
        attachment = self.attachment
        if attachment is None:
            return
        timeout_s = policy.finished_timeout_s or attachment.stop_timeout_s()
        failure_at_stop: SamplerError | None = None
        try:
            attachment.request_stop()
            offset_ns = self._manifest.segments[-1].offset_ns
            sampled_ns = None if offset_ns is None else self._elapsed_ns() - offset_ns
            self._note_segment(attachment, stopped_ns=self._clock.unix_ns(), sampled_ns=sampled_ns)
            await_state(
                attachment, SessionState.SUCCESS, timeout_s, self._clock,
                "timeout_wait_for_finished_sec", self.plan.sampler,
            )  # fmt: skip
        except SamplerError as failure:
            reraise_signal_error(failure)
            failure_at_stop = failure
        except BaseException:  # from a signal handler
            with suppress(SamplerError):
                attachment.request_stop()
                await_state(attachment, SessionState.SUCCESS, _GRACE_S, self._clock, "")
            raise
        finally:
            try:
                kill_stopped(attachment)  # harmless after success; after a second interrupt nothing stays
            finally:
                self.attachment = None
                self._dumpable.restore()
        self._note_segment(attachment, error=str(failure_at_stop) if failure_at_stop else None)
        self.save()
        self._note_warning(attachment)
        if isinstance(failure_at_stop, SamplerFailed) and failure_at_stop.stage != "stop":
            raise failure_at_stop
        if failure_at_stop is not None:
            self._say(f"samples are lost: {failure_at_stop}")

    def write_resources(self, names: Iterable[ThreadName] = (), *, is_last: bool = False) -> None:
        """Record what the process and its children use now, names of its threads, and a rank that is new."""
        if (point := self._meter.point(is_last=is_last)) is not None:
            self.append((point,))
        self.append(tuple(names))
        if (process := updated(self._manifest.process)) != self._manifest.process:
            self.change(process=process)

    def sleep(self, policy: Policy) -> None:
        """Stop sampling until the next call."""
        self.pause()
        self.end_segment(policy)
        self._asleep_since_ns = self._elapsed_ns()

    def pause(self) -> None:
        """Make the next call of every region ask the manager."""
        for counters in self.counters:
            counters.live = False

    def end(self, error: str | None = None, *, last: bool = False) -> None:
        """Stop sampling, write remaining counts and close the folder; do nothing if already ended.

        With `last`, for the process's last session, calls of other threads count until the next `drain`.
        """
        if not self.open:
            return
        try:
            self.change(state=SessionState.PROCESSING)
        finally:
            self._stop(error, last)

    def forget(self) -> None:
        """Drop all state in a forked child: the folder and the sampler are the parent's."""
        self.attachment = None
        self._dumpable.restore()
        super().forget()

    def _stop(self, error: str | None, last: bool) -> None:
        try:
            with suppressed(OSError):  # kept as the session's failure
                self.write_resources(is_last=True)
            self.end_segment(self.policy)
        except SamplerError as failure:
            reraise_signal_error(failure)
            if error is None:
                self._say(f"profiling stopped: {failure}")
            error = error or str(failure)
        finally:
            if self.attachment is None:  # else an interrupt came first, and the session is still open
                self._finish(error, last)

    def _finish(self, error: str | None, last: bool) -> None:
        if not last:
            self.pause()  # not before: calls of other threads still count while the sampler ends
        try:
            self.drain()
        finally:
            if self.failure is not None:  # the reason may come from the manager, without a time
                error = f"{error} {self.failure[self.failure.rindex('(') :]}" if error else self.failure
            error = error or self.fallbacks.failure
            if error is not None and self._why_ended is not None:
                error = f"{error}: {self._why_ended}"
            state = SessionState.SUCCESS if error is None else SessionState.FAILED
            self.change(state=state, error=error, ended_ns=self._clock.unix_ns())

    def _note_warning(self, attachment: Attachment) -> None:
        if (warning := attachment.warning()) is not None:
            self._why_ended = warning
            self.add_note(Note.of(NoteCode.SAMPLER_INTERRUPTED, detail=warning))
            self._say(f"sampling was interrupted: {warning}")

    def _elapsed_ns(self) -> int:
        """Return the session's age by the monotonic clock: the time of day may be set at any time."""
        return round((self._clock.monotonic_s() - self.started_s) * 1e9)

    def _note_segment(
        self, attachment: Attachment | None = None, *, error: str | None = None, **times_ns: int | None
    ) -> None:
        """Update the last segment in the manifest; the next write saves it."""
        *before, last = self._manifest.segments
        attachment = attachment or self.attachment
        if attachment is not None:
            seen = attachment.segment()
            last = replace(
                last, pid=seen.pid, start_ticks=seen.start_ticks, remote_id=seen.remote_id, links=seen.links
            )
        known_ns = {name: time_ns for name, time_ns in times_ns.items() if time_ns is not None}
        last = replace(last, error=error or last.error, **known_ns)  # type: ignore[arg-type]
        self._manifest = replace(self._manifest, segments=(*before, last))
