"""The target's own log of its actions, independent of its profiler.

Each line is written by one `write(2)` in append mode: `begin LABEL CALL AT_NS`, `end LABEL CALL AT_NS`,
`exit AT_NS` before the exit handlers, and others.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ENOUGH_S = 0.25
"""Minimum time for which a label must have a profile: about 25 samples at 100 samples a second."""


@dataclass(frozen=True, slots=True)
class LabelLog:
    """Calls of one label."""

    finished: int
    finished_before_exit: int
    """Number of finished calls, except those of daemon threads while the exit handlers ran."""
    begun: int
    finished_s: float
    """Time in the calls of `finished_before_exit`, which may overlap."""


def read_log(path: Path, lost_s: float = 0.0) -> dict[str, LabelLog]:
    """Return the calls in a log, by label, without a line that a kill truncated, and its last `lost_s`."""
    text = path.read_text("utf-8") if path.exists() else ""
    *whole, _cut = text.split("\n")
    lines = [line.split() for line in whole]
    end_ns = max((int(words[-1]) for words in lines), default=0) - round(lost_s * 1e9)
    open_ns: dict[tuple[str, str], int] = {}
    begun: dict[str, int] = defaultdict(int)
    finished: dict[str, int] = defaultdict(int)
    before_exit_ns: dict[str, list[int]] = defaultdict(list)
    exiting = False
    for word, *rest in (words for words in lines if int(words[-1]) <= end_ns):
        if word == "begin":
            label, call, at_ns = rest
            open_ns[label, call] = int(at_ns)
            begun[label] += 1
        elif word == "end":
            label, call, at_ns = rest
            finished[label] += 1
            duration_ns = int(at_ns) - open_ns.pop((label, call))
            if not exiting:
                before_exit_ns[label].append(duration_ns)
        elif word == "exit":
            exiting = True
    return {
        label: LabelLog(finished[label], len(before_exit_ns[label]), count, sum(before_exit_ns[label]) / 1e9)
        for label, count in begun.items()
    }


def taken(log: dict[str, LabelLog]) -> set[str]:
    """Return the labels that have a profile if nothing was lost."""
    return {label for label, calls in log.items() if calls.finished_s >= ENOUGH_S}
