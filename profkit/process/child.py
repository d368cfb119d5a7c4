"""Run a short-lived child process to its end: invisibly to the host program, or to read what it prints.

An invisible child has its own process group (Ctrl-C does not reach it), none of the program's open files, and
no blocked or ignored signals. Its SIGCHLD is consumed before the program's handler gets it, if no other
thread leaves SIGCHLD unblocked. Otherwise a handler may run and find no child to wait for, as every
SIGCHLD handler must expect.

No descriptor is open while the child runs: the program may close any number (`os.closerange`).
"""

from __future__ import annotations

import contextlib
import os
import posix
import re
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from profkit.errors import ToolMissing
from profkit.originals import REAL
from profkit.process import new_session
from profkit.process.guard import suppressed

_CATCHABLE = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
_PYTHON = re.compile(r"python[\d.]*[a-z]*$", re.IGNORECASE)
_FIRST_PAUSE_S, _PAUSE_GROWTH, _LONGEST_PAUSE_S = 0.0002, 1.1, 0.01
_CAPTURE_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class EndedChild:
    """Result of a child; `code` is negative for a signal, None if the program waited for it first."""

    pid: int
    code: int | None


@dataclass(frozen=True, slots=True)
class Captured:
    """What a command printed, and how it ended."""

    code: int
    """Exit status, or minus the number of the signal that ended it."""
    output: str
    errors: str


def own_python() -> str:
    """Return the path of this interpreter; raises ToolMissing if there is none, as in embedded Python."""
    if not os.access(sys.executable or "", os.X_OK):
        raise ToolMissing(sys.executable or "python", "measuring", "set sys.executable to an interpreter")
    return sys.executable


def plain_python(preferred: str | None = None) -> str | None:
    """Return the path of this interpreter, None if it is another program; `preferred` instead, if given.

    In a frozen or embedding program it is the program itself, which would start again.
    """
    executable = preferred or sys.executable or ""
    return executable if _PYTHON.search(executable) and not hasattr(sys, "frozen") else None


def detaching_command() -> list[str]:
    """Return the words that detach the program after them; setsid of busybox has no --fork."""
    setsid = shutil.which("setsid")
    if setsid is not None and "busybox" not in os.path.realpath(setsid):
        return [setsid, "--fork"]
    return [own_python(), "-I", "-S", new_session.__file__]


def run_child(
    argv: Sequence[str], output: Path, timeout_s: float, stdin: int | None = None,
    environ: Mapping[str, str] | None = None,
) -> EndedChild:  # fmt: skip
    """Run `argv` (an absolute path first) and append its stdout and stderr to `output`.

    `stdin` is a descriptor of this process, by default /dev/null, and `environ` its own.
    Raises TimeoutError after ending the process tree, OSError if the child cannot be started.
    """
    with _unheard() as children:
        pid = _spawn(argv, output, stdin, os.environ if environ is None else environ)
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


def capture(command: Sequence[str], timeout_s: float = _CAPTURE_TIMEOUT_S) -> Captured:
    """Run a command (an absolute path first) to its end, and return what it printed.

    Output is read through pipes, since there may be no folder for files. Raises TimeoutError after ending it
    with all that it has started, and OSError if it cannot be started.
    """
    import subprocess  # slow to import; no profiled program needs it

    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        encoding="utf-8", errors="replace", start_new_session=True,
    ) as process:  # fmt: skip
        try:
            output, errors = process.communicate(timeout=timeout_s)
        except BaseException as error:  # also KeyboardInterrupt, which does not reach the command's session
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise TimeoutError(f"it did not end within {timeout_s:g} s") from error
            raise
    return Captured(process.returncode, output.strip(), errors.strip())


def _spawn(argv: Sequence[str], output: Path, stdin: int | None, environ: Mapping[str, str]) -> int:
    nothing = (posix.POSIX_SPAWN_OPEN, 0, os.devnull, posix.O_RDONLY, 0)
    # Not subprocess: its children inherit the calling thread's signal mask. A sampler started by a thread
    # that blocks SIGINT could not be stopped.
    return posix.posix_spawn(
        argv[0],
        list(argv),
        environ,
        file_actions=[
            nothing if stdin is None else (posix.POSIX_SPAWN_DUP2, stdin, 0),
            (
                *(posix.POSIX_SPAWN_OPEN, 1, str(output)),
                *(posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_NOFOLLOW, 0o600),
            ),
            (posix.POSIX_SPAWN_DUP2, 1, 2),
            *((posix.POSIX_SPAWN_CLOSE, number) for number in _inherited_files()),
        ],
        setpgroup=0,
        setsigmask=(),
        setsigdef=_CATCHABLE,
    )


def _inherited_files() -> list[int]:
    """Return the inheritable descriptors above 2, mostly of C libraries.

    Omits numbers above the limit of open files, which a program may have lowered: the C library refuses
    to start a child with an action that closes one. The watchdog closes them.
    """
    numbers = (int(name) for name in posix.listdir("/proc/self/fd"))
    limit = posix.sysconf("SC_OPEN_MAX")
    return [number for number in numbers if 2 < number < limit and _is_inherited(number)]


def _is_inherited(number: int) -> bool:
    with suppressed(OSError):  # closed since it was listed
        return posix.get_inheritable(number)
    return False


def _await_end(pid: int, timeout_s: float) -> bool:
    """Wait until a child has ended, without reaping it; return whether it ended in time."""
    deadline_s, pause_s = REAL.monotonic() + timeout_s, _FIRST_PAUSE_S
    while not _has_ended(pid):
        left_s = deadline_s - REAL.monotonic()
        if left_s <= 0:
            return False
        REAL.sleep(min(pause_s, left_s))
        pause_s = min(pause_s * _PAUSE_GROWTH, _LONGEST_PAUSE_S)
    return True


def _has_ended(pid: int) -> bool:
    try:
        return posix.waitid(posix.P_PID, pid, posix.WEXITED | posix.WNOHANG | posix.WNOWAIT) is not None
    except ChildProcessError:  # the program's own waitpid(-1) was faster, or SIGCHLD is ignored
        return True


def _reap(pid: int) -> int | None:
    try:
        return posix.waitstatus_to_exitcode(posix.waitpid(pid, 0)[1])
    except ChildProcessError:  # waited for by the program, or SIGCHLD is ignored
        return None


def _end(pid: int) -> None:
    with contextlib.suppress(ImportError):  # psutil can no longer be found, as after chroot
        from profkit.process.tree import end_tree  # slow to import and rarely needed

        end_tree(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        posix.killpg(pid, signal.SIGKILL)
    _reap(pid)


@contextlib.contextmanager
def _unheard() -> Iterator[list[int]]:
    """Hide SIGCHLD of the children that the body adds to the list from the program's handler."""
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
    # One pending SIGCHLD may represent several children, including one of the program's.
    if pending is not None and (pending.si_pid not in children or _another_child_waits()):
        posix.kill(posix.getpid(), signal.SIGCHLD)


def _another_child_waits() -> bool:
    changes = posix.WEXITED | posix.WSTOPPED | posix.WCONTINUED | posix.WNOHANG | posix.WNOWAIT
    try:
        return posix.waitid(posix.P_ALL, 0, changes) is not None
    except ChildProcessError:
        return False
