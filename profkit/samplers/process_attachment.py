"""Attachment of a sampler that is a process here: started outside our process tree, stopped by SIGINT.

Only SIGINT, the end of the sampled process or the longest duration makes it end with its output. The file
shows whether it is complete. The log has the output of the sampler and the reports of its watchdog, by which
a failure is explained.
"""

from __future__ import annotations

import posix
import re
import signal
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar, Self

from profkit.clock import Clock
from profkit.errors import AttachDenied, SamplerError, SamplerFailed
from profkit.model.session import Segment, SessionState
from profkit.process import procfs, watchdog
from profkit.process.detached import Detached, Watched, kill_marked, log_size, start_detached, watch
from profkit.process.guard import reraise_signal_error
from profkit.process.prctl import allow_tracer
from profkit.samplers.base import Attachment, Pauses

_START_TIMEOUT_S = 10.0
_KILL_TIMEOUT_S = 5.0
_REPORT_TIMEOUT_S, _FAILURE_TIMEOUT_S = 0.25, 2.0
"""Time limits, under load, for the watchdog's report after the sampler's end: if its output is whole, if not.

A sampler that fails at once ends while its watchdog still starts.
"""
START, SAMPLING, STOP = "start", "sampling", "stop"
"""Stages at which a sampler may fail."""

_TAIL_CHARACTERS = 400
_REPORT = re.compile(f"^{watchdog.PREFIX}.*$", re.MULTILINE)
_ENDED = re.compile(
    f"^{watchdog.PREFIX}(?:{watchdog.STATUS.format('([0-9]+)')}|{watchdog.SIGNAL.format('([0-9]+)')})$",
    re.MULTILINE,
)
_HELD = re.compile(f"^{watchdog.PREFIX}{watchdog.HELD.format('[0-9]+')}$", re.MULTILINE)
_STOPPED = re.compile(f"^{watchdog.PREFIX}{watchdog.STOPPED.format('([0-9]+)')}$", re.MULTILINE)
KILLED_BY_FILTER = f"^{watchdog.PREFIX}{watchdog.SIGNAL.format(int(signal.SIGSYS))}$"
"""Pattern of the report that a seccomp filter killed the sampler."""
_LOOK = "make sure that nothing kills it, and that there is memory and disk space (see the kernel's log)"


class ProcessAttachment(Attachment):
    """One start of a sampler's process, and what its log says; a subclass for each such sampler.

    Not thread-safe. Make it after the log of earlier starts is written: only what follows counts.
    """

    pauses = Pauses(0.0003, 1.03, 0.005)
    """These samplers start and stop within tens of milliseconds."""
    sampler: ClassVar[str]
    """Name of the sampler in messages."""
    any_name: ClassVar[bool] = True
    """Whether it can write to files whose names are not UTF-8."""

    def __init__(
        self, pid: int, command: tuple[str, ...], output: Path, log: Path, index: int, clock: Clock
    ) -> None:
        """Start nothing yet; `pid` is that of the sampled process."""
        self.pid, self.command, self.output, self.log = pid, command, output, log
        self._index, self._clock, self._log_start = index, clock, log_size(log)
        self.process: Watched
        """The sampler's process, once it is started."""
        self._watchdog: Watched | None = None
        self._stoppable = self._stop_requested = self._stop_sent = False

    def start(self) -> Self:
        """Start the process; raises `SamplerError` and then leaves nothing running."""
        check_folder(self.sampler, self.output.parent, any_name=self.any_name)
        if self.pid == posix.getpid() and (procfs.is_of_other_namespace() or procfs.has_foreign_children()):
            raise self.denied()  # it could not be found; what has its number here may be another process
        try:
            started = self._detached()
            process = None if started is None else watch(started.pid)
            if started is not None and started.watchdog_pid is not None:
                self._watchdog = watch(started.watchdog_pid)
            if started is None or process is None:
                self._await_report(_FAILURE_TIMEOUT_S)
                raise self.failure(START)
            if self.pid == posix.getpid():  # a watchdog's child may do what the watchdog may
                allow_tracer(started.watchdog_pid or started.pid)
            self.process = process
            return self
        except BaseException:  # also a signal handler's: the caller does not know the process
            kill_marked(str(self.output), self._clock)
            raise

    def watchdog_options(self) -> tuple[str, ...]:
        """Return the options of its watchdog."""
        return ()

    @abstractmethod
    def is_running(self, process: Watched) -> bool:
        """Return whether a live process of its program samples, and can be stopped without a loss."""

    @abstractmethod
    def is_whole(self) -> bool:
        """Return whether the output is complete; it may be too large to parse here."""

    @abstractmethod
    def failure(self, stage: str) -> SamplerError:
        """Return the error that explains the log."""

    def segment(self) -> Segment:
        pid, start_ticks = self.process.pid, self.process.start_ticks
        return Segment(self._index, started_ns=0, pid=pid, start_ticks=start_ticks)

    def poll(self) -> SessionState:
        """See `Attachment.poll`; success if it ended without a stop request and its file is complete."""
        if self.process.alive():
            return self._poll_running()
        is_whole = self.is_whole()
        self._await_report(_REPORT_TIMEOUT_S if is_whole else _FAILURE_TIMEOUT_S)
        self._close()
        if not is_whole:
            raise self.failure(self._stage())
        return SessionState.SUCCESS

    def warning(self) -> str | None:
        """See `Attachment.warning`: the watchdog ended it, such as after a SIGSTOP."""
        log = self.text()
        if _HELD.search(log):
            return f"{self.sampler} did not resume the program after a sample, and was ended to resume it"
        found = _STOPPED.search(log)
        if found is None:
            return None
        return (
            f"{self.sampler} was stopped by {_signal_name(int(found.group(1)))}, and was ended so that it "
            "could not block the program"
        )

    def request_stop(self) -> None:
        """See `Attachment.request_stop`; before RUNNING, the poll that detects RUNNING sends the signal."""
        self._stop_requested = True
        if self.process.alive():
            self._poll_running()

    def resident_bytes(self) -> int:
        return procfs.resident_bytes(self.process.pid) if self.process.alive() else 0

    def kill(self) -> None:
        """See `Attachment.kill`; its samples are lost if it had not ended."""
        try:
            if self.process.signal(signal.SIGKILL):
                self.process.wait(_KILL_TIMEOUT_S)
        except PermissionError:  # `_interrupt` reports it
            return
        finally:
            self._close()

    def _poll_running(self) -> SessionState:
        if not self._stoppable:
            self._stoppable = self.is_running(self.process)
        if not self._stoppable:
            return SessionState.PREPARING
        if not self._stop_requested:
            return SessionState.RUNNING
        if not self._stop_sent:
            self._stop_sent = self._interrupt()
        return SessionState.PROCESSING

    def _interrupt(self) -> bool:
        try:
            return self.process.signal(signal.SIGINT)
        except PermissionError as error:
            raise self.failed(
                SAMPLING,
                f"the program changed its user, and can no longer stop process {self.process.pid}",
                "change the user before the first profiled call; these samples can be read after the "
                "program has ended",
            ) from error

    def _close(self) -> None:
        self.process.close()
        if self._watchdog is not None:
            if procfs.parent(self._watchdog.pid) == posix.getpid():  # we are init, or a subreaper
                self._await_report(_REPORT_TIMEOUT_S)
            self._watchdog.close()

    def _await_report(self, timeout_s: float) -> None:
        """Wait until the watchdog has reported how the process ended, or has ended."""
        if self._watchdog is not None:
            self._watchdog.wait(timeout_s, self._clock)

    def _detached(self) -> Detached | None:
        options = (f"{watchdog.FOLDER}{self.output.parent}", *self.watchdog_options())
        try:
            return start_detached(
                self.command, str(self.output), self.log, self._clock, _START_TIMEOUT_S, options
            )
        except OSError as error:
            raise self.failed(START, str(error), f"make sure that {self.command[0]} is executable") from error

    def _stage(self) -> str:
        if self._stop_sent:
            return STOP
        return SAMPLING if self._stoppable else START

    def text(self) -> str:
        """Return this start's part of the log, empty if there is no log."""
        return read_log(self.log, self._log_start)

    def failed(self, stage: str, detail: str, fix: str, *, passing: bool = False) -> SamplerFailed:
        """Return the error that says why it failed."""
        return SamplerFailed(self.sampler, stage, detail, fix, passing=passing)

    def stopped_failure(self, stage: str) -> SamplerFailed | None:
        """Return the error if the watchdog ended it, None if not."""
        reason = self.warning()
        if reason is None:
            return None
        return self.failed(stage, reason, f"do not stop {self.sampler}'s processes")

    def denied(self) -> AttachDenied:
        """Return the error if the system did not allow it to read the process, with its cause."""
        from profkit.samplers import ptrace  # takes 7 ms, and is needed only here

        denial = ptrace.diagnose(self.pid, self.log)
        return AttachDenied(self.sampler, self.pid, denial.cause_and_fix, denial.denied)

    def disk_full(self, stage: str) -> SamplerFailed:
        """Return the error if it had no space for its output."""
        return self.failed(stage, "the disk is full", "free space on the spool's disk")

    def unknown_failure(self, stage: str, error: str | None, *, passing: bool) -> SamplerFailed:
        """Return the error without a known cause; `error` is what it printed as its error."""
        text = self.text()
        ended = ended_how(text)
        if error is not None:
            detail, fix = error + (f" ({ended})" if ended else ""), "see its log in the spool"
        else:
            printed = _REPORT.sub("", text).strip()
            after = f"after printing {printed[-_TAIL_CHARACTERS:]!r}" if printed else "and printed nothing"
            detail, fix = f"it ended without its output{', ' + ended if ended else ''}, {after}", _LOOK
        return self.failed(
            stage, detail, f"{fix}; the command was `{' '.join(self.command)}`", passing=passing
        )


def check_folder(sampler: str, folder: Path, *, any_name: bool = True) -> None:
    """Raise `SamplerFailed` if a sampler could not write to a folder: it might only fail at the stop."""
    problem = folder_problem(folder) or (None if any_name else _name_problem(folder, sampler))
    if problem is not None:
        raise SamplerFailed(sampler, START, f"{folder} {problem}", "set PROFKIT_SPOOL to another folder")


def _name_problem(folder: Path, sampler: str) -> str | None:
    try:
        str(folder.absolute()).encode("utf-8")
    except UnicodeEncodeError:
        return f"has a name that is not UTF-8, which {sampler} does not support"
    return None


def folder_problem(folder: Path) -> str | None:
    """Return why no program can write to a folder, None if it can."""
    try:
        space = posix.statvfs(folder)
    except OSError as error:
        reraise_signal_error(error)
        return f"cannot be used ({error.strerror})"
    # Some file systems report no inode counts.
    if not space.f_bavail or (space.f_files and not space.f_favail):
        return "is on a full disk"
    if not posix.access(folder, posix.W_OK | posix.X_OK, effective_ids=True):
        return "is not writable"
    return None


def tail_of(path: Path, most_bytes: int) -> bytes:
    """Return the end of a file, empty if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, posix.fstat(file.fileno()).st_size - most_bytes))
            return file.read(most_bytes)
    except FileNotFoundError:
        return b""


def read_log(path: Path, start: int = 0) -> str:
    """Return the text of a log from a position on, empty if there is no log."""
    try:
        return path.read_bytes()[start:].decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def ended_how(text: str) -> str | None:
    """Return the last report in a log of how the sampler's process ended; None without a report."""
    found = list(_ENDED.finditer(text))
    if not found:
        return None
    status, signum = found[-1].groups()
    return f"with exit status {status}" if status else f"by {_signal_name(int(signum))}"


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:  # a real-time signal
        return f"signal {number}"
