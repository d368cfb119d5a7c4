"""Run a short-lived child to its end without the program that hosts us noticing.

Such a child has its own process group (Ctrl-C does not reach it), none of the program's open
files, no blocked or ignored signals, and its SIGCHLD is taken away before the program's handler
sees it. That last promise holds where the calling thread is the only one that lets SIGCHLD through:
elsewhere a handler may run and find no child to wait for, as every handler of SIGCHLD must expect.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_CATCHABLE = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


@dataclass(frozen=True, slots=True)
class EndedChild:
    """A child that ran; `code` is negative for a signal, None where the program waited for it first."""

    pid: int
    code: int | None


def run_child(argv: Sequence[str], output: Path, timeout_s: float, stdin: int | None = None) -> EndedChild:
    """Run `argv` (an absolute path first) and append its stdout and stderr to `output`.

    It reads from `stdin`, a descriptor of ours, else from nothing. Raises TimeoutError after ending its
    process tree, OSError where it cannot be started.
    """
    with _unheard() as children:
        pid = _spawn(argv, output, stdin)
        children.append(pid)
        try:
            in_time = _await_end(pid, timeout_s)
        except BaseException:
            _end(pid)
            raise
        if not in_time:
            _end(pid)
            raise TimeoutError(f"{argv[0]} did not end within {timeout_s:g} s")
        return EndedChild(pid, _reap(pid))


def _spawn(argv: Sequence[str], output: Path, stdin: int | None) -> int:
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    # Not subprocess: its children keep the calling thread's signal mask, and a sampler that was
    # started by a thread which blocks SIGINT could never be stopped.
    return os.posix_spawn(
        argv[0],
        list(argv),
        os.environ,
        file_actions=[
            nothing if stdin is None else (os.POSIX_SPAWN_DUP2, stdin, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(output), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
            *((os.POSIX_SPAWN_CLOSE, number) for number in _inherited_files()),
        ],
        setpgroup=0,
        setsigmask=(),
        setsigdef=_CATCHABLE,
    )


def _inherited_files() -> list[int]:
    """Open files beyond the standard ones that a child would get: those of C libraries, mostly."""
    numbers = (int(name) for name in os.listdir("/proc/self/fd"))
    return [number for number in numbers if number > 2 and _is_inherited(number)]


def _is_inherited(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:  # closed since it was listed
        return False


def _await_end(pid: int, timeout_s: float) -> bool:
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:  # the program's own waitpid(-1) was faster
        return True
    try:
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        return bool(poller.poll(timeout_s * 1000))
    finally:
        os.close(pidfd)


def _reap(pid: int) -> int | None:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:  # waited for by the program, or SIGCHLD is ignored
        return None


def _end(pid: int) -> None:
    from profkit.process.tree import end_tree  # psutil takes a while to import, and is seldom needed

    end_tree(pid)
    _reap(pid)


@contextlib.contextmanager
def _unheard() -> Iterator[list[int]]:
    """Keep SIGCHLD of the children that the body adds to the list from the program's handler."""
    children: list[int] = []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
        yield children
    finally:
        _forget_signal(children)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _forget_signal(children: Sequence[int]) -> None:
    pending = signal.sigtimedwait((signal.SIGCHLD,), 0)
    # One pending SIGCHLD stands for any number of children: another's may hide behind ours.
    if pending is not None and (pending.si_pid not in children or _another_child_waits()):
        os.kill(os.getpid(), signal.SIGCHLD)


def _another_child_waits() -> bool:
    changes = os.WEXITED | os.WSTOPPED | os.WCONTINUED | os.WNOHANG | os.WNOWAIT
    try:
        return os.waitid(os.P_ALL, 0, changes) is not None
    except ChildProcessError:
        return False
