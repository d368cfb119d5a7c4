"""Measuring programs, supervisors, zygotes and workers that are killed or stopped at a random moment."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import replace

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import (
    PROGRAMS,
    MarkedProcess,
    Sandbox,
    await_line,
    await_status,
    sandbox,
)

_VARIANTS = tuple(
    (role, variant)
    for variant in ("KILL", "STOP", "TERM", "INT", "SEGV")
    for role in ("program", "zygote", "supervisor", "program", "zygote")
)
"""Zygotes share their arguments with the workers that they fork, supervisors with their launcher."""
_ARGUMENTS = {"zygote": "zygote", "supervisor": "launcher"}
_LATEST_S = {"timer": 2.0, "callgrind": 4.0}
_STOPPED_S = 1.0
_ENDS_WITHIN_S = 120.0


def inject(injection: Injection) -> Outcome:
    """Signal one process of a measurement."""
    role, variant = injection.variant(_VARIANTS)
    rng = injection.generator()
    way, mode = rng.choice(("measured", "decorated")), rng.choice(("timer", "timer", "callgrind"))
    where = f"{variant} to {role}, {way}, {mode}"
    with sandbox() as box:
        argv = [str(PROGRAMS / "orders.py"), str(box.log), way, mode]
        victim, status = _signalled(box, argv, role, variant, rng.uniform(0.02, _LATEST_S[mode]))
        outcome = Outcome()
        ends_it = victim == "program" and variant not in ("STOP",)
        if status is None or not ends_it:
            outcome = box.ended(outcome, where, status, warnings=4)
        box.await_end()
        kept = {line.split()[1] for line in _log_lines(box) if line.startswith("kept ")}
        outcome, listed = box.listed(outcome, (0,) if kept else (0, 6))
        found = kept & {str(run["id"]) for run in listed.runs()}
        return box.counted(replace(outcome, taken=len(kept), recovered=len(found)))


def _signalled(
    box: Sandbox, argv: list[str], role: str, variant: str, after_s: float
) -> tuple[str, int | None]:
    """Return the signalled process's role, and the program's exit status, None if it did not end."""
    with box.started(argv) as program:
        await_line(box.log, "begun")
        time.sleep(after_s)
        chosen = _one_of(box, role)
        victim = "program" if chosen is None else role
        pid = program.pid if chosen is None else chosen.pid
        with suppress(ProcessLookupError):
            os.kill(pid, signal.Signals[f"SIG{variant}"])
            if victim == "program" and variant == "STOP":
                time.sleep(_STOPPED_S)
                os.kill(pid, signal.SIGCONT)
        return victim, await_status(program, _ENDS_WITHIN_S)


def _one_of(box: Sandbox, role: str) -> MarkedProcess | None:
    """Return the newest process of a role; None for the program itself, or if there is none."""
    argument = _ARGUMENTS.get(role)
    if argument is None:
        return None
    found = [each for each in box.processes() if each.has_word(argument)]
    return max(found, key=lambda each: each.pid, default=None)


def _log_lines(box: Sandbox) -> list[str]:
    *lines, _cut = box.log.read_text("utf-8").split("\n")
    return lines
