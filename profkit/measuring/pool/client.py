"""Client for a zygote and its supervisor: start, commands and end, with time-outs; not thread-safe."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import socket
from collections.abc import Callable, Iterable, Sequence

from profkit.clock import Clock
from profkit.errors import MeasuringError, ZygoteFailed
from profkit.measuring.errors import PythonTooOld
from profkit.measuring.pool.command import Output, ZygoteKind, new_folder, supervisor_message
from profkit.measuring.pool.jobs import ZygoteFacts, how_ended, remove_dumps
from profkit.measuring.pool.launching import POLL_S, Launcher, StopDetector, holders, readable, socket_number
from profkit.measuring.worker.processes import children, descendants, end_stopped, kill
from profkit.measuring.worker.protocol import FORK, Inbox, in_file, send, send_descriptors

LONGEST_POLL_S = 3600.0
"""Maximum time of a poll: poll(2) takes milliseconds as an int."""


class Wakeup:
    """Event for a thread that polls `descriptor` and then calls `clear`; others call `wake`. Close it."""

    def __init__(self) -> None:
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def wake(self) -> None:
        """Make the descriptor readable."""
        os.eventfd_write(self.descriptor, 1)

    def clear(self) -> None:
        """Make it unreadable until the next `wake`."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.descriptor)

    def wait(self, timeout_s: float) -> bool:
        """Wait for the next `wake` and clear it; return whether it came. Gives up after an hour."""
        woken = bool(readable([self.descriptor], min(timeout_s, LONGEST_POLL_S)))
        self.clear()
        return woken

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.descriptor)


_START_S = 600.0
"""Time-out of a start: importing torch under Valgrind takes 14 s on an idle machine."""
_COMMAND_S = 60.0
"""Time-out of a command: more than a supervisor takes to end a tree."""
_MAX_PACKET_BYTES = 1 << 17
_KILL_S = 20.0
OLDEST_PYTHON = (3, 11)
"""Same value as in `worker/__main__.py`."""
STOPPED = "was stopped by a signal (SIGSTOP), and then ended"


class ZygoteGone(Exception):
    """Unrequested end of a zygote and all processes below it; the message says how."""


class Stopped(Exception):
    """Stop of a wait, requested by its caller."""


_LOG = logging.getLogger("profkit")


def never_stop() -> bool:
    """Return False: the condition of a wait that nothing stops."""
    return False


class Zygote:
    """Client of a zygote: started when made, serving once `await_ready` has returned; end it.

    Raises ToolMissing, and ZygoteFailed if nothing can be started.
    """

    def __init__(
        self, kind: ZygoteKind, serial: int, launcher: Launcher, wakeup: Wakeup, clock: Clock
    ) -> None:
        self.folder = new_folder(kind)
        config = in_file(supervisor_message(kind, self.folder))
        self.kind, self.pid, self.facts = kind, 0, ZygoteFacts(serial, "", ())
        self.output = Output()
        self._clock, self._wakeup = clock, wakeup
        self._channel, channel = socket.socketpair()
        self._control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._inbox = Inbox(self._channel)
        self._launcher, self._socket = launcher, socket_number(channel.fileno())
        self._end_reason, self._command_done = "ended with its supervisor", False
        self._failed_itself = False
        """True if it ended without a signal from a user or the kernel: another one would, too."""
        self._stop_detector, self._supervisors = StopDetector(clock), frozenset[int]()
        self.was_stopped = self.child_was_stopped = self.is_silent = False
        self.excess_bytes: int | None = None
        """Memory that the job used when it was ended for exceeding its limit."""
        try:
            with channel, control:
                launcher.launch([channel.fileno(), control.fileno(), self.output.descriptor, config])
        except BaseException as error:
            self.forget()
            if isinstance(error, MeasuringError | OSError):
                raise self.failed(f"cannot be started: {error}", "") from error
            raise
        finally:
            os.close(config)

    def await_ready(self, stop: Callable[[], bool]) -> None:
        """Wait until it serves; raises ZygoteFailed, Stopped, and ZygoteGone if another may start."""
        deadline_s = self._clock.monotonic_s() + _START_S
        try:
            while not self.wait([self._control.fileno()], deadline_s, stop):
                pass
            message = json.loads(self.packet())
            if "too_old" in message:
                oldest, words = ".".join(map(str, OLDEST_PYTHON)), " ".join(self.kind.command)
                raise PythonTooOld(str(self.kind), words, message["too_old"], oldest)
            if not message["ready"]:
                raise self.failed("cannot import its modules", message["trace"])
            self._run_command("settle")
        except TimeoutError:
            raise self.failed(f"was not ready within {_START_S:g} s") from None
        except ZygoteGone as gone:
            if self._failed_itself and not self.was_stopped:
                raise self.failed(f"did not start: its process {gone}") from None
            raise
        packages = tuple((str(name), str(version)) for name, version in message["packages"])
        self.pid = message["pid"]
        self.facts = ZygoteFacts(self.facts.serial, message["python"], packages)
        remove_dumps(self.folder)  # of its rehearsal

    def failed(self, detail: str, output: str | None = None) -> ZygoteFailed:
        """Return the error for a failure of this zygote, by default with its output so far."""
        fix = f"check that {' '.join(self.kind.command)!r} starts a Python that can"
        return ZygoteFailed(str(self.kind), detail, self.output.text() if output is None else output, fix)

    def begin(self, descriptors: Sequence[int], limit_bytes: int) -> None:
        """Fork a child, pass it the descriptors, and limit the memory of its process tree."""
        self.child_was_stopped, self.excess_bytes = False, None
        self._command("limit", bytes=limit_bytes)
        try:
            self._control.send(FORK, socket.MSG_NOSIGNAL)
            send_descriptors(self._control, descriptors)
        except OSError:
            self._await_end()

    @property
    def control(self) -> int:
        """Descriptor that is readable when the zygote has sent a packet."""
        return self._control.fileno()

    def packet(self) -> bytes:
        """Receive a packet of the zygote; raises ZygoteGone."""
        try:
            packet = self._control.recv(_MAX_PACKET_BYTES)
        except ConnectionResetError:
            packet = b""
        if not packet:
            self._await_end()
        return packet

    def wait(
        self,
        others: Iterable[int],
        deadline_s: float,
        stop: Callable[[], bool] = never_stop,
        pause_s: float = POLL_S,
    ) -> frozenset[int]:
        """Wait for a reply, for `pause_s` at most; return which of `others` are readable, perhaps none.

        Raises TimeoutError at the deadline, Stopped if `stop` returns True, and ZygoteGone. Helpers that stay
        stopped are killed, which ends the wait for them.
        """
        pause_end_s = self._clock.monotonic_s() + pause_s
        if pause_end_s >= deadline_s:
            return self.await_event(others, deadline_s, stop)
        with contextlib.suppress(TimeoutError):
            return self.await_event(others, pause_end_s, stop)
        self._end_stopped(self._stop_detector.stays_stopped(self._awaited_processes))
        return frozenset()

    def await_event(
        self, others: Iterable[int], deadline_s: float, stop: Callable[[], bool] = never_stop
    ) -> frozenset[int]:
        """Wait in the same way for events that may never come; stopped helpers do not matter."""
        left_s = min(max(0.0, deadline_s - self._clock.monotonic_s()), LONGEST_POLL_S)
        ready = readable((self._wakeup.descriptor, self._channel.fileno(), *others), left_s)
        if self._wakeup.descriptor in ready:
            self._wakeup.clear()
        if stop():
            raise Stopped
        if self._channel.fileno() in ready:
            self._receive()
        if not ready and self._clock.monotonic_s() >= deadline_s:
            raise TimeoutError
        return frozenset(ready.intersection(others))

    def _awaited_processes(self) -> set[int]:
        """Return the processes to wait for: all while it starts, then supervisor, zygote and its child.

        Processes that jobs start are excluded: jobs may stop them.
        """
        if not self.pid:
            supervisors = holders(self._socket)
            return self._launcher.processes().union(supervisors, *map(descendants, supervisors))
        if not self._supervisors:
            self._supervisors = frozenset(holders(self._socket))
        return {self.pid, *self._supervisors, *children(self.pid)}

    def _end_stopped(self, stopped: frozenset[int]) -> None:
        """End stopped processes that are still ours: process ids are reused."""
        if not stopped:
            return
        launchers = self._launcher.processes()
        supervisors = holders(self._socket) - launchers
        below = set[int]().union(*map(descendants, supervisors))
        for pid in stopped & below:
            if self.pid and pid != self.pid:
                self.child_was_stopped = True
            else:
                self._note_stopped()
            kill(pid)
        for pid in stopped & supervisors:
            self._note_stopped()
            end_stopped(pid, _KILL_S)
        if stopped & launchers:
            self._note_stopped()
            self._launcher.end()

    def _note_stopped(self) -> None:
        self.was_stopped, self._end_reason = True, STOPPED
        _LOG.debug("the zygote %s %s", self.kind, STOPPED)

    def _receive(self) -> None:
        for message in self._inbox.read():
            if "ended" in message and not self.was_stopped:
                status = message["ended"]  # None if it could not be started
                self._failed_itself = status is None or not os.WIFSIGNALED(status)
                if status is not None:
                    self._end_reason = how_ended(status)
            if "memory" in message:
                self.excess_bytes = message["memory"]
            if "done" in message:
                self._command_done = True
                if not message["done"]:
                    _LOG.warning("processes started by jobs of the zygote %s did not end", self.kind)
        if self._inbox.ended:
            raise ZygoteGone(self._end_reason)

    def sweep(self) -> None:
        """End all processes below the zygote and wait for that; raises ZygoteGone, TimeoutError."""
        self._run_command("sweep")

    def dump(self) -> None:
        """Make its child print the tracebacks of its threads; return before it has."""
        self._command("dump")

    def end(self) -> None:
        """End it and all processes below it, wait until they are gone, and free its resources."""
        with contextlib.suppress(ZygoteGone, TimeoutError):
            self._command("end")
            self._await_end()
        self.forget()
        if self.folder is not None:  # the supervisor was killed before it could
            shutil.rmtree(self.folder, ignore_errors=True)

    def forget(self) -> None:
        """Close our descriptors, as needed in a forked process, which has copies."""
        self._channel.close()
        self._control.close()
        self.output.close()

    def _run_command(self, what: str) -> None:
        self._command_done = False
        self._command(what)
        deadline_s = self._clock.monotonic_s() + _COMMAND_S
        while not self._command_done:
            self.wait((), deadline_s)

    def _command(self, what: str, **more: int) -> None:
        try:
            send(self._channel, {"do": what, **more})
        except OSError:
            self._await_end()

    def _await_end(self) -> None:
        """Wait for the supervisor's end; raises ZygoteGone then, TimeoutError if it does not come."""
        deadline_s = self._clock.monotonic_s() + _COMMAND_S
        while True:
            self.wait((), deadline_s)
