"""One job on one zygote, from the fork to the answer, the time-out or the end."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Mapping

from profkit.clock import Clock
from profkit.errors import WorkerDied, WorkerFailed, WorkerTimeout
from profkit.measuring.pool.command import changes_of, dump_prefix
from profkit.measuring.pool.dumps import Dump, parse_ahead, read_dumps, remove_dumps
from profkit.measuring.pool.endings import how_ended, is_own_end
from profkit.measuring.pool.jobs import Job, Reply
from profkit.measuring.pool.output import Output
from profkit.measuring.pool.zygote import STOPPED, Stopped, Zygote, ZygoteGone
from profkit.measuring.worker.messages import Inbox, Message, in_file

_STATUS = struct.Struct(">i")
_LAST_WORD_S = 60.0
"""Longer than a zygote takes to wait for a child that is dead."""


def converse(zygote: Zygote, job: Job, stop: Callable[[], bool], clock: Clock) -> Reply:
    """Do a job; everything that it started is gone when this returns or raises.

    Raises WorkerFailed, WorkerDied, WorkerTimeout; ZygoteGone and Stopped.
    """
    output = Output()
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    try:
        with ours:
            with theirs:
                _hand_over(zygote, job, theirs.fileno(), output)
            return _Conversation(zygote, job, ours, output, clock).result(stop)
    finally:
        output.close()
        remove_dumps(zygote.folder)


def _hand_over(zygote: Zygote, job: Job, channel: int, output: Output) -> None:
    own = {"dump_prefix": dump_prefix(zygote.folder), "env": changes_of(zygote.kind, job.message["env"])}
    message = in_file({**job.message, **own})
    parcel = [] if job.parcel is None else [job.parcel]
    try:
        zygote.begin([channel, output.descriptor, message, *parcel])
    finally:
        os.close(message)


class _Conversation:
    def __init__(
        self, zygote: Zygote, job: Job, channel: socket.socket, output: Output, clock: Clock
    ) -> None:
        self._zygote, self._job, self._output, self._clock = zygote, job, output, clock
        self._channel, self._inbox = channel, Inbox(channel)
        self._answer: Message | None = None
        self._status: int | None = None
        self._dumps: Mapping[str, Dump] = {}
        self._lost: str | None = None

    def result(self, stop: Callable[[], bool]) -> Reply:
        try:
            self._await_end(self._clock.monotonic_s() + self._job.timeout_s, stop)
        except TimeoutError:
            self._end_early()
            if self._zygote.was_stopped:  # the time was not the job's
                raise ZygoteGone(STOPPED) from None
            raise WorkerTimeout(self._job.label, self._job.timeout_s, 1, self._output.text()) from None
        except Stopped:
            self._end_early()
            raise
        self._read_answer()
        self._read_dumps()
        self._zygote.sweep()
        return self._judged()

    def _await_end(self, deadline_s: float, stop: Callable[[], bool]) -> None:
        while self._status is None:
            listened = [self._zygote.control]
            if not self._inbox.ended:
                listened.append(self._channel.fileno())
            ready = self._zygote.wait(listened, deadline_s, stop)  # returns once a second at least
            if not ready:
                self._output.shrink()  # lest it fill the memory
            if self._channel.fileno() in ready:
                self._read_answer()
                self._read_dumps()  # while the child's memory is given back
            if self._zygote.control in ready:
                (self._status,) = _STATUS.unpack(self._zygote.packet())

    def _read_answer(self) -> None:
        for message in self._inbox.read():
            self._answer = message

    def _end_early(self) -> None:
        """End the child and what it started; a zygote that ends meanwhile has ended them as well."""
        try:
            self._zygote.sweep()
            self._await_end(self._clock.monotonic_s() + _LAST_WORD_S, lambda: False)
        except ZygoteGone:
            return

    def _judged(self) -> Reply:
        job, answer, status = self._job, self._answer, self._status
        assert status is not None
        output = self._output.text()
        if answer is None:
            how = STOPPED if self._zygote.child_was_stopped else how_ended(status)
            raise WorkerDied(job.label, how, output)
        if not answer["ok"]:
            raise WorkerFailed(job.label, answer["trace"], output)
        if not is_own_end(status):
            raise WorkerDied(job.label, f"answered, and then {how_ended(status)}", output)
        if self._lost is not None:
            raise WorkerDied(job.label, f"left no dump {self._lost}", output)
        return Reply(answer, output, self._zygote.facts, self._dumps)

    def _read_dumps(self) -> None:
        """Read what the answer names, once it is there: the child wrote its dumps before."""
        if self._answer is None or not self._answer["ok"] or self._dumps or self._zygote.folder is None:
            return
        try:
            self._dumps = read_dumps(self._zygote.folder, self._answer)
        except FileNotFoundError as error:
            self._lost = error.filename
        parse_ahead(self._dumps)
