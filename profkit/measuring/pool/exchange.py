"""Exchange of one job with a zygote, from the fork to the reply, the time-out or the end."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Mapping

from profkit.clock import Clock
from profkit.errors import WorkerDied, WorkerError, WorkerFailed, WorkerTimeout
from profkit.measuring.errors import MemoryExceeded
from profkit.measuring.pool.client import STOPPED, Stopped, Zygote, ZygoteGone, never_stop
from profkit.measuring.pool.command import Output, changes_of, dump_prefix, without_own_frames
from profkit.measuring.pool.jobs import (
    Dump,
    Job,
    Reply,
    how_ended,
    is_own_end,
    parse_ahead,
    read_dumps,
    remove_dumps,
)
from profkit.measuring.pool.launching import POLL_S, readable
from profkit.measuring.worker.protocol import Inbox, Message, in_file

_STATUS = struct.Struct(">i")
_END_REPORT_S = 5.0
"""Time for a zygote to report a child's end, once the supervisor has ended it."""
_SHORTEST_FORK_S, _LONGEST_FORK_S = 2.0, 20.0
"""Limits of a fork's time-out, otherwise the job's: forks take long on busy machines, too."""
_BEGIN_REPORT_S = 1.0
_MOST_CHUNKS = 1000
"""More than a socket holds; a process that a job left may go on writing."""
_FAST_OUTPUT_S = 0.05
"""Interval of checks of output that grows fast."""


def run_job(zygote: Zygote, job: Job, stop: Callable[[], bool], clock: Clock) -> Reply:
    """Run a job; all processes that it started are gone when this returns or raises.

    Raises WorkerFailed, WorkerDied, WorkerTimeout, MemoryExceeded; ZygoteGone and Stopped.
    """
    output = Output()
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    try:
        with ours:
            with theirs:
                _send_job(zygote, job, theirs.fileno(), output)
            return JobExchange(zygote, job, ours, output, clock).result(stop)
    finally:
        output.close()
        remove_dumps(zygote.folder)


def _send_job(zygote: Zygote, job: Job, channel: int, output: Output) -> None:
    env = changes_of(zygote.kind, job.message["env"])
    message = in_file({**job.message, "dump_prefix": dump_prefix(zygote.folder), "env": env})
    files = [descriptor for descriptor in (job.payload, job.result) if descriptor is not None]
    try:
        zygote.begin([channel, output.descriptor, message, *files], job.limit_bytes)
    finally:
        os.close(message)


class JobExchange:
    """A job that has been sent, until its reply."""

    def __init__(
        self, zygote: Zygote, job: Job, channel: socket.socket, output: Output, clock: Clock
    ) -> None:
        self._zygote, self._job, self._output, self._clock = zygote, job, output, clock
        self._channel, self._inbox = channel, Inbox(channel)
        self._reply: Message | None = None
        self._begun = self._forked = False
        self._status: int | None = None
        self._poll_s = POLL_S
        self._dumps: Mapping[str, Dump] = {}
        self._missing_dump: str | None = None

    def result(self, stop: Callable[[], bool]) -> Reply:
        """Wait for the job's end; see `run_job`."""
        try:
            return self._result(stop)
        except ZygoteGone as gone:
            if self._job.repeatable or not self._has_begun():
                raise
            how = f"was ended with its zygote, which {gone}"
            raise WorkerDied(self._job.label, how, self._output.text()) from None

    def _result(self, stop: Callable[[], bool]) -> Reply:
        try:
            self._await_fork(stop)
            self._await_end(self._clock.monotonic_s() + self._job.timeout_s, stop)
        except TimeoutError:
            raise self._timed_out() from None
        except Stopped:
            self._end_early()
            raise
        self._read_rest()
        self._read_dumps()
        self._zygote.sweep()
        return self._checked_reply()

    def _await_fork(self, stop: Callable[[], bool]) -> None:
        """Wait for the child's pid; raises ZygoteGone if the zygote sends nothing."""
        allowed_s = min(max(self._job.timeout_s, _SHORTEST_FORK_S), _LONGEST_FORK_S)
        deadline_s = self._clock.monotonic_s() + allowed_s
        try:
            self._await_number(deadline_s, stop)
        except TimeoutError:
            raise ZygoteGone(f"did not fork a worker within {allowed_s:g} s") from None

    def _await_number(self, deadline_s: float, stop: Callable[[], bool]) -> None:
        while not self._zygote.wait([self._zygote.control], deadline_s, stop):
            pass
        self._zygote.packet()
        self._forked = True

    def _await_end(self, deadline_s: float, stop: Callable[[], bool]) -> None:
        while self._status is None:
            listened = [self._zygote.control]
            if not self._inbox.ended:
                listened.append(self._channel.fileno())
            ready = self._zygote.wait(listened, deadline_s, stop, self._poll_s)
            if not ready:  # so that output does not fill the memory
                self._poll_s = _FAST_OUTPUT_S if self._output.shrink() else POLL_S
            if self._channel.fileno() in ready:
                self._read_reply()
                self._read_dumps()  # while the child's memory is freed
            if self._zygote.control in ready:
                (self._status,) = _STATUS.unpack(self._zygote.packet())

    def _read_reply(self) -> None:
        for message in self._inbox.read():
            if "begun" in message:
                self._begun = True
            else:
                self._reply = message

    def _read_rest(self) -> None:
        """Read what the child sent before it ended: a large reply takes several chunks."""
        for _ in range(_MOST_CHUNKS):
            if self._reply is not None or self._inbox.ended or not readable([self._channel.fileno()], 0):
                return
            self._read_reply()

    def _has_begun(self) -> bool:
        """Return whether the job's own code may have run; its process is gone, or about to be."""
        while not self._begun and not self._inbox.ended:
            if not readable([self._channel.fileno()], _BEGIN_REPORT_S):
                return True  # a process that it started still runs
            self._read_reply()
        return self._begun

    def _timed_out(self) -> WorkerError:
        """End a job that ran out of time, and return the error; raises ZygoteGone if a helper was stopped."""
        job, zygote = self._job, self._zygote
        zygote.dump()
        self._end_early()
        if zygote.was_stopped:
            raise ZygoteGone(STOPPED)
        if zygote.excess_bytes is not None:
            return self._memory_exceeded(zygote.excess_bytes)
        return WorkerTimeout(job.label, job.timeout_s, 1, without_own_frames(self._output.text()))

    def _end_early(self) -> None:
        """End the child and its descendants; a zygote that ends meanwhile has ended them as well."""
        try:
            if not self._forked:  # else it would be forked afterwards
                self._await_number(self._clock.monotonic_s() + _END_REPORT_S, never_stop)
            self._zygote.sweep()
            self._await_end(self._clock.monotonic_s() + _END_REPORT_S, never_stop)
        except ZygoteGone:
            return
        except TimeoutError:
            self._zygote.is_silent = True

    def _checked_reply(self) -> Reply:
        job, reply, status = self._job, self._reply, self._status
        assert status is not None
        output = self._output.text()
        if reply is None:
            raise self._died(status, output)
        if not reply["ok"] and job.result is None:
            raise WorkerFailed(job.label, reply["trace"], output)
        if not is_own_end(status):
            raise WorkerDied(job.label, f"replied, and then {how_ended(status)}", output)
        if self._missing_dump is not None:
            raise WorkerDied(job.label, f"did not write the dump {self._missing_dump}", output)
        return Reply(reply, output, self._zygote.facts, self._dumps)

    def _died(self, status: int, output: str) -> WorkerError:
        if self._zygote.excess_bytes is not None:
            return self._memory_exceeded(self._zygote.excess_bytes)
        how = STOPPED if self._zygote.child_was_stopped else how_ended(status)
        return WorkerDied(self._job.label, how, output)

    def _memory_exceeded(self, used_bytes: int) -> MemoryExceeded:
        job, output = self._job, without_own_frames(self._output.text())
        default = job.message.get("memory_limit_bytes") is None
        return MemoryExceeded(job.label, used_bytes, job.limit_bytes, default=default, output=output)

    def _read_dumps(self) -> None:
        """Read the dumps that the reply names, once it is there: the child wrote them before."""
        if self._reply is None or not self._reply["ok"] or self._dumps:
            return
        try:
            self._dumps = read_dumps(self._zygote.folder, self._reply)
        except FileNotFoundError as error:
            self._missing_dump = error.filename
        parse_ahead(self._dumps)
