"""Thread that samples a running process: length and overlap of py-spy's segments, failures, and pauses.

CPython's reader writes while it samples, so its journal is followed. py-spy writes at its end only. So it
samples in short segments, and the next one starts before the last one is stopped: no time goes unsampled.
"""

from __future__ import annotations

import enum
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import DamagedFile, SamplerError
from profkit.live.samples import Batch
from profkit.live.segments import OpenSegment
from profkit.model.session import ResourcePoint, SamplerPlan, SessionState
from profkit.process import procfs
from profkit.process.sockets import SocketWatch
from profkit.program.target import Target, fallbacks_for, live_stacks_of
from profkit.samplers.options import SamplerOptions
from profkit.session.fallbacks import Fallbacks, RecentFailures, Start, live_facts

_FOLLOWED_S = 20.0
"""Length of a segment whose output is read while it is written."""
_SHORTEST_S, _LONGEST_S, _STARTS = 1.0, 5.0, 20
"""Bounds of the length of other segments, and their length in multiples of the time that a start takes."""
_MARGIN_S = 10.0
"""Time after a segment at which its sampler ends by itself, if nobody is left who ends it."""
_RUNNING_TIMEOUT_S = 10.0
_TICK_S = 0.1
_RESOURCES_S = 1.0
_MOST_FAILURES = 3
"""Failures in a row to start the next segment after which sampling ends."""


class State(enum.Enum):
    """What the source does; values are words of the status line."""

    SAMPLING = "sampling"
    PAUSED = "paused"
    ENDED = "the process has ended"
    FAILED = "sampling failed"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Status:
    """State of the source, why it ended if it failed, and what the process used last."""

    state: State
    problem: str = ""
    resources: ResourcePoint | None = None
    cpu_share: float | None = None
    """Processor time of the process per second, 1.0 is one core; None if it is not known yet."""


class LiveSource:
    """Samples of another process; `step` does one round of work, which `run` repeats in a thread."""

    def __init__(
        self, target: Target, options: SamplerOptions, folder: Path, say: Callable[[str], None],
        clock: Clock = SYSTEM_CLOCK, meanwhile: Callable[[], object] = bool,
    ) -> None:  # fmt: skip
        """Choose the samplers; raises UsageError and SamplerError. `folder` is for files of the sampler.

        `meanwhile` is called while a sampler starts.
        """
        self.target, self._folder, self._clock, self._meanwhile = target, folder, clock, meanwhile
        self.options = replace(options, max_duration_s=_FOLLOWED_S + _MARGIN_S)
        self._fallbacks = Fallbacks(
            partial(fallbacks_for, target), self.options, RecentFailures(clock, say), strict=True
        )
        self._live = live_facts(SocketWatch(clock=clock), live_stacks_of(target))
        self._segment: OpenSegment | None = None
        self._length_s = _SHORTEST_S
        self._has_begun = False
        self._index = self._failures = 0
        self._batches: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        self._points: list[ResourcePoint] = []
        self._measured_s = float("-inf")
        self.status = Status(State.SAMPLING)
        self._wanted = State.SAMPLING
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def plan(self) -> SamplerPlan:
        """Plan for the sampler."""
        return self._fallbacks.plan(self._live)

    @property
    def sampler_version(self) -> str | None:
        """Version of the sampler."""
        return self._fallbacks.sampler.version()

    def begin(self) -> None:
        """Start the sampler and wait until it samples; raises SamplerError, and then nothing is left."""
        self._segment = self._fallbacks.first_of(self._started, self._folder)

    def start_thread(self) -> None:
        """Sample in a thread until `close`."""
        self._thread = threading.Thread(target=self._run, name="profkit-top")
        self._thread.start()

    def pause(self) -> None:
        """Stop sampling until `resume`."""
        self._want(State.PAUSED)

    def resume(self) -> None:
        """Sample again."""
        self._want(State.SAMPLING)

    def close(self) -> None:
        """Stop the sampler and the thread."""
        self._want(State.CLOSED)
        if self._thread is not None:
            self._thread.join()
        else:
            self._close()

    def take(self) -> list[Batch]:
        """Return the batches since the last call."""
        found = []
        while True:
            try:
                found.append(self._batches.get_nowait())
            except queue.Empty:
                return found

    def take_resources(self) -> list[ResourcePoint]:
        """Return what the process used since the last call, once a second."""
        taken, self._points = self._points, []
        return taken

    def _want(self, state: State) -> None:
        self._wanted = state
        self._wake.set()

    def _run(self) -> None:
        try:
            while self._wanted is not State.CLOSED:
                self._wake.wait(_TICK_S)
                self._wake.clear()
                self.step()
        except Exception as error:  # noqa: BLE001 - the screen shows it; nobody else could
            self._set(State.FAILED, f"{type(error).__name__}: {error}")
        finally:
            self._close()

    def step(self) -> None:
        """Do what is due: read samples, begin the next segment, pause, or notice the process's end."""
        if self.status.state in (State.ENDED, State.FAILED):
            return
        self._measure()
        if self._wanted is not State.SAMPLING:
            self._end_segment()
            self._set(self._wanted)
        elif self._segment is None:
            self._try_to_begin()
        elif not self._is_running(self._segment):
            self._lose_segment()
        elif self._clock.monotonic_s() - self._segment.began_s >= self._length_s:
            self._try_to_begin()
        else:
            self._follow(self._segment)

    def _follow(self, segment: OpenSegment) -> None:
        try:
            self._put(segment.new())
        except DamagedFile as damage:
            self._end_segment()
            self._set(State.FAILED, str(damage))

    def _is_running(self, segment: OpenSegment) -> bool:
        try:
            return segment.poll() is SessionState.RUNNING
        except SamplerError:
            return False

    def _lose_segment(self) -> None:
        """Take what a sampler left that ended by itself, and find out why."""
        problem = self._end_segment()
        if not self._target_runs():
            self._set(State.ENDED)
        elif problem is not None:
            self._note_failure(problem)

    def _try_to_begin(self) -> None:
        """Begin a segment, then end the last one; if that fails, the last one goes on."""
        if not self._target_runs():
            self._lose_segment()
            return
        try:
            begun = self._started()
        except SamplerError as failure:
            if self._target_runs():
                self._note_failure(failure)
            else:
                self._lose_segment()
            return
        last, self._segment = self._segment, begun
        self._set(State.SAMPLING)
        if last is not None:
            self._put(last.end()[0])

    def _started(self) -> OpenSegment:
        """Start a sampler and its segment; raises SamplerError, and leaves no files then."""
        before_s = self._clock.monotonic_s()
        start = Start(
            self.target.process.pid, self._fallbacks.sampler, self.plan, self._folder, self._index,
            _RUNNING_TIMEOUT_S, self._clock, self._meanwhile,
        )  # fmt: skip
        self._index += 1
        segment = OpenSegment(start)
        self._length_s = self._length_of(segment, segment.began_s - before_s)
        self._has_begun = True
        return segment

    def _length_of(self, segment: OpenSegment, start_s: float) -> float:
        if segment.is_followed:
            return _FOLLOWED_S
        if not self._has_begun:  # so that something is shown soon
            return _SHORTEST_S
        return min(_LONGEST_S, max(_SHORTEST_S, _STARTS * start_s))

    def _note_failure(self, failure: SamplerError | DamagedFile) -> None:
        self._failures += 1
        if self._failures >= _MOST_FAILURES:
            self._end_segment()
            self._set(State.FAILED, str(failure))

    def _end_segment(self) -> SamplerError | DamagedFile | None:
        segment, self._segment = self._segment, None
        if segment is None:
            return None
        batch, problem = segment.end()
        self._put(batch)
        return problem

    def _close(self) -> None:
        try:
            self._end_segment()
        finally:
            if self.status.state not in (State.ENDED, State.FAILED):
                self._set(State.CLOSED)

    def _put(self, batch: Batch | None) -> None:
        if batch is not None:
            self._failures = 0
            self._batches.put(batch)

    def _target_runs(self) -> bool:
        process = self.target.process
        return procfs.is_same_process(process.pid, process.start_ticks)

    def _set(self, state: State, problem: str = "") -> None:
        self.status = replace(self.status, state=state, problem=problem)

    def _measure(self) -> None:
        from profkit.session.resources import resources_of

        now_s = self._clock.monotonic_s()
        if now_s - self._measured_s < _RESOURCES_S:
            return
        point = resources_of(self.target.process.pid, self._clock)
        if point is None:
            return
        last, self._measured_s = self.status.resources, now_s
        share = None
        if last is not None and point.at_ns > last.at_ns:
            share = max(0.0, point.cpu_s - last.cpu_s) / ((point.at_ns - last.at_ns) / 1e9)
        self._points.append(point)
        self.status = replace(self.status, resources=point, cpu_share=share)
