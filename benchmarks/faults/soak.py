"""Long run of all features: memory, descriptors and threads of target and sampler stay constant."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import PROGRAMS, await_line, await_status, sandbox

_FULL_S, _SHORT_S = 600.0, 10.0
_EVERY_S = 0.5
_GROWTH = 1.05
_SLACK_BYTES = 4 << 20
_LABELS = frozenset({"function", "generator", "coroutine", "block"})


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources of a process at one moment."""

    resident_bytes: int
    descriptors: int
    threads: int


def inject(injection: Injection) -> Outcome:
    """Let a target run, and check it twice a second."""
    duration_s = _SHORT_S if injection.short else _FULL_S
    with sandbox() as box:
        usages: list[Usage] = []
        with box.started([str(PROGRAMS / "soaking.py"), str(box.log), str(duration_s)]) as target:
            await_line(box.log, "begun")
            while (status := await_status(target, _EVERY_S)) is None and len(usages) < 4 * duration_s:
                usages.extend(_usage(target.pid))
        outcome = box.ended(Outcome(taken=len(_LABELS)), f"{duration_s:g} s", status)
        for problem in growth_of(usages):
            outcome = outcome.with_problem(problem)
        outcome, listed = box.listed(outcome)
        return box.counted(replace(outcome, recovered=len(_LABELS & listed.sampled_labels())))


def growth_of(usages: Sequence[Usage]) -> list[str]:
    """Return the resources that grew from the second quarter to the last; the first is for warming up.

    Descriptors and threads come and go, even during a check. Leaks stay, so the smallest number of each
    quarter counts.
    """
    quarter = len(usages) // 4
    if not quarter:
        return ["too little was seen of the program"]
    early, late = usages[quarter : 2 * quarter], usages[-quarter:]
    early_bytes, late_bytes = (median(each.resident_bytes for each in part) for part in (early, late))
    problems = []
    if late_bytes > early_bytes * _GROWTH + _SLACK_BYTES:
        problems.append(f"memory grew from {early_bytes / 1e6:.1f} to {late_bytes / 1e6:.1f} MB")
    for name in ("descriptors", "threads"):
        before, after = (min(getattr(each, name) for each in part) for part in (early, late))
        if after > before:
            problems.append(f"{name} grew from {before} to {after}")
    return problems


def _usage(pid: int) -> list[Usage]:
    folder = Path(f"/proc/{pid}")
    try:
        pages = int((folder / "statm").read_text("ascii").split()[1])
        counts = [len(os.listdir(folder / name)) for name in ("fd", "task")]
    except OSError:  # it has just ended
        return []
    return [Usage(pages * os.sysconf("SC_PAGE_SIZE"), *counts)]
