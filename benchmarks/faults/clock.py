"""Targets whose clock is set back or ahead, by libfaketime inside them: never the machine's own clock."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.faults.injections import Injection, NotPermitted, Outcome
from benchmarks.faults.sandbox import PROGRAMS, Sandbox, await_line, sandbox
from benchmarks.faults.targetlog import LabelLog, read_log, taken

_STEPS_S = (-3600, -86400, +3600, -30, -1_500_000_000, +86400)
"""Steps of the clock, each during the run; the fifth leads to the year 1979."""
_WAYS = ("steady", "restless")
_DURATION_S = 3.0
_ENDS_WITHIN_S = 60.0
_STARTS_WITHIN_S = 10.0
"""A session is recorded until its sampler has ended."""
_LIBRARIES = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib64/faketime/libfaketimeMT.so.1")


def inject(injection: Injection) -> Outcome:
    """Set the clock of a target that is being sampled."""
    step_s, rng = injection.variant(_STEPS_S), injection.generator()
    way = rng.choice(_WAYS)
    where = f"{way}, clock set by {step_s} s"
    with sandbox() as box:
        start_s = time.monotonic()
        status = _with_clock_set(box, injection, way, step_s, rng.uniform(0.1, _DURATION_S - 0.5))
        program_s = time.monotonic() - start_s
        log = read_log(box.log)
        outcome, listed = box.listed(box.ended(Outcome(taken=len(taken(log))), where, status))
        outcome = _compared(outcome, log, listed.runs(), program_s, where)
        return box.counted(outcome)


def _with_clock_set(box: Sandbox, injection: Injection, way: str, step_s: int, after_s: float) -> int:
    offset = box.own / "offset"
    _set(offset, 0)
    changes = {
        "LD_PRELOAD": f"{_sleeping(box)}:{_library()}", "FAKETIME_TIMESTAMP_FILE": str(offset),
        "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }  # fmt: skip
    seed = f"{injection.seed}.{injection.number}"
    argv = [str(PROGRAMS / "caller.py"), str(box.log), way, seed, str(_DURATION_S), "auto"]
    with box.started(argv, changes) as target:
        await_line(box.log, "begun")
        time.sleep(after_s)
        _set(offset, step_s)
        return target.wait(_ENDS_WITHIN_S)


def _set(offset: Path, step_s: int) -> None:
    """Replace the file with a complete one, since the target may read it at any moment."""
    new = offset.with_suffix(".new")
    new.write_text(f"{step_s:+d}\n", "ascii")
    os.replace(new, offset)


def _sleeping(box: Sandbox) -> Path:
    """Return the shared object of `programs/sleeping.c`."""
    library = box.own / "sleeping.so"
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise NotPermitted("a C compiler is missing: install the package gcc")
    source = str(PROGRAMS / "sleeping.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), source], check=True)
    return library


def _library() -> str:
    found = [str(path) for pattern in _LIBRARIES for path in Path("/").glob(pattern.lstrip("/"))]
    if not found:
        raise NotPermitted("libfaketime is missing: install the package libfaketime")
    return found[0]


def _compared(
    outcome: Outcome, log: dict[str, LabelLog], runs: list[dict[str, object]], program_s: float, where: str
) -> Outcome:
    """Compare samples, calls and times of each label with the log's, which clock changes do not affect."""
    recovered = 0
    for label in sorted(taken(log)):
        of_label = [run for run in runs if run["label"] == label]
        samples, wall_s, gap_s, recorded_s = (_sum(of_label, name) for name in _FIGURES)
        recovered += samples > 0
        # A call includes the time for which its sampler stops it, and in which it writes its log.
        if not 0.8 * log[label].finished_s <= wall_s <= program_s:
            times = f"{wall_s:.2f} s of wall time, {log[label].finished_s:.2f} s by its log"
            outcome = outcome.with_problem(f"{where}: {label} has {times}")
        if gap_s < 0 or not 0 < recorded_s <= program_s + _STARTS_WITHIN_S:
            figures = f"recorded {recorded_s:.2f} s with gaps of {gap_s:.2f} s in {program_s:.2f} s"
            outcome = outcome.with_problem(f"{where}: {label}: {figures}")
    return replace(outcome, recovered=recovered)


_FIGURES = ("samples", "wall_s", "session.gap_s", "session.recorded_s")


def _sum(runs: list[dict[str, object]], name: str) -> float:
    total = 0.0
    for run in runs:
        value: object = run
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        total += float(str(value or 0))
    return total
