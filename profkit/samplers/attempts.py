"""Start of a sampler's process on the profiled process, and what its log says about its end.

The log has the output of the sampler and the reports of its watchdog.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from pathlib import Path

from profkit.errors import AttachDenied, SamplerFailed
from profkit.process import watchdog
from profkit.samplers.base import PTRACE, READ

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


@dataclass(frozen=True, slots=True)
class Attempt:
    """One start of a sampler's process, for explaining a failure."""

    sampler: str
    """Name of the sampler in messages."""
    pid: int
    """Pid of the sampled process."""
    command: tuple[str, ...]
    output: Path
    log: Path
    log_start: int = 0
    """Position at which this attempt's part of the log begins."""

    def text(self) -> str:
        """Return this attempt's part of the log, empty if there is no log."""
        return read_log(self.log, self.log_start)

    def failed(self, stage: str, detail: str, fix: str, *, passing: bool = False) -> SamplerFailed:
        """Return the error that says why the attempt failed."""
        return SamplerFailed(self.sampler, stage, detail, fix, passing=passing)


def read_log(path: Path, start: int = 0) -> str:
    """Return the text of a log from a position on, empty if there is no log."""
    try:
        return path.read_bytes()[start:].decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def log_size(path: Path) -> int:
    """Return the size of a log, 0 if there is no log."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def stopped(attempt: Attempt) -> str | None:
    """Return why the watchdog ended an attempt, such as a SIGSTOP; None if it did not."""
    log = attempt.text()
    if _HELD.search(log):
        return f"{attempt.sampler} did not resume the program after a sample, and was ended to resume it"
    found = _STOPPED.search(log)
    if found is None:
        return None
    return (
        f"{attempt.sampler} was stopped by {_signal_name(int(found.group(1)))}, and was ended so that it "
        "could not block the program"
    )


def stopped_failure(attempt: Attempt, stage: str) -> SamplerFailed | None:
    """Return the error of an attempt that the watchdog ended, None for others."""
    reason = stopped(attempt)
    if reason is None:
        return None
    return attempt.failed(stage, reason, f"do not stop {attempt.sampler}'s processes")


def denied(attempt: Attempt) -> AttachDenied:
    """Return the error of an attempt that the system did not allow to read the process, with its cause."""
    from profkit.samplers import ptrace  # takes 7 ms, and is needed only here

    denial = ptrace.diagnose(attempt.pid, attempt.log)
    may_read = denial.may_read_memory or denial.may_read_mem_file
    allowed = {PTRACE: denial.may_ptrace, READ: may_read}
    refused = frozenset(ability for ability, is_allowed in allowed.items() if not is_allowed)
    return AttachDenied(attempt.sampler, attempt.pid, denial.cause_and_fix, refused)


def disk_full(attempt: Attempt, stage: str) -> SamplerFailed:
    """Return the error of an attempt that had no space for its output."""
    return attempt.failed(stage, "the disk is full", "free space on the spool's disk")


def unknown_failure(attempt: Attempt, stage: str, error: str | None, *, passing: bool) -> SamplerFailed:
    """Return the error of an attempt without a known cause; `error` is what it printed as its error."""
    text = attempt.text()
    ended = ended_how(text)
    if error is not None:
        detail, fix = error + (f" ({ended})" if ended else ""), "see its log in the spool"
    else:
        printed = _REPORT.sub("", text).strip()
        after = f"after printing {printed[-_TAIL_CHARACTERS:]!r}" if printed else "and printed nothing"
        detail, fix = f"it ended without its output{', ' + ended if ended else ''}, {after}", _LOOK
    return attempt.failed(
        stage, detail, f"{fix}; the command was `{' '.join(attempt.command)}`", passing=passing
    )


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
