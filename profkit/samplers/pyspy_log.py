"""Parse the log of py-spy 0.4 and of its watchdog: counts, warnings, and causes of failures."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from pathlib import Path

from profkit.errors import AttachDenied, SamplerError, SamplerFailed
from profkit.process import watchdog

START, SAMPLING, STOP = "start", "sampling", "stop"
"""Stages at which py-spy may fail."""

_COUNTS = re.compile(r"Samples: (\d+) Errors: (\d+)")
_BEHIND = re.compile(r"([\d.]+)s behind in sampling")
_ERROR = re.compile(r"^(?:Error|error): (.+)$", re.MULTILINE)
# With --subprocesses, py-spy reports a denial as "no python processes found". A seccomp filter may also
# answer ENOSYS, or kill the caller by SIGSYS.
_DENIED = re.compile(
    r"permission denied|operation not permitted|function not implemented|no python processes found in process"
    f"|^{watchdog.PREFIX}{watchdog.SIGNAL.format(int(signal.SIGSYS))}$",
    re.IGNORECASE | re.MULTILINE,
)
_NOT_PYTHON = ("Failed to find python version", "Failed to get process executable name")


_TAIL_CHARACTERS = 400
_WRONG_USE = "with exit status 2"
_REPORT = re.compile(f"^{watchdog.PREFIX}.*$", re.MULTILINE)
_ENDED = re.compile(
    f"^{watchdog.PREFIX}(?:{watchdog.STATUS.format('([0-9]+)')}|{watchdog.SIGNAL.format('([0-9]+)')})$",
    re.MULTILINE,
)
_HELD = re.compile(f"^{watchdog.PREFIX}{watchdog.HELD.format('[0-9]+')}$", re.MULTILINE)
_STOPPED = re.compile(f"^{watchdog.PREFIX}{watchdog.STOPPED.format('([0-9]+)')}$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One start of py-spy on a process, for explaining a failure."""

    pid: int
    """Pid of the sampled process."""
    command: tuple[str, ...]
    log: Path
    log_start: int = 0
    """Position at which this attempt's part of the log begins."""


@dataclass(frozen=True, slots=True)
class LogFacts:
    """Facts about a recording in its log; 0 if the log does not contain them."""

    errors: int
    """Number of rounds in which a process could not be read."""
    behind_s: float
    """Maximum delay of the sampling."""


def read_log(path: Path, start: int = 0) -> str:
    """Return the text of a log from a position on, empty if there is no log."""
    try:
        return path.read_bytes()[start:].decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def size(path: Path) -> int:
    """Return the size of a log, 0 if there is no log."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def log_facts(text: str) -> LogFacts:
    """Return the error count and the maximum delay that a log reports."""
    counts = _COUNTS.search(text)
    return LogFacts(
        errors=int(counts.group(2)) if counts else 0,
        behind_s=max((float(late) for late in _BEHIND.findall(text)), default=0.0),
    )


def is_sampling(attempt: Attempt) -> bool:
    """Return whether py-spy has printed that it samples."""
    return "Sampling process" in read_log(attempt.log, attempt.log_start)


def failure(attempt: Attempt, stage: str) -> SamplerError:
    """Return the error that explains an attempt's log; `passing` if another try may succeed."""
    text = read_log(attempt.log, attempt.log_start)
    if stage == START and _DENIED.search(text):
        from profkit.samplers import ptrace  # takes 7 ms, and is needed only here

        return AttachDenied("py-spy", attempt.pid, ptrace.fix_for(attempt.pid, attempt.log))
    if "No space left" in text:
        return SamplerFailed("py-spy", stage, "the disk is full", "free space on the spool's disk")
    if any(words in text for words in _NOT_PYTHON):
        return SamplerFailed(
            "py-spy", stage, f"process {attempt.pid} has ended, or is not a Python program that it supports",
            "make sure that it still runs Python (not another program after exec), or update py-spy",
        )  # fmt: skip
    reason = stopped(attempt)
    if reason is not None:
        return SamplerFailed("py-spy", stage, reason, "do not stop py-spy's processes")
    detail, fix = _unknown_cause(text)
    ended = _ended(text)
    return SamplerFailed(
        "py-spy", stage, detail, f"{fix}; the command was `{' '.join(attempt.command)}`",
        passing=stage == START and ended != _WRONG_USE,
    )  # fmt: skip


def stopped(attempt: Attempt) -> str | None:
    """Return why the watchdog ended an attempt, such as a SIGSTOP; None if it did not."""
    log = read_log(attempt.log, attempt.log_start)
    if _HELD.search(log):
        return "py-spy did not resume the program after a sample, and was ended to resume it"
    found = _STOPPED.search(log)
    if found is None:
        return None
    return (
        f"py-spy was stopped by {_signal_name(int(found.group(1)))}, and was ended so that it could not "
        "block the program"
    )


def _unknown_cause(text: str) -> tuple[str, str]:
    """Return the details of a failure without a known cause, and where to look for it."""
    ended = _ended(text)
    error = _ERROR.search(text)
    if error is not None:
        return error.group(1) + (f" ({ended})" if ended else ""), "see its log in the spool"
    printed = _REPORT.sub("", text).strip()
    return (
        f"it ended without its output{', ' + ended if ended else ''}, "
        + (f"after printing {printed[-_TAIL_CHARACTERS:]!r}" if printed else "and printed nothing"),
        "make sure that nothing kills it, and that there is memory and disk space (see the kernel's log)",
    )


def _ended(text: str) -> str | None:
    """Return the watchdog's last report of how py-spy ended."""
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
