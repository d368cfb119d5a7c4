"""py-spy at work on a process: started as no child of ours, watched by pidfd, stopped by SIGINT.

RUNNING is read from its signal handlers, not from its output: it prints its line before it can be
stopped. Only SIGINT (or the end of the target, or `-d`) makes it write; whether it did is judged by
the file, since the exit code of a process that is no child cannot be had.
"""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Sequence
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import SamplerFailed
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.process import procfs
from profkit.process.detach import kill_marked, start_detached
from profkit.process.watch import Watched, watch
from profkit.process.yama import allow_tracer
from profkit.samplers import pyspy_log
from profkit.samplers.polling import backed_off_s
from profkit.samplers.segment_files import log_path, output_path

_START_TIMEOUT_S = 10.0
_KILL_TIMEOUT_S = 5.0
_BACKSTOP_S = 5
_TAIL = 512


def command(program: str, pid: int, plan: SamplerPlan, output: Path) -> tuple[str, ...]:
    """The arguments that make py-spy do what was planned."""
    flags = {
        "--idle": plan.idle,
        "--nonblocking": not plan.blocking,
        "--native": plan.native,
        "--subprocesses": plan.subprocesses,
    }
    # The limit is a back-stop only, for a program that can no longer stop its sampler.
    limit_s = math.ceil(plan.max_duration_s) + _BACKSTOP_S
    return (
        *(program, "record", "-p", str(pid), "-f", "speedscope", "--full-filenames", "-o", str(output)),
        *("-r", str(round(plan.rate_hz)), "-d", str(limit_s)),
        *(flag for flag, wanted in flags.items() if wanted),
    )


def attach(
    program: str, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock
) -> PySpyAttachment:
    """Start py-spy on a process; raises `SamplerError`, and then nothing is left running."""
    check_folder(folder)
    output, log = output_path(folder, index), log_path(folder, index)
    argv = command(program, pid, plan, output)
    try:
        process = _start(argv, output, log, clock)
        if process is None:
            raise pyspy_log.failure(pyspy_log.read_log(log), pid, pyspy_log.START)
        if pid == os.getpid():
            allow_tracer(process.pid)
        return PySpyAttachment(process, pid, plan.rate_hz, index, output, log)
    except BaseException:  # a signal handler's too: nobody else would know of the process
        kill_marked(str(output), clock)
        raise


def check_folder(folder: Path) -> None:
    """Raise `SamplerFailed` where py-spy could not write: it would find out at the stop only."""
    problem = _folder_problem(folder)
    if problem is not None:
        raise SamplerFailed(
            "py-spy", pyspy_log.START, f"{folder} {problem}", "set PROFKIT_SPOOL to a folder with space"
        )


class PySpyAttachment:
    """One py-spy process; not thread-safe."""

    def __init__(
        self, process: Watched, target: int, rate_hz: float, index: int, output: Path, log: Path
    ) -> None:
        self._process, self._target, self._rate_hz = process, target, rate_hz
        self._index, self._output, self._log = index, output, log
        self._stoppable = self._stop_wanted = self._stop_sent = False

    def segment(self) -> Segment:
        """See `Attachment.segment`."""
        return Segment(
            self._index, started_ns=0, pid=self._process.pid, start_ticks=self._process.start_ticks
        )

    def poll(self) -> SessionState:
        """See `Attachment.poll`; a py-spy that ended by itself with a whole file is a success."""
        if self._process.alive():
            return self._poll_living()
        self._process.close()
        if not is_whole(self._output):
            raise pyspy_log.failure(pyspy_log.read_log(self._log), self._target, self._stage())
        return SessionState.SUCCESS

    def poll_interval_s(self, attempt: int) -> float:
        """See `Attachment.poll_interval_s`: it starts and stops within tens of milliseconds."""
        return backed_off_s(attempt, 0.0003, 1.03, 0.005)

    def request_stop(self) -> None:
        """See `Attachment.request_stop`; before RUNNING the signal waits for the poll that sees it."""
        self._stop_wanted = True
        if self._process.alive():
            self._poll_living()

    def stop_timeout_s(self) -> float:
        """See `Attachment.stop_timeout_s`: it ends with its next sample, at a random distance."""
        return 2 + 12 / self._rate_hz

    def resident_bytes(self) -> int:
        """See `Attachment.resident_bytes`."""
        return procfs.resident_bytes(self._process.pid) if self._process.alive() else 0

    def kill(self) -> None:
        """See `Attachment.kill`; its samples are lost where it had not ended."""
        if self._process.signal(signal.SIGKILL):
            self._process.wait(_KILL_TIMEOUT_S)
        self._process.close()

    def _poll_living(self) -> SessionState:
        if not self._stoppable:
            self._stoppable = procfs.catches_signal(self._process.pid, signal.SIGINT)
        if not self._stoppable:
            return SessionState.PREPARING
        if not self._stop_wanted:
            return SessionState.RUNNING
        if not self._stop_sent:
            self._stop_sent = self._process.signal(signal.SIGINT)
        return SessionState.PROCESSING

    def _stage(self) -> str:
        if self._stop_sent:
            return pyspy_log.STOP
        return pyspy_log.SAMPLING if self._stoppable else pyspy_log.START


def is_whole(output: Path) -> bool:
    """Whether py-spy wrote a file to its end, by its last fields: it may be too large to parse here."""
    try:
        with output.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            tail = file.read(_TAIL).rstrip()
    except FileNotFoundError:
        return False
    return b'"exporter":"py-spy' in tail and tail.endswith(b"}")


def _start(argv: Sequence[str], output: Path, log: Path, clock: Clock) -> Watched | None:
    try:
        pid = start_detached(argv, str(output), log, clock, _START_TIMEOUT_S)
        return None if pid is None else watch(pid)
    except OSError as error:
        raise SamplerFailed("py-spy", pyspy_log.START, str(error), "see that it can be executed") from error


def _folder_problem(folder: Path) -> str | None:
    try:
        space = os.statvfs(folder)
    except OSError as error:
        return f"cannot be used ({error.strerror})"
    # Some file systems count no inodes at all.
    if not space.f_bavail or (space.f_files and not space.f_favail):
        return "is on a full disk"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "is not writable"
    return None
