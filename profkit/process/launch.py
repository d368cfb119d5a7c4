"""Run a command in this process's terminal, as if it had been started in its place.

The command shares the process group, so signals to the whole group, such as those of the terminal, reach it
directly. Those to this process alone are passed on, whoever sent them. If this process is killed, so is the
command. A stop of the command stops this process, too, as job control expects.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from resource import RLIMIT_CORE, setrlimit
from threading import Thread, get_native_id

from profkit.errors import ProfkitError
from profkit.process.witness import Witness, witness_of

_OF_TERMINALS = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGCHLD})
_UNTOUCHABLE = frozenset(
    {signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
)
_WITNESSED = signal.valid_signals() - _UNTOUCHABLE - {signal.SIGCHLD}


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
    """Pass signals on until the command ends; return its wait status."""
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
