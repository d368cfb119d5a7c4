"""Checks shared by several faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from benchmarks.faults.sandbox import CommandResult

_OWN = re.compile(r"profkit|py-spy", re.IGNORECASE)
_FRAME = re.compile(r'^  File "')
_HANDLED = re.compile(r"^\w\S*: .*\n(?=\nDuring handling of the above exception, )", re.MULTILINE)
_TROUBLE = ("Exception in thread", "Exception ignored", "Fatal Python error: _", "ResourceWarning")


def odd_lines(stderr: str, warnings: int = 0) -> Iterator[str]:
    """Yield lines of stderr that an unprofiled program would not have, beyond a number of warnings.

    The program's own tracebacks may have frames of profkit, and an exception that was being handled there
    or in an import.
    """
    seen: set[str] = set()
    for line in _HANDLED.sub("", stderr).splitlines():
        if any(trouble in line for trouble in _TROUBLE):
            yield line
        elif _OWN.search(line) and not _FRAME.match(line) and not line.startswith("    "):
            if line in seen:
                yield f"twice: {line}"
            elif len(seen) >= warnings:
                yield line
            seen.add(line)


def sampled_labels(listed: CommandResult) -> set[str]:
    """Return the labels of listed runs that have samples."""
    return {str(run["label"]) for run in listed.runs() if run.get("samples")}


def first_words(lines: Iterable[str], limit: int = 300) -> str:
    """Return the beginning of some lines, for a message."""
    return " / ".join(lines)[:limit]
