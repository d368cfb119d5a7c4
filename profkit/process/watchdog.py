"""Watchdog of a sampler: ends it if it would hold the profiled process stopped forever.

    python -I -S watchdog.py [--fork] [--folder=FOLDER] [--target=PID]
        [--rounds=JOURNAL --helper=FOLDER [--stops] [--children]] PROGRAM …

Starts PROGRAM and waits for its end. Prints the pids of PROGRAM and of itself when PROGRAM runs, and how it
ends. With --fork it first orphans itself, as `setsid --fork` does. PROGRAM's files are private to its user.

With --folder, paths below FOLDER become relative to it, if nobody else can exchange what is in it: while
PROGRAM runs, someone could exchange a folder above it.

PROGRAM may briefly stop process PID, as samplers do (ptrace(2)). The watchdog interrupts it if it would
hold PID forever: if PROGRAM itself is stopped (SIGSTOP), or if PID is killed while stopped. In that case
the tracer must release it, which py-spy 0.4 does not do.

With --rounds, the module `rounds` in FOLDER writes the states of PID's threads in each of PROGRAM's rounds to
JOURNAL, and PROGRAM logs the rounds that fail.

Imports only modules that are built into Python before PROGRAM runs, since imports delay each start. Reads no
clock: a library that fakes the time (libfaketime) may be preloaded.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` imports enum, which takes milliseconds
import posix
import sys

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from typing import Protocol

    class Observer(Protocol):
        """Observer of rounds: `Rounds` of the helper."""

        descriptor: int

        def take(self) -> None:
            """Look at the threads if rounds have begun."""

        def write(self) -> None:
            """Write what is not written yet."""


PREFIX = "profkit-watchdog: "
"""Prefix of each printed line."""
FORK, FOLDER = "--fork", "--folder="
TARGET, ROUNDS, HELPER = "--target=", "--rounds=", "--helper="
STOPS, CHILDREN = "--stops", "--children"
STARTED = "started {} under {}"
CANNOT_START = "cannot start: errno {}"
STATUS = "ended with exit status {}"
SIGNAL = "ended by signal {}"
STOPPED = "interrupted, because it was stopped by signal {}"
HELD = "interrupted, because it held process {}"
UNOBSERVED = "cannot observe rounds: "

UMASK = 0o077

_OF_OTHERS, _WRITABLE = 0o1002, 0o002
"""Bits of a mode, and their values if others can exchange files in a folder: no sticky bit (inode(7))."""
_REFUSED = 1
"""EPERM."""
_STOP_POLLS, _PAUSE_S = 10, 0.05
"""Checks and pauses, half a second, before a stop is final: some tools stop programs to slow them down."""
_POLL_S = 0.5
"""Time between two checks of the target."""
_MOST_ROUNDS = 50
"""Rounds that are observed between two checks."""
_LOGGING = {b"RUST_LOG": b"py_spy=warn"}
"""Variable by which py-spy logs the rounds that fail, which it only counts otherwise."""
_KILLED_POLLS, _HELD_POLLS = 3, 40
"""Maximum number of checks in the same stop, for a killed target and for any other.

The first native sample of a large program may take seconds.
"""
_KILL = 1 << (_signal.SIGKILL - 1)
_SET_BY_PYTHON = (_signal.SIGINT, _signal.SIGPIPE, _signal.SIGXFSZ)
"""Signals that Python handles or ignores, reset to defaults: a SIGINT handler in PROGRAM must be its own."""
_IGNORED = (_signal.SIGINT, _signal.SIGHUP, _signal.SIGTERM, _signal.SIGQUIT)


def _main(argv: list[str]) -> int:
    if argv[0] == FORK:
        argv = argv[1:]
        if posix.fork():
            return 0
        posix.setsid()
    options: dict[str, str] = {}
    while argv[0].startswith("--"):
        name, equals, value = argv.pop(0).partition("=")
        options[name + equals] = value
    if FOLDER in options:
        errno = _enter(options[FOLDER])
        if errno:
            _print(CANNOT_START.format(errno))
            return 1
        above = options[FOLDER].rpartition("/")[0]
        argv = [_relative(word, options[FOLDER], above) for word in argv]
        options = {name: _relative(value, options[FOLDER], above) for name, value in options.items()}
    target = int(options.get(TARGET, 0))
    _close_all_but(0, 1, 2)
    for number in _SET_BY_PYTHON:
        _signal.signal(number, _signal.SIG_DFL)
    # Before PROGRAM runs, which may find its target at once: without a watchdog, it might hold it forever.
    inherited = {number: _signal.signal(number, _signal.SIG_IGN) for number in _IGNORED}
    pid, errno = _start(argv, inherited, logs_errors=ROUNDS in options)
    if errno:
        _print(CANNOT_START.format(errno))
        return 1
    _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGCHLD})
    _print(STARTED.format(pid, posix.getpid()))
    _await_end(pid, target, _Pauses(pid, options))
    return 0


def _enter(folder: str) -> int:
    """Make a folder the current one if only this user can change it; return an error number, or 0."""
    flags = posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC | posix.O_NOFOLLOW
    try:
        descriptor = posix.open(folder, flags)
        posix.chdir(descriptor)
        posix.close(descriptor)
        own, above, user = posix.stat("."), posix.stat(".."), posix.geteuid()
    except OSError as error:
        return error.errno or -1
    is_safe = own.st_uid == user and above.st_uid in (0, user)
    return 0 if is_safe and above.st_mode & _OF_OTHERS != _WRITABLE else _REFUSED


def _relative(word: str, folder: str, above: str) -> str:
    """Return a path in the current folder, of this name before, as a relative one that has its name."""
    return f"..{word.removeprefix(above)}" if word.startswith(f"{folder}/") else word


def _start(argv: list[str], handlers: dict[int, int], *, logs_errors: bool) -> tuple[int, int]:
    """Start PROGRAM and wait until it runs; return its pid, and the error number if the start failed."""
    reading, writing = posix.pipe2(posix.O_CLOEXEC)
    try:
        pid = posix.fork()
    except OSError as error:
        return 0, error.errno or -1
    if pid == 0:
        _become(argv, {**posix.environ, **(_LOGGING if logs_errors else {})}, handlers, writing)
    posix.close(writing)
    failure = posix.read(reading, 16)  # ends with exec
    posix.close(reading)
    return pid, int(failure or 0)


def _become(argv: list[str], environment: dict[bytes, bytes], handlers: dict[int, int], report: int) -> None:
    """Become PROGRAM with these handlers of signals; does not return."""
    try:
        for number, handler in handlers.items():
            _signal.signal(number, handler)
        posix.setsid()
        posix.umask(UMASK)
        posix.execve(argv[0], argv, environment)
    except OSError as error:
        posix.write(report, str(error.errno).encode())
    posix._exit(1)


class _Pauses:
    """Pauses between two checks of PROGRAM, in which its rounds are observed if that is wanted and works."""

    def __init__(self, pid: int, options: dict[str, str]) -> None:
        self._observer: Observer | None = None
        if ROUNDS not in options:
            return
        package = type(sys)("_profkit_sampler")
        package.__path__ = [options[HELPER]]
        sys.modules[package.__name__] = package
        try:
            module = __import__(f"{package.__name__}.rounds", fromlist=["Rounds"])
            import select

            self._ready = select.poll()
            self._ready.register(posix.pidfd_open(pid), select.POLLIN)  # readable when PROGRAM has ended
            self._observer = module.Rounds(
                int(options[TARGET]), options[ROUNDS], stops=STOPS in options, children=CHILDREN in options
            )
            self._ready.register(self._observer.descriptor, select.POLLIN)
        except (ImportError, OSError) as error:
            self._give_up(error)

    def pause(self) -> None:
        """Wait until PROGRAM may have changed, or for some time."""
        if self._observer is None:
            _signal.sigtimedwait((_signal.SIGCHLD,), _POLL_S)
            return
        for _ in range(_MOST_ROUNDS):
            found = self._ready.poll(_POLL_S * 1000)
            if [descriptor for descriptor, _ in found] != [self._observer.descriptor]:
                return
            try:
                self._observer.take()
            except OSError as error:  # the disk is full
                self._give_up(error)
                return

    def end(self) -> None:
        """Write what has been observed."""
        if self._observer is not None:
            try:
                self._observer.write()
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._observer = None
        _print(f"{UNOBSERVED}{error}")


def _await_end(pid: int, target: int, pauses: _Pauses) -> None:
    """Wait for PROGRAM; if it would hold its target forever, ask it to finish, and then kill it."""
    interrupted, last, polls = False, "", 0
    while True:
        changed, status = posix.waitpid(pid, posix.WUNTRACED | (posix.WNOHANG if target else 0))
        if not changed:
            stop, most = _stop_of(target, pid)
            polls = polls + 1 if stop and stop == last else 0
            last = stop
            if polls < most:
                pauses.pause()
                continue
            reason, polls = HELD.format(target), 0
        elif posix.WIFEXITED(status):
            pauses.end()
            return _print(STATUS.format(posix.WEXITSTATUS(status)))
        elif posix.WIFSIGNALED(status):
            pauses.end()
            return _print(SIGNAL.format(posix.WTERMSIG(status)))
        elif not interrupted and _continues(pid):
            continue
        else:
            reason = STOPPED.format(posix.WSTOPSIG(status))
        _end(pid, reason, interrupted)
        interrupted = True


def _end(pid: int, reason: str, interrupted: bool) -> None:
    if interrupted:
        posix.kill(pid, _signal.SIGKILL)
        return
    _print(reason)
    posix.kill(pid, _signal.SIGINT)
    posix.kill(pid, _signal.SIGCONT)


def _stop_of(target: int, tracer: int) -> tuple[str, int]:
    """Return an identifier of the stop in which the tracer holds its target, and its maximum checks.

    The identifier is empty if there is no such stop. The kernel counts each stop as a context switch
    (proc(5), /proc/PID/status).
    """
    fields = _status(target)
    held = fields.get("State", "").startswith("t") and _exists(f"/proc/{tracer}/task/{fields['TracerPid']}")
    if not held:
        return "", _HELD_POLLS
    killed = (int(fields["SigPnd"], 16) | int(fields["ShdPnd"], 16)) & _KILL
    switches = fields["voluntary_ctxt_switches"] + " " + fields["nonvoluntary_ctxt_switches"]
    return switches, _KILLED_POLLS if killed else _HELD_POLLS


def _status(pid: int) -> dict[str, str]:
    """Return the fields of /proc/PID/status; empty if there is no such process."""
    try:
        descriptor = posix.open(f"/proc/{pid}/status", posix.O_RDONLY)
    except OSError:
        return {}
    try:
        lines = posix.read(descriptor, 1 << 16).decode("utf-8", "replace").splitlines()
    except OSError:
        return {}
    finally:
        posix.close(descriptor)
    fields = (line.partition(":\t") for line in lines)
    return {name: value for name, _, value in fields}


def _exists(path: str) -> bool:
    try:
        posix.stat(path)
    except OSError:
        return False
    return True


def _continues(pid: int) -> bool:
    changes = posix.WEXITED | posix.WCONTINUED | posix.WNOHANG | posix.WNOWAIT
    for _ in range(_STOP_POLLS):
        if posix.waitid(posix.P_PID, pid, changes) is not None:
            return True
        _signal.sigtimedwait((_signal.SIGCHLD,), _PAUSE_S)
    return False


def _close_all_but(*kept: int) -> None:
    for number in map(int, posix.listdir("/proc/self/fd")):
        if number not in kept:
            try:
                posix.close(number)
            except OSError:  # the descriptor of the listing itself
                continue


def _print(line: str) -> None:
    try:
        posix.write(1, f"{PREFIX}{line}\n".encode())
    except OSError:  # the disk is full: the starting process finds PROGRAM in /proc
        return


if __name__ == "__main__":
    posix._exit(_main(sys.argv[1:]))
