"""What py-spy 0.4 says: its counts, its warnings, and why it failed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from profkit.errors import AttachDenied, SamplerError, SamplerFailed
from profkit.samplers import denial

START, SAMPLING, STOP = "start", "sampling", "stop"
"""The stages at which it may fail."""

_COUNTS = re.compile(r"Samples: (\d+) Errors: (\d+)")
_BEHIND = re.compile(r"([\d.]+)s behind in sampling")
_ERROR = re.compile(r"^(?:Error|error): (.+)$", re.MULTILINE)
# With --subprocesses it finds no process that it may read, and says that there is none.
_DENIED = re.compile(
    r"permission denied|operation not permitted|no python processes found in process", re.IGNORECASE
)
_NOT_PYTHON = ("Failed to find python version", "Failed to get process executable name")


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What a log tells about a recording; both 0 where it does not."""

    errors: int
    """Rounds in which a process could not be read."""
    behind_s: float
    """How late the sampling was at its worst."""


def read_log(path: Path) -> str:
    """The text of a log, empty where there is none."""
    try:
        return path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return ""


def log_facts(text: str) -> LogFacts:
    """Counts and warnings of a log."""
    counts = _COUNTS.search(text)
    return LogFacts(
        errors=int(counts.group(2)) if counts else 0,
        behind_s=max((float(late) for late in _BEHIND.findall(text)), default=0.0),
    )


def failure(text: str, pid: int, stage: str) -> SamplerError:
    """The error that a log stands for; `pid` is the process that was sampled."""
    if stage == START and _DENIED.search(text):
        return AttachDenied("py-spy", pid, denial.remedy_for(pid))
    if "No space left" in text:
        return SamplerFailed("py-spy", stage, "the disk is full", "free space where the spool lies")
    if any(words in text for words in _NOT_PYTHON):
        return SamplerFailed(
            "py-spy", stage, f"process {pid} is no Python program that it knows, or has ended",
            "see that it still runs Python (not another program after exec), or update py-spy",
        )  # fmt: skip
    said = _ERROR.search(text)
    if said is not None:
        return SamplerFailed("py-spy", stage, said.group(1), "see its log in the spool")
    return SamplerFailed(
        "py-spy", stage, "it ended without its output: it was killed, or ran out of memory or disk",
        "see its log in the spool, the kernel's log, and that the spool has space",
    )  # fmt: skip
