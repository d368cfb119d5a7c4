"""Session: one sampler on this process, from start to end, as a chain of segments in a spool folder.

Not thread-safe: the manager calls it under its lock. Nothing here parses samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from profkit.clock import Clock
from profkit.errors import SamplerError, SamplerFailed
from profkit.model.notes import Note, NoteCode
from profkit.model.sampler_names import CALLS_ONLY
from profkit.model.session import (
    Cover,
    Ending,
    Lines,
    Manifest,
    ProcessInfo,
    SamplerPlan,
    Segment,
    SessionState,
    ThreadName,
)
from profkit.process.guard import reraise_signal_error, suppressed
from profkit.process.prctl import DumpableState
from profkit.process.sockets import SocketWatch
from profkit.samplers.base import FROM_INSIDE, Attachment, LiveStacks, await_state, kill_stopped
from profkit.samplers.options import SamplerOptions
from profkit.session.activity import is_worker
from profkit.session.call_journal import CallJournal, RegionJournal
from profkit.session.counters import Counters, Policy, forget_gone
from profkit.session.ladder import Ladder
from profkit.session.resources import ResourceMeter
from profkit.session.segments import evenly_spread, next_index, with_last
from profkit.session.starting import Start, now_live, socket_message, start_sampler
from profkit.store import spool as files
from profkit.store.spool_files import failure_text, make_reserve, note_ending

_T = TypeVar("_T")

_GRACE_S = 0.5
"""Grace period after an interrupt for the sampler to finish its output."""


class Session:
    """Session with a folder; it samples while it has an attachment, else it is dormant."""

    def __init__(
        self, spool: Path, ladder: Ladder, options: SamplerOptions, process: ProcessInfo, clock: Clock,
        live: LiveStacks, say: Callable[[str], None], sockets: SocketWatch,
    ) -> None:  # fmt: skip
        self._say, self._live, self._sockets = say, live, sockets
        self.ladder, self.options, self._clock = ladder, options, clock
        self.id = files.new_session_id(process.pid)
        self.folder = files.create_folder(spool, self.id)
        self._meter = ResourceMeter(process.pid, self.folder, clock)
        self.counters: list[Counters] = []
        self._dumpable = DumpableState(may_lift=options.allow_dumpable)
        self.attachment: Attachment | None = None
        self.covers: tuple[Cover, ...] = ()
        self.calls_in_segment = False
        """True if anything ran since the segment began; if not, a result needs no rotation."""
        self.last_used_s = self.started_s = self.segment_started_s = clock.monotonic_s()
        self._asleep_since_ns: int | None = None
        """Value of `_elapsed_ns` when sampling paused."""
        self._why_ended: str | None = None
        """The sampler's warning, if any."""
        self.indistinct: set[tuple[int, int]] = set()
        """Code objects, by identity, and lines of blocks that have several labels in this session."""
        self._lines = Lines()
        self._every = 1
        """Of the session's minutes, one in so many is kept."""
        self._regions, self.calls = RegionJournal(clock), CallJournal(clock)
        """Regions and counts that are not on disk yet."""
        self._reserved = False
        self._failure: str | None = None
        """Reason and time of the first failed write to the folder."""
        self._unsaved = False
        self._manifest = Manifest(
            session=self.id,
            state=SessionState.PREPARING,
            created_ns=clock.unix_ns(),
            process=process,
            **ladder.facts(live),
        )

    @property
    def manifest(self) -> Manifest:
        """Manifest, with changes that the next write saves."""
        return self._manifest

    @property
    def plan(self) -> SamplerPlan:
        """Plan for the sampler."""
        return self._manifest.plan

    @property
    def holder(self) -> str:
        """Label of the region for which the session was started."""
        return self.counters[0].region.key.label if self.counters else ""

    @property
    def open(self) -> bool:
        """True if calls may still join."""
        return self._manifest.ended_ns is None

    @property
    def takes_samples(self) -> bool:
        """True if it has a sampler; else calls and wall times are all that it records."""
        return self.plan.sampler != CALLS_ONLY

    def save(self) -> None:
        """Write the manifest; if the disk is full, write that into the reserve and raise OSError."""
        self._manifest = replace(self._manifest, lines=self._lines)
        try:
            if not self._reserved:
                make_reserve(self.folder)
                self._reserved = True
            if self.open:
                files.write_manifest(self.folder, self._manifest)
            else:
                files.close_folder(self.folder, self._manifest)
        except OSError as error:
            self._unsaved = True
            reraise_signal_error(error)
            self._note_failure(error)
            raise
        self._unsaved = False

    def begin_segment(self, policy: Policy, covers: tuple[Cover, ...] = ()) -> None:
        """Attach the sampler and wait until it is RUNNING; on any failure nothing stays attached."""
        now_ns = self._elapsed_ns()
        asleep_ns = 0 if self._asleep_since_ns is None else now_ns - self._asleep_since_ns
        index = next_index(self._manifest.segments)
        segment = Segment(index, self._clock.unix_ns(), covers=covers, asleep_ns=asleep_ns)
        self._asleep_since_ns = None
        self.covers, self.calls_in_segment = covers, bool(covers)
        self._write(segments=(*self._manifest.segments, segment))
        try:
            self.attachment, note = self._start_sampler(segment.index, policy)
        except BaseException as error:
            self._dumpable.restore()
            self._note_segment(stopped_ns=self._clock.unix_ns(), error=str(error) or type(error).__name__)
            self._write()
            raise
        self.segment_started_s = self._clock.monotonic_s()
        self._note_segment(running_ns=self._clock.unix_ns(), offset_ns=self._elapsed_ns())
        self._write(state=SessionState.RUNNING, notes=(*self._manifest.notes, *((note,) if note else ())))
        if not segment.index:
            self.write_resources()

    def _start_sampler(self, index: int, policy: Policy) -> tuple[Attachment, Note | None]:
        """Start the sampler; for the first segment, the next one if this one cannot be started."""
        while True:
            sampler, timeout_s = self.ladder.sampler, policy.running_timeout_s
            self._dumpable.lift(needed=sampler.name not in FROM_INSIDE)
            start = Start(
                self._manifest.process.pid, sampler, self.plan, self.folder, index, timeout_s, self._clock
            )
            try:
                return start_sampler(start)
            except SamplerError as failure:
                if index:
                    raise
                self.ladder.step_down(failure, self.folder)
            self._write(**self.ladder.facts(self._live))

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
        plan = self.ladder.plan(live)
        if plan.blocking and not new_sockets:
            return False
        self._live = live
        new = [note for note in plan.notes if note not in self.plan.notes]
        if new and new_sockets and (plan.blocking or self.options.blocking is True):
            self._say(socket_message(blocking=plan.blocking))
        self._write(plan=replace(self.plan, blocking=plan.blocking, notes=(*self.plan.notes, *new)))
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
            self._note_stop(attachment)
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
        self._write()
        self._note_warning(attachment)
        if isinstance(failure_at_stop, SamplerFailed) and failure_at_stop.stage != "stop":
            raise failure_at_stop
        if failure_at_stop is not None:
            self._say(f"samples are lost: {failure_at_stop}")

    def join(self, counters: Counters) -> None:
        """Count a region's calls in this session from now on."""
        self.last_used_s, self.calls_in_segment = self._clock.monotonic_s(), True
        self.mention(counters)
        counters.live = not counters.covers
        counters.flushes = counters.leaves = is_worker()

    def mention(self, counters: Counters) -> None:
        """Record a region, so that it has a run in this session even if it is never called."""
        if not counters.has_joined(self.id):
            self.counters.append(counters)
            counters.sessions.append(self.id)
        if self._regions.add(counters.region):
            self._write_regions()

    def add_note(self, note: Note) -> None:
        """Add a note for the report, unless it has been added."""
        if note not in self._manifest.notes:
            self._write(notes=(*self._manifest.notes, note))

    def drain(self) -> None:
        """Move the counts of the hot path to the folder."""
        # A region that has joined another session is counted there.
        self._write_calls(counters for counters in self.counters if counters.has_joined(self.id))
        forget_gone(self.counters)
        if self._unsaved and not self.open:
            self.save()

    def flush(self, counters: Counters) -> None:
        """Move the counts of one region to the folder."""
        self._write_calls([counters])

    def _write_regions(self) -> None:
        self._regions.write(lambda regions: self._append("regions", files.append_regions, regions))

    def _write_calls(self, counted: Iterable[Counters]) -> None:
        self._write_regions()
        if self.calls.write(counted, lambda deltas: self._append("calls", files.append_calls, deltas)):
            self.last_used_s, self.calls_in_segment = self._clock.monotonic_s(), True

    def write_resources(self, names: Iterable[ThreadName] = (), *, is_last: bool = False) -> None:
        """Record what the process and its children use now, and names of its threads."""
        if (point := self._meter.point(is_last=is_last)) is not None:
            self._append("resources", files.append_resources, (point,))
        self._append("threads", files.append_threads, tuple(names))

    def thin_out(self) -> None:
        """Keep segments of evenly spread minutes if all are too many, so that a session may last for days."""
        kept, dropped, self._every = evenly_spread(self._manifest.segments, self._every)
        if dropped:
            self.add_note(Note(NoteCode.MINUTES_KEPT))
            self._write(segments=kept)
            files.remove_segments(self.folder, dropped)

    def truncate(self, policy: Policy) -> None:
        """Stop sampling permanently; calls are still counted."""
        self.end_segment(policy)
        self._write(truncated=True)

    def sleep(self, policy: Policy) -> None:
        """Stop sampling until the next call."""
        self.pause()
        self.end_segment(policy)
        self._asleep_since_ns = self._elapsed_ns()

    def pause(self) -> None:
        """Make the next call of every region ask the manager."""
        for counters in self.counters:
            counters.live = False

    def end(self, policy: Policy, error: str | None = None, *, last: bool = False) -> None:
        """Stop sampling, write remaining counts and close the folder; do nothing if already ended.

        With `last`, for the process's last session, calls of other threads count until the next `drain`.
        """
        if not self.open:
            return
        try:
            self._write(state=SessionState.PROCESSING)
        finally:
            self._stop(policy, error, last)

    def forget(self) -> None:
        """Drop all state in a forked child: the folder and the sampler are the parent's."""
        self.attachment = None
        self._dumpable.restore()
        for counters in self.counters:
            counters.forget()

    def _stop(self, policy: Policy, error: str | None, last: bool) -> None:
        try:
            with suppressed(OSError):  # kept as the session's failure
                self.write_resources(is_last=True)
            self.end_segment(policy)
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
            if self._failure is not None:  # the reason may come from the manager, without a time
                error = f"{error} {self._failure[self._failure.rindex('(') :]}" if error else self._failure
            error = error or self.ladder.failure
            if error is not None and self._why_ended is not None:
                error = f"{error}: {self._why_ended}"
            state = SessionState.SUCCESS if error is None else SessionState.FAILED
            self._write(state=state, error=error, ended_ns=self._clock.unix_ns())

    def _note_warning(self, attachment: Attachment) -> None:
        if (warning := attachment.warning()) is not None:
            self._why_ended = warning
            self.add_note(Note.of(NoteCode.SAMPLER_INTERRUPTED, detail=warning))
            self._say(f"sampling was interrupted: {warning}")

    def _elapsed_ns(self) -> int:
        """Return the session's age by the monotonic clock: the time of day may be set at any time."""
        return round((self._clock.monotonic_s() - self.started_s) * 1e9)

    def _note_stop(self, attachment: Attachment) -> None:
        offset_ns = self._manifest.segments[-1].offset_ns
        sampled_ns = None if offset_ns is None else self._elapsed_ns() - offset_ns
        self._note_segment(attachment, stopped_ns=self._clock.unix_ns(), sampled_ns=sampled_ns)

    def _note_segment(
        self, attachment: Attachment | None = None, *, error: str | None = None, **times_ns: int | None
    ) -> None:
        """Update the last segment in the manifest; the next write saves it."""
        segments = with_last(self._manifest.segments, attachment or self.attachment, error, times_ns)
        self._manifest = replace(self._manifest, segments=segments)

    def _append(
        self, journal: str, append: Callable[[Path, Iterable[_T]], int], records: tuple[_T, ...]
    ) -> None:
        """Append lines to a journal and count them, so that a reader knows how many are lost."""
        try:
            number = append(self.folder, records)
        except OSError as error:
            reraise_signal_error(error)
            self._note_failure(error)
            raise
        self._lines = replace(self._lines, **{journal: getattr(self._lines, journal) + number})

    def _note_failure(self, error: OSError) -> None:
        """Write the reason and time of the first failed write to the folder into its reserve."""
        now_ns = self._clock.unix_ns()
        if self._failure is None:
            self._failure = failure_text(error, now_ns)
        manifest = replace(self._manifest, lines=self._lines)
        ending = Ending.of(manifest, self._failure, now_ns, tuple(self.calls.unwritten))
        try:
            note_ending(self.folder, ending)
        except OSError as later:  # the folder is gone, or its disk is read-only now
            reraise_signal_error(later)

    def _write(self, **changes: object) -> None:
        self._manifest = replace(self._manifest, **changes)  # type: ignore[arg-type]
        self.save()
