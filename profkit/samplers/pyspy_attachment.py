"""Command line and process of py-spy: started outside our process tree, stopped by SIGINT.

RUNNING is read from its signal handlers, not from its output: it prints its line before it can be stopped.
Only SIGINT (or the end of the target, or `-d`) makes it write. The file shows whether it did. The log
contains the watchdog's report of how it ended.
"""

from __future__ import annotations

import math
import posix
import signal
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import SamplerFailed
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.process import procfs
from profkit.process.detach import Detached, kill_marked, start_detached
from profkit.process.guard import reraise_signal_error
from profkit.process.prctl import allow_tracer
from profkit.process.watched import Watched, watch
from profkit.samplers import pyspy_log
from profkit.samplers.base import log_path, output_path
from profkit.samplers.polling import backed_off_s
from profkit.samplers.pyspy_log import Attempt

_START_TIMEOUT_S = 10.0
_KILL_TIMEOUT_S = 5.0
_BACKSTOP_S = 5
_REPORT_TIMEOUT_S, _REPORT_PAUSE_S = 0.25, 0.002
"""Time limit for the watchdog's report after py-spy's end, and pause between checks, under load."""
_TAIL = 512
_PROGRAM = "py-spy"


def command(program: str, pid: int, plan: SamplerPlan, output: Path) -> tuple[str, ...]:
    """Return the py-spy command line for a plan."""
    flags = {
        "--idle": plan.idle,
        "--nonblocking": not plan.blocking,
        "--native": plan.native,
        "--subprocesses": plan.subprocesses,
    }
    # The limit is a safeguard for a program that can no longer stop its sampler.
    limit_s = math.ceil(plan.max_duration_s) + _BACKSTOP_S
    return (
        *(program, "record", "-p", str(pid), "-f", "speedscope", "--full-filenames", "-o", str(output)),
        *("-r", str(round(plan.rate_hz)), "-d", str(limit_s)),
        *(flag for flag, enabled in flags.items() if enabled),
    )


def attach(
    program: str, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock
) -> PySpyAttachment:
    """Start py-spy on a process; raises `SamplerError` and then leaves nothing running."""
    check_folder(folder)
    output, log = output_path(folder, index), log_path(folder, index)
    attempt = Attempt(pid, command(program, pid, plan, output), log, pyspy_log.size(log))
    try:
        started = _start(attempt, output, clock)
        process = None if started is None else watch(started.pid)
        if started is None or process is None:
            raise pyspy_log.failure(attempt, pyspy_log.START)
        if pid == posix.getpid():
            allow_tracer(process.pid)
        watchdog = None if started.watchdog_pid is None else watch(started.watchdog_pid)
        return PySpyAttachment(process, watchdog, attempt, plan.rate_hz, index, output, clock)
    except BaseException:  # also a signal handler's: the caller does not know the process
        kill_marked(str(output), clock)
        raise


def check_folder(folder: Path) -> None:
    """Raise `SamplerFailed` if py-spy could not write to a folder: it would only fail at the stop."""
    problem = _folder_problem(folder)
    if problem is not None:
        raise SamplerFailed(
            "py-spy", pyspy_log.START, f"{folder} {problem}", "set PROFKIT_SPOOL to another folder"
        )


class PySpyAttachment:
    """Attachment of one py-spy process; not thread-safe."""

    def __init__(
        self, process: Watched, watchdog: Watched | None, attempt: Attempt, rate_hz: float, index: int,
        output: Path, clock: Clock,
    ) -> None:  # fmt: skip
        self._process, self._watchdog, self._attempt = process, watchdog, attempt
        self._rate_hz, self._index, self._output, self._clock = rate_hz, index, output, clock
        self._stoppable = self._stop_requested = self._stop_sent = False

    def segment(self) -> Segment:
        """See `Attachment.segment`."""
        return Segment(
            self._index, started_ns=0, pid=self._process.pid, start_ticks=self._process.start_ticks
        )

    def poll(self) -> SessionState:
        """See `Attachment.poll`; success if py-spy ended without a stop request and its file is complete."""
        if self._process.alive():
            return self._poll_running()
        if not is_whole(self._output):
            self._await_report()
            self._close()
            raise pyspy_log.failure(self._attempt, self._stage())
        self._close()
        return SessionState.SUCCESS

    def warning(self) -> str | None:
        """See `Attachment.warning`."""
        return pyspy_log.stopped(self._attempt)

    def poll_interval_s(self, attempt: int) -> float:
        """See `Attachment.poll_interval_s`: py-spy starts and stops within tens of milliseconds."""
        return backed_off_s(attempt, 0.0003, 1.03, 0.005)

    def request_stop(self) -> None:
        """See `Attachment.request_stop`; before RUNNING, the poll that detects RUNNING sends the signal."""
        self._stop_requested = True
        if self._process.alive():
            self._poll_running()

    def stop_timeout_s(self) -> float:
        """See `Attachment.stop_timeout_s`: py-spy ends with its next sample, at a random interval."""
        return 2 + 12 / self._rate_hz

    def resident_bytes(self) -> int:
        """See `Attachment.resident_bytes`."""
        return procfs.resident_bytes(self._process.pid) if self._process.alive() else 0

    def kill(self) -> None:
        """See `Attachment.kill`; its samples are lost if it had not ended."""
        try:
            if self._process.signal(signal.SIGKILL):
                self._process.wait(_KILL_TIMEOUT_S)
        except PermissionError:  # `_interrupt` reports it
            return
        finally:
            self._close()

    def _poll_running(self) -> SessionState:
        if not self._stoppable:
            self._stoppable = procfs.catches_signal(self._process.pid, signal.SIGINT) and self._is_pyspy()
        if not self._stoppable:
            return SessionState.PREPARING
        if not self._stop_requested:
            return SessionState.RUNNING
        if not self._stop_sent:
            self._stop_sent = self._interrupt()
        return SessionState.PROCESSING

    def _is_pyspy(self) -> bool:
        """Return whether this is py-spy, and no longer the shell of a script that starts it, as in pyenv."""
        program = procfs.program(self._process.pid)
        if program is None:  # not permitted to read it, or it is ending and has no arguments either
            return bool(procfs.command_line(self._process.pid))
        if program.rpartition("/")[2].startswith(_PROGRAM):
            return True
        return pyspy_log.is_sampling(self._attempt)

    def _interrupt(self) -> bool:
        try:
            return self._process.signal(signal.SIGINT)
        except PermissionError as error:
            raise SamplerFailed(
                "py-spy", pyspy_log.SAMPLING,
                f"the program changed its user, and can no longer stop process {self._process.pid}",
                "change the user before the first profiled call; these samples can be read after the "
                "program has ended",
            ) from error  # fmt: skip

    def _await_report(self) -> None:
        """Wait until the watchdog has reported how py-spy ended, or has ended."""
        deadline_s = self._clock.monotonic_s() + _REPORT_TIMEOUT_S
        while self._watchdog is not None and self._watchdog.alive():
            if self._clock.monotonic_s() >= deadline_s:
                return
            self._clock.sleep(_REPORT_PAUSE_S)

    def _close(self) -> None:
        self._process.close()
        if self._watchdog is not None:
            if procfs.parent(self._watchdog.pid) == posix.getpid():  # we are init, or a subreaper
                self._watchdog.wait(_REPORT_TIMEOUT_S, self._clock)
            self._watchdog.close()

    def _stage(self) -> str:
        if self._stop_sent:
            return pyspy_log.STOP
        return pyspy_log.SAMPLING if self._stoppable else pyspy_log.START


def is_whole(output: Path) -> bool:
    """Return whether py-spy's file is complete, by its last fields: it may be too large to parse here."""
    try:
        with output.open("rb") as file:
            file.seek(max(0, posix.fstat(file.fileno()).st_size - _TAIL))
            tail = file.read(_TAIL).rstrip()
    except FileNotFoundError:
        return False
    return b'"exporter":"py-spy' in tail and tail.endswith(b"}")


def _start(attempt: Attempt, output: Path, clock: Clock) -> Detached | None:
    try:
        return start_detached(
            attempt.command, str(output), attempt.log, clock, _START_TIMEOUT_S, target=attempt.pid
        )
    except OSError as error:
        raise SamplerFailed(
            "py-spy", pyspy_log.START, str(error), f"make sure that {attempt.command[0]} is executable"
        ) from error


def _folder_problem(folder: Path) -> str | None:
    try:
        str(folder.absolute()).encode("utf-8")
    except UnicodeEncodeError:
        return "has a name that is not UTF-8, which py-spy does not support"
    try:
        space = posix.statvfs(folder)
    except OSError as error:
        reraise_signal_error(error)
        return f"cannot be used ({error.strerror})"
    # Some file systems report no inode counts.
    if not space.f_bavail or (space.f_files and not space.f_favail):
        return "is on a full disk"
    if not posix.access(folder, posix.W_OK | posix.X_OK):
        return "is not writable"
    return None
