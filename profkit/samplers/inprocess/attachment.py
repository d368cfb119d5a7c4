"""Attachment of a way to sample to this process; the best one that works is taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace

from profkit.errors import SamplerFailed
from profkit.model.session import Segment, SessionState
from profkit.process.guard import say_once
from profkit.samplers.base import Attachment, backed_off_s
from profkit.samplers.helper.reader import HAS_STATES
from profkit.samplers.inprocess.forks import FORKS
from profkit.samplers.inprocess.interpreter import InterpreterWay
from profkit.samplers.inprocess.thread import ThreadWay
from profkit.samplers.inprocess.timer import TimerWay
from profkit.samplers.inprocess.ways import NAMES, Kind, Request, Way, WayFailed
from profkit.samplers.process_attachment import SAMPLING, START, STOP

NAME = "inprocess"
_STOP_TIMEOUT_S = 5.0
Maker = tuple[Kind, Callable[[Request], Way]]
WAYS: tuple[Maker, ...] = (
    *(((Kind.INTERPRETER, InterpreterWay),) if HAS_STATES else ()),
    (Kind.TIMER, TimerWay),
    (Kind.THREAD, ThreadWay),
)
"""The ways to sample with this version of Python, best first."""
MOST_FORKS = 10
"""Most forks in `_FORKS_S` with a subinterpreter: to end one and make another takes 20 to 50 ms."""
_FORKS_S = 10.0


class InProcessAttachment(Attachment):
    def __init__(self, request: Request, index: int, ways: tuple[Maker, ...] = WAYS) -> None:
        """Start the first way that can be started; raises `SamplerFailed`."""
        self._request, self._index, self._ways = request, index, list(ways)
        self._was_running = self._stopping = False
        self._forks: deque[float] = deque()
        """Times of the last forks."""
        self._failure: SamplerFailed | None = None
        """Failure after a fork, which the next poll raises."""
        self._steps: list[str] = []
        """Messages that are not logged yet: what logs may wait for a thread that waits for the lock."""
        with FORKS.lock:
            self._way = self._next(None)
            FORKS.live.append(self)
        self._log_steps()

    @property
    def kind(self) -> Kind:
        """How the stacks are read."""
        return self._way.kind

    def segment(self) -> Segment:
        """See `Attachment.segment`; the sampler has no process of its own."""
        return Segment(self._index, started_ns=0)

    def poll(self) -> SessionState:
        """See `Attachment.poll`; takes the next way if one fails."""
        try:
            return self._poll()
        finally:
            self._log_steps()

    def _poll(self) -> SessionState:
        with FORKS.lock:
            if self._failure is not None:
                raise self._failure
            try:
                self._was_running = self._way.is_running() or self._was_running
            except WayFailed as failure:
                if self._stopping:
                    self._close()
                    raise _failed(STOP, failure) from failure
                self._way.stop()
                self._way.await_end()
                self._way = self._next(failure)
            if self._was_running and self._way.has_ended():
                self._close()
                return SessionState.SUCCESS
            return SessionState.RUNNING if self._was_running else SessionState.PREPARING

    def poll_interval_s(self, attempt: int) -> float:
        return backed_off_s(attempt, 0.0005, 1.1, 0.005)

    def request_stop(self) -> None:
        with FORKS.lock:
            self._stopping = True
            self._way.stop()

    def stop_timeout_s(self) -> float:
        """See `Attachment.stop_timeout_s`: it ends with the current round."""
        return _STOP_TIMEOUT_S

    def kill(self) -> None:
        with FORKS.lock:
            self.request_stop()
            self._way.await_end()
            self._close()

    def before_fork(self) -> None:
        """Make the process one that can fork."""
        self._way.before_fork()

    def after_fork(self) -> None:
        """Continue in the parent; without a subinterpreter if the program forks often."""
        if self._stopping or self._failure is not None:
            return
        try:
            if self._forks_often() and self._way.kind is Kind.INTERPRETER and self._request.idle:
                self._way = self._next(WayFailed("the program forks often"))
                return
            try:
                self._way.after_fork()
            except WayFailed as failure:
                self._way = self._next(failure)
        except SamplerFailed as failure:
            self._failure = failure

    def _forks_often(self) -> bool:
        now_s = self._request.clock.monotonic_s()
        self._forks.append(now_s)
        while now_s - self._forks[0] > _FORKS_S:
            self._forks.popleft()
        return len(self._forks) > MOST_FORKS

    def in_child(self) -> None:
        """Forget everything in a forked child."""
        self._way.in_child()

    def _next(self, failure: WayFailed | None) -> Way:
        """Return the next way, started; raises `SamplerFailed` with the first failure if there is none.

        The first one is the cause. Others may come of it, as the next ways support less.
        """
        failed = [] if failure is None else [(self._way.kind, failure)]
        while self._ways:
            kind, maker = self._ways.pop(0)
            reasons = ((left.value, str(error)) for left, error in failed)
            request = replace(self._request, left=(*self._request.left, *reasons))
            way = maker(request)
            try:
                way.start()
            except WayFailed as error:
                failed.append((kind, error))
            else:
                self._request = request
                self._steps += [_step(left, kind, error) for left, error in failed]
                return way
        self._close()
        raise _failed(SAMPLING if self._was_running else START, failed[0][1]) from failed[0][1]

    def _log_steps(self) -> None:
        while self._steps:
            say_once(self._steps.pop(0))

    def _close(self) -> None:
        if self in FORKS.live:
            FORKS.live.remove(self)


def _step(left: Kind, taken: Kind, failure: WayFailed) -> str:
    reason = "; ".join(filter(None, (str(failure), failure.fix)))
    return f"{NAMES[left]} cannot sample this program: {reason}; sampling with {NAMES[taken]} instead"


def _failed(stage: str, failure: WayFailed) -> SamplerFailed:
    fix = failure.fix or "use sampler='none' to record calls and wall times without samples"
    return SamplerFailed(NAME, stage, str(failure), fix)
