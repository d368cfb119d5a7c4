"""`python -I -S watchdog.py [--fork] PROGRAM …`: start PROGRAM in its own session, and wait for its end.

Prints the pids of PROGRAM and of itself when PROGRAM runs, and how it ends. With --fork it first becomes
nobody's child, as `setsid --fork` makes what it starts. If somebody stops PROGRAM (SIGSTOP), it is asked to
finish: a sampler that is stopped while it holds another program would hold it for ever. Files that PROGRAM
creates are for its user alone.

Only modules that are built into Python are imported, since they delay each start. No clock is read: a
library that fakes the time (libfaketime) may be preloaded.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` imports enum, which takes milliseconds
import posix
import sys

PREFIX = "profkit-watchdog: "
"""How each line begins that is printed here."""
FORK = "--fork"
STARTED = "started {} under {}"
CANNOT_START = "cannot start: errno {}"
STATUS = "ended with exit status {}"
SIGNAL = "ended by signal {}"
STOPPED = "asked to finish, since it was stopped by signal {}"

UMASK = 0o077

_LOOKS, _PAUSE_S = 10, 0.05
"""PROGRAM may be stopped for half a second: some tools stop programs for moments to slow them down."""
_SET_BY_PYTHON = (_signal.SIGINT, _signal.SIGPIPE, _signal.SIGXFSZ)
"""Signals with other than their defaults: in PROGRAM a handler of SIGINT has to be its own."""
_IGNORED = (_signal.SIGINT, _signal.SIGHUP, _signal.SIGTERM, _signal.SIGQUIT)


def _main(argv: list[str]) -> int:
    if argv[0] == FORK:
        argv = argv[1:]
        if posix.fork():
            return 0
        posix.setsid()
    _close_all_but(0, 1, 2)
    for number in _SET_BY_PYTHON:
        _signal.signal(number, _signal.SIG_DFL)
    pid, errno = _start(argv)
    if errno:
        _print(CANNOT_START.format(errno))
        return 1
    for number in _IGNORED:
        _signal.signal(number, _signal.SIG_IGN)
    _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGCHLD})
    _print(STARTED.format(pid, posix.getpid()))
    _await_end(pid)
    return 0


def _start(argv: list[str]) -> tuple[int, int]:
    """Start PROGRAM, and wait until it runs; its pid, and the error number if it could not be started."""
    reading, writing = posix.pipe2(posix.O_CLOEXEC)
    try:
        pid = posix.fork()
    except OSError as error:
        return 0, error.errno or -1
    if pid == 0:
        _become(argv, writing)
    posix.close(writing)
    failure = posix.read(reading, 16)  # ends with exec
    posix.close(reading)
    return pid, int(failure or 0)


def _become(argv: list[str], report: int) -> None:
    """Become PROGRAM; does not return."""
    try:
        posix.setsid()
        posix.umask(UMASK)
        posix.execv(argv[0], argv)
    except OSError as error:
        posix.write(report, str(error.errno).encode())
    posix._exit(1)


def _await_end(pid: int) -> None:
    """Wait for PROGRAM; if it is stopped for long, ask it to finish; if it is stopped again, kill it."""
    asked = False
    while True:
        status = posix.waitpid(pid, posix.WUNTRACED)[1]
        if posix.WIFEXITED(status):
            return _print(STATUS.format(posix.WEXITSTATUS(status)))
        if posix.WIFSIGNALED(status):
            return _print(SIGNAL.format(posix.WTERMSIG(status)))
        if asked:
            posix.kill(pid, _signal.SIGKILL)
        elif not _goes_on(pid):
            asked = True
            _print(STOPPED.format(posix.WSTOPSIG(status)))
            posix.kill(pid, _signal.SIGINT)
            posix.kill(pid, _signal.SIGCONT)


def _goes_on(pid: int) -> bool:
    """Wait for a stopped child to be continued or to end; False if neither happens for a while."""
    changes = posix.WEXITED | posix.WCONTINUED | posix.WNOHANG | posix.WNOWAIT
    for _ in range(_LOOKS):
        if posix.waitid(posix.P_PID, pid, changes) is not None:
            return True
        _signal.sigtimedwait((_signal.SIGCHLD,), _PAUSE_S)
    return False


def _close_all_but(*kept: int) -> None:
    for number in map(int, posix.listdir("/proc/self/fd")):
        if number not in kept:
            try:
                posix.close(number)
            except OSError:  # of the listing itself
                continue


def _print(line: str) -> None:
    try:
        posix.write(1, f"{PREFIX}{line}\n".encode())
    except OSError:  # the disk is full: whoever started us finds PROGRAM in /proc
        return


if __name__ == "__main__":
    posix._exit(_main(sys.argv[1:]))
