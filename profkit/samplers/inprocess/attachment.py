"""Attachment of a way to sample to this process; the best one that works is taken."""

from __future__ import annotations

import os
from collections.abc import Callable

from profkit.errors import SamplerFailed
from profkit.model.session import Segment, SessionState
from profkit.process.guard import guarded
from profkit.samplers.attempts import SAMPLING, START
from profkit.samplers.inprocess.interpreter import InterpreterWay
from profkit.samplers.inprocess.thread import ThreadWay
from profkit.samplers.inprocess.timer import TimerWay
from profkit.samplers.inprocess.ways import Kind, Request, Way, WayFailed
from profkit.samplers.polling import backed_off_s

NAME = "inprocess"
_STOP_TIMEOUT_S = 5.0
WAYS: tuple[Callable[[Request], Way], ...] = (InterpreterWay, TimerWay, ThreadWay)
"""The ways to sample, best first."""
_LIVE: list[InProcessAttachment] = []
"""Attachments whose ways a fork must know of."""


class InProcessAttachment:
    """See `Attachment`."""

    def __init__(
        self, request: Request, index: int, ways: tuple[Callable[[Request], Way], ...] = WAYS
    ) -> None:
        """Start the first way that can be started; raises `SamplerFailed`."""
        self._request, self._index, self._ways = request, index, list(ways)
        self._was_running = False
        self._way = self._next(None)
        _LIVE.append(self)

    @property
    def kind(self) -> Kind:
        """How the stacks are read."""
        return self._way.kind

    def segment(self) -> Segment:
        """See `Attachment.segment`; the sampler has no process of its own."""
        return Segment(self._index, started_ns=0)

    def poll(self) -> SessionState:
        """See `Attachment.poll`."""
        if self._way.has_ended() and self._was_running:
            self._close()
            return SessionState.SUCCESS
        try:
            self._was_running = self._way.is_running() or self._was_running
        except WayFailed as failure:
            self._way.stop()
            self._way.await_end()
            if self._was_running:
                self._close()
                raise _failed(SAMPLING, str(failure)) from failure
            self._way = self._next(failure)
        return SessionState.RUNNING if self._was_running else SessionState.PREPARING

    def poll_interval_s(self, attempt: int) -> float:
        """See `Attachment.poll_interval_s`."""
        return backed_off_s(attempt, 0.0005, 1.1, 0.005)

    def request_stop(self) -> None:
        """See `Attachment.request_stop`."""
        self._way.stop()

    def stop_timeout_s(self) -> float:
        """See `Attachment.stop_timeout_s`: it ends with the current round."""
        return _STOP_TIMEOUT_S

    def resident_bytes(self) -> int:
        """See `Attachment.resident_bytes`: its memory is the program's."""
        return 0

    def warning(self) -> str | None:
        """See `Attachment.warning`."""
        return None

    def kill(self) -> None:
        """See `Attachment.kill`."""
        self._way.stop()
        self._way.await_end()
        self._close()

    def before_fork(self) -> None:
        """Make the process one that can fork."""
        self._way.before_fork()

    def after_fork(self) -> None:
        """Continue in the parent."""
        self._way.after_fork()

    def _next(self, failure: WayFailed | None) -> Way:
        """Return the next way, started; raises `SamplerFailed` with the last failure if there is none."""
        while self._ways:
            way = self._ways.pop(0)(self._request)
            try:
                way.start()
            except WayFailed as error:
                failure = error
            else:
                return way
        raise _failed(START, str(failure)) from failure

    def _close(self) -> None:
        if self in _LIVE:
            _LIVE.remove(self)


def _failed(stage: str, detail: str) -> SamplerFailed:
    fix = "use sampler='none' to record calls and wall times without samples"
    return SamplerFailed(NAME, stage, detail, fix)


def _before_fork() -> None:
    for attachment in _LIVE:
        attachment.before_fork()


def _after_fork() -> None:
    for attachment in _LIVE:
        attachment.after_fork()


os.register_at_fork(
    before=guarded("preparing for a fork", _before_fork),
    after_in_parent=guarded("resuming after a fork", _after_fork),
    after_in_child=guarded("resetting in a forked child", _LIVE.clear),
)
