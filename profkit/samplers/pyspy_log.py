"""Parse the log of py-spy 0.4: counts, and causes of failures."""

from __future__ import annotations

import re
from dataclasses import dataclass

from profkit.errors import SamplerError
from profkit.samplers.attempts import (
    KILLED_BY_FILTER,
    START,
    Attempt,
    denied,
    disk_full,
    ended_how,
    stopped_failure,
    unknown_failure,
)

_COUNTS = re.compile(r"Samples: (\d+) Errors: (\d+)")
_BEHIND = re.compile(r"([\d.]+)s behind in sampling")
_ERROR = re.compile(r"^(?:Error|error): (.+)$", re.MULTILINE)
# With --subprocesses, py-spy reports a denial as "no python processes found". A seccomp filter may also
# answer ENOSYS, or kill the caller by SIGSYS.
_DENIED = re.compile(
    "permission denied|operation not permitted|function not implemented|no python processes found in process"
    f"|{KILLED_BY_FILTER}",
    re.IGNORECASE | re.MULTILINE,
)
_NOT_PYTHON = ("Failed to find python version", "Failed to get process executable name")
_WRONG_USE = "with exit status 2"


@dataclass(frozen=True, slots=True)
class LogFacts:
    """Facts about a recording in its log; 0 if the log does not contain them."""

    errors: int
    """Number of rounds in which a process could not be read."""
    behind_s: float
    """Maximum delay of the sampling."""


def log_facts(text: str) -> LogFacts:
    """Return the error count and the maximum delay that a log reports."""
    counts = _COUNTS.search(text)
    return LogFacts(
        errors=int(counts.group(2)) if counts else 0,
        behind_s=max((float(late) for late in _BEHIND.findall(text)), default=0.0),
    )


def is_sampling(attempt: Attempt) -> bool:
    """Return whether py-spy has printed that it samples."""
    return "Sampling process" in attempt.text()


def failure(attempt: Attempt, stage: str) -> SamplerError:
    """Return the error that explains an attempt's log; `passing` if another try may succeed."""
    text = attempt.text()
    if stage == START and _DENIED.search(text):
        return denied(attempt)
    if "No space left" in text:
        return disk_full(attempt, stage)
    if any(words in text for words in _NOT_PYTHON):
        return attempt.failed(
            stage, f"process {attempt.pid} has ended, or is not a Python program that it supports",
            "make sure that it still runs Python (not another program after exec), or update py-spy",
        )  # fmt: skip
    found = _ERROR.search(text)
    passing = stage == START and ended_how(text) != _WRONG_USE
    return stopped_failure(attempt, stage) or unknown_failure(
        attempt, stage, found.group(1) if found else None, passing=passing
    )
