"""Run a command in this process's terminal, as if it had been started in its place.

The command shares the process group, so signals to the whole group, such as those of the terminal, reach it
directly. Those to this process alone are passed on, whoever sent them. A signal does not say to whom it was
sent. So a witness distinguishes them, a process of the same group that does nothing else: what it receives,
all other members have received, too. If this process is killed, the witness kills the command. A stop of the
command stops this process, too, as job control expects.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from resource import RLIMIT_CORE, setrlimit
from threading import Thread, get_native_id
from types import FrameType
from typing import Final, NoReturn

from profkit.errors import ProfkitError
from profkit.process.procfs import is_same_process, state_and_start, status

_OF_TERMINALS = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGCHLD})
_UNTOUCHABLE = frozenset(
    {signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
)
_WITNESSED = signal.valid_signals() - _UNTOUCHABLE - {signal.SIGCHLD}
_POLL_MS: Final = 10
_MOST_POLLS: Final = 200
"""A witness that gets no processor for two seconds says nothing any more."""
_MOST_REPORTS: Final = 4096
_PID_BYTES: Final = 8


class CommandNotStarted(ProfkitError):
    """The command of `profkit run` does not exist or cannot be executed."""

    exit_code = 127  # as of shells

    def __init__(self, command: str, reason: str) -> None:
        self.command, self.reason = command, reason
        super().__init__(f"{command!r} cannot be started: {reason}; give a program's name or path")


def run_command(
    command: Sequence[str], environ: Mapping[str, str], meanwhile: Callable[[], None] | None = None
) -> int:
    """Run a command until it ends; return its exit code, or the negative number of the signal that ended it.

    Call it in the main thread. A thread calls `meanwhile` with all signals blocked and the lowest priority.
    Raises CommandNotStarted.
    """
    with _reaped_children(), _blocked_signals() as previous, ExitStack() as stack:
        try:
            witness = stack.enter_context(witness_of(_WITNESSED))
            pid = os.posix_spawnp(
                command[0], list(command), dict(environ),
                setsigmask=previous, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
            )  # fmt: skip
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise CommandNotStarted(command[0], reason) from error
        witness.guard(pid)
        if meanwhile is not None:
            Thread(target=_at_lowest_priority, args=(meanwhile,), daemon=True).start()
        return os.waitstatus_to_exitcode(_await_end(pid, witness))


def _at_lowest_priority(function: Callable[[], None]) -> None:
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, get_native_id(), 19)
    function()


def end_as(exit_code: int) -> None:
    """End this process by a signal if the code is its negative number, without a core file."""
    if exit_code < 0:
        setrlimit(RLIMIT_CORE, (0, 0))
        if -exit_code != signal.SIGKILL:
            signal.signal(-exit_code, signal.SIG_DFL)
        os.kill(os.getpid(), -exit_code)


@contextmanager
def _reaped_children() -> Iterator[None]:
    """Let ended children wait for `waitpid`, also if the parent of this process ignored SIGCHLD."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, before)


@contextmanager
def _blocked_signals() -> Iterator[set[signal.Signals | int]]:
    """Block all signals that can be passed on; yield the previous mask."""
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _UNTOUCHABLE)
    try:
        yield previous
    finally:
        # The terminal's signals were for the command; any other one ends this process now.
        while signal.sigtimedwait(_OF_TERMINALS, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def _await_end(pid: int, witness: Witness) -> int:
    while True:
        received = signal.sigwaitinfo(signal.valid_signals() - _UNTOUCHABLE)
        if received.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
            if ended and os.WIFSTOPPED(status):
                os.kill(os.getpid(), signal.SIGSTOP)
            elif ended:
                return status
        elif _is_for_command(received.si_signo, pid, witness):
            os.kill(pid, received.si_signo)


def _is_for_command(number: int, pid: int, witness: Witness) -> bool:
    """Return whether the command has not received a signal that this process has."""
    is_in_group = os.getpgid(pid) == os.getpgrp()
    return not (witness.has_received(number) and is_in_group)


class Witness:
    """The witness of this process's group."""

    def __init__(self, pid: int, reports: int, ward: int) -> None:
        self._pid, self._ward = pid, ward
        self._reports = reports
        """Read end of a pipe, non-blocking: one byte for each signal that the witness has received."""
        self._unasked: set[int] = set()
        """Signals that were reported, and not asked for yet."""

    def guard(self, pid: int) -> None:
        """Let the witness kill this child with SIGKILL if this process is killed with it."""
        with suppress(BrokenPipeError):  # someone has killed the witness
            os.write(self._ward, pid.to_bytes(_PID_BYTES, sys.byteorder))

    def has_received(self, number: int) -> bool:
        """Return whether the whole group has received a signal that this process has just received.

        Reports answer once.
        """
        poll = select.poll()
        poll.register(self._reports, select.POLLIN)
        is_idle, is_over = False, False
        for _ in range(_MOST_POLLS):
            if number in self._unasked or is_over:
                break
            if poll.poll(_POLL_MS):
                reports = self._read()
                self._unasked.update(reports)
                is_idle, is_over = False, not reports
            else:  # looked up after a pause: the system signals one process of a group after the other
                is_idle, is_over = _has_nothing_to_do(self._pid, number), is_idle
        found = number in self._unasked
        self._unasked.discard(number)
        return found

    def _read(self) -> bytes:
        try:
            return os.read(self._reports, _MOST_REPORTS)
        except BlockingIOError:
            return b""


def _has_nothing_to_do(pid: int, number: int) -> bool:
    """Return whether a process sleeps or is stopped, and that signal is not pending (proc(5))."""
    fields = status(pid)
    pending = int(fields.get("SigPnd", "0"), 16) | int(fields.get("ShdPnd", "0"), 16)
    return fields.get("State", "S")[0] in "STt" and not pending & 1 << number - 1


@contextmanager
def witness_of(numbers: Collection[int]) -> Iterator[Witness]:
    """Start a witness of these signals; it ends with the body, or with this process.

    They must be blocked: it may be sent some before it is ready. Call it before this process has threads.
    Raises OSError if no process can be started.
    """
    reports, report = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    ward, end = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(end)
        _watch(numbers, report, ward)
    os.close(report)
    os.close(ward)
    try:
        yield Witness(pid, reports, end)
    finally:
        os.kill(pid, signal.SIGKILL)  # it may have been stopped with its group
        os.waitpid(pid, 0)
        os.close(end)
        os.close(reports)


def _watch(numbers: Collection[int], report: int, ward: int) -> NoReturn:
    """Report signals until the pipe `ward` is closed, holding no other file open."""
    try:
        _close_all_but(report, ward)
        for number in numbers:
            signal.signal(number, _go_on)
        signal.set_wakeup_fd(report, warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
        _kill_at_end(ward)
    finally:
        os._exit(0)


def _kill_at_end(ward: int) -> None:
    """Kill the child that is named in the pipe, if it still runs when the pipe is closed."""
    child = int.from_bytes(os.read(ward, _PID_BYTES), sys.byteorder)
    found = state_and_start(child) if child else None
    os.read(ward, 1)
    if found is not None and is_same_process(child, found[1]):
        os.kill(child, signal.SIGKILL)


def _close_all_but(*kept: int) -> None:
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            with suppress(OSError):  # the list's own descriptor
                os.close(int(name))


def _go_on(number: int, frame: FrameType | None) -> None:
    """Handle a signal that was reported by its number (`set_wakeup_fd`)."""
