"""Programs that are no children of this process: start one and find its pid, watch it, and signal it.

It is invisible to `os.wait()`, to `waitpid(-1)` and in the process tree. (If this process is init of a
container, or a subreaper, the kernel makes every orphan its child; `watch` reaps it then.) The program's
parent is `watchdog.py`, which reports its pid and its end. If there is no Python to run that,
`setsid --fork` starts the program, and its pid is looked up in /proc.
"""

from __future__ import annotations

import contextlib
import os
import posix
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.process import procfs, watchdog
from profkit.process.child import plain_python, run_child
from profkit.process.guard import reraise_signal_error, suppressed

_NEARBY = 64
_RESERVED_PIDS = 300
"""First pid that the kernel assigns after the largest one (RESERVED_PIDS in kernel/pid.c)."""
_PAUSE_S, _WATCH_PAUSE_S = 0.0002, 0.002
_SEARCH_S = 1.0
"""Maximum time for which a process has no arguments: during exec, on a machine under load."""
_REPORT_PAUSE_S, _QUIET_S = 0.0005, 0.1
"""Pause between checks for a report, and time without one after which /proc is searched for a watchdog."""
_LAST_SCANS, _LAST_PAUSE_S = 10, 0.002
"""Scans and pauses that together last longer than a launcher takes to start the program."""
_WATCHDOG = watchdog.__file__
_STARTED = re.compile(re.escape(watchdog.PREFIX) + watchdog.STARTED.format(r"(\d+)", r"(\d+)"))
_CANNOT_START = re.compile(re.escape(watchdog.PREFIX) + watchdog.CANNOT_START.format(r"(\d+)"))


@dataclass(frozen=True, slots=True)
class Detached:
    """Started program, and its watchdog if it has one."""

    pid: int
    watchdog_pid: int | None


def start_detached(
    argv: Sequence[str], mark: str, log: Path, clock: Clock, timeout_s: float, options: tuple[str, ...] = ()
) -> Detached | None:
    """Start `argv` (an absolute path first) in its own session; return None if it has already ended.

    With a watchdog, files that the program creates are readable by its user only. `mark` is an argument
    that no other process has: an output path, which the watchdog may make relative.
    stdout, stderr and the watchdog's reports are appended to `log`. `options` are the watchdog's. The pid is
    that of the program itself, after its exec.
    Raises OSError if it cannot be started, TimeoutError at the deadline, and then leaves nothing running.
    """
    if mark not in argv:  # a slow start would seem to have failed, and the program be started again
        raise ValueError(f"{mark!r} is not an argument of the program")
    deadline_s = clock.monotonic_s() + timeout_s
    try:
        return _start(argv, os.fsencode(mark), log, clock, deadline_s, options)
    except BaseException:
        kill_marked(mark, clock)
        raise


def kill_marked(mark: str, clock: Clock) -> None:
    """Kill a program that `start_detached` started, or is still starting, without knowing its pid."""
    for _ in range(_LAST_SCANS):
        for pid in _marked(os.fsencode(mark)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                posix.kill(pid, signal.SIGKILL)
        clock.sleep(_LAST_PAUSE_S)


def _start(
    argv: Sequence[str], mark: bytes, log: Path, clock: Clock, deadline_s: float, options: tuple[str, ...]
) -> Detached | None:
    refusals: list[OSError] = []
    for launcher in _launchers(options):
        before = log_size(log)
        try:
            launched = run_child([*launcher, *argv], log, deadline_s - clock.monotonic_s())
        except (FileNotFoundError, PermissionError) as error:  # after chroot, or a change of user
            refusals.append(error)
            continue
        if launched.code not in (0, None):
            continue
        if _WATCHDOG not in launcher:
            return _search(launched.pid, mark, clock, partial(_has_grown, log, before))
        started = _await_report(partial(_reported, log, before, argv[0]), mark, clock, deadline_s)
        if started is not None:
            return started
    if refusals:
        raise refusals[-1]
    raise FileNotFoundError(f"neither {sys.executable!r} nor `setsid --fork` could start {argv[0]}")


def _launchers(options: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield command prefixes that start a program; busybox's setsid lacks --fork.

    The watchdog can do without setsid, but setsid is tried first. The program's short-lived child then ends
    ten times sooner than a Python process would. Also, if the kernel shares time among sessions
    (sched_autogroup), Python's start does not wait for the threads of a busy program.
    """
    setsid = shutil.which("setsid")
    python = plain_python()
    if python is not None:
        command = (python, "-I", "-S", _WATCHDOG)
        if setsid is not None:
            yield setsid, "--fork", *command, *options
        yield *command, watchdog.FORK, *options
    if setsid is not None:
        yield setsid, "--fork"


def _await_report(
    report: Callable[[], Detached | None], mark: bytes, clock: Clock, deadline_s: float
) -> Detached | None:
    """Wait for the watchdog's report; return None if it ended without one, which is no program failure."""
    search_s = clock.monotonic_s() + _QUIET_S
    while True:
        started = report()
        if started is not None:
            return started
        now_s = clock.monotonic_s()
        if now_s >= deadline_s:
            raise TimeoutError("the watchdog did not start the program in time")
        if now_s >= search_s:
            search_s = now_s + _QUIET_S
            pid = _program_among(_all_pids(), mark)
            if pid is not None:  # the disk is full: there is no report
                return report() or Detached(pid, procfs.parent(pid))
            if not any(_marked(mark)):
                return report()
        clock.sleep(_REPORT_PAUSE_S)


def _reported(log: Path, before: int, program: str) -> Detached | None:
    """Return the watchdog's report, None if there is none, as when the disk is full."""
    with log.open("rb") as file:
        file.seek(before)
        text = os.fsdecode(file.read())
    failed = _CANNOT_START.search(text)
    if failed is not None:
        code = int(failed.group(1))
        raise OSError(code, posix.strerror(code), program)
    started = _STARTED.search(text)
    return None if started is None else Detached(int(started.group(1)), int(started.group(2)))


def _has_grown(log: Path, before: int) -> bool:
    return log_size(log) > before


def log_size(log: Path) -> int:
    """Return the size of a log, 0 if there is no log."""
    try:
        return log.stat().st_size
    except FileNotFoundError:
        return 0


def _search(launcher_pid: int, mark: bytes, clock: Clock, has_printed: Callable[[], bool]) -> Detached | None:
    """Find a program by its mark, nearby pids first: the kernel assigns pids in sequence.

    During exec it has no arguments. So it may still appear until it has printed something.
    """
    last_s = clock.monotonic_s() + _SEARCH_S
    found, is_over = _program_among(_pids_after(launcher_pid), mark), False
    while found is None and not is_over:
        clock.sleep(_PAUSE_S)
        is_over = has_printed() or clock.monotonic_s() >= last_s
        found = _program_among(_all_pids(), mark)
    return None if found is None else Detached(found, None)


def _program_among(pids: Iterable[int], mark: bytes) -> int | None:
    for pid in pids:
        if _has_mark(pid, mark):
            words = procfs.command_line(pid)
            if words and not _is_launcher(words):
                return pid
    return None


def _is_launcher(words: Sequence[bytes]) -> bool:
    """Return whether these are a launcher's arguments, which the program's own follow."""
    by_setsid = words[0].endswith(b"/setsid") and words[1:2] == (b"--fork",)
    return by_setsid or os.fsencode(_WATCHDOG) in words[:4]


def _pids_after(pid: int) -> Iterator[int]:
    largest = int(Path("/proc/sys/kernel/pid_max").read_text("ascii"))
    for number in range(pid + 1, pid + 1 + _NEARBY):
        yield number if number < largest else number - largest + _RESERVED_PIDS


def _all_pids() -> list[int]:
    return [int(name) for name in posix.listdir(procfs.PROC) if name.isdecimal()]


def _marked(mark: bytes) -> Iterator[int]:
    return (pid for pid in _all_pids() if _has_mark(pid, mark))


def _has_mark(pid: int, mark: bytes) -> bool:
    """Return whether a process, not a thread with its own pid, has the mark among its arguments."""
    forms = (mark, b"/".join((b"..", *mark.rsplit(b"/", 2)[-2:])))  # as the watchdog makes it
    return (
        any(word in forms for word in procfs.command_line(pid))
        and pid != posix.getpid()
        and procfs.status(pid).get("Tgid") == str(pid)
    )


class Watched:
    """Process that belongs to another parent, which gets its exit code.

    Has no open descriptor: a program may close numbers that it did not open (`os.closerange`) and reuse
    them. Its files would then be polled and closed.
    """

    def __init__(self, pid: int, start_ticks: int) -> None:
        self.pid, self.start_ticks = pid, start_ticks
        self._closed = False

    def alive(self) -> bool:
        """Return whether a thread of the process runs; zombies count as ended; False after `close`."""
        if self._closed:
            return False
        try:
            seen = procfs.state_and_start(self.pid)
        except OSError as error:  # no descriptor is free to read /proc
            reraise_signal_error(error)
            seen = None
        if seen is None:  # also after chroot, or for another user's process
            return _exists(self.pid)
        state, ticks = seen
        if ticks != self.start_ticks:
            return False
        return state not in procfs.ENDED or procfs.has_other_threads(self.pid)

    def wait(self, timeout_s: float, clock: Clock = SYSTEM_CLOCK) -> bool:
        """Wait until the process has ended, and return whether it has; True after `close`."""
        deadline_s = clock.monotonic_s() + timeout_s
        while self.alive():
            left_s = deadline_s - clock.monotonic_s()
            if left_s <= 0:
                return False
            clock.sleep(min(_WATCH_PAUSE_S, left_s))
        return True

    def signal(self, signum: signal.Signals) -> bool:
        """Send a signal; return False if the process has ended. Raises PermissionError if not permitted."""
        # Between the check and the signal another process could get the pid only if the kernel
        # assigned all pids of the machine in that microsecond.
        if not self.alive():
            return False
        try:
            posix.kill(self.pid, signum)
        except ProcessLookupError:
            return False
        return True

    def close(self) -> None:
        """Stop watching, and reap the process if it is our child after all (we are init or a subreaper)."""
        if self._closed:
            return
        self._closed = True
        with suppressed(OSError):  # it is not our child
            if procfs.start_ticks(self.pid) == self.start_ticks:
                posix.waitid(posix.P_PID, self.pid, posix.WEXITED | posix.WNOHANG)


def watch(pid: int) -> Watched | None:
    """Return a `Watched` for a process, None if it has ended."""
    ticks = procfs.running_since_ticks(pid)
    return None if ticks is None else Watched(pid, ticks)


def _exists(pid: int) -> bool:
    try:
        posix.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
