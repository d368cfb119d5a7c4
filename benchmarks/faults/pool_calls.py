"""Isolated calls that crash or misbehave, and pools whose processes are killed or stopped at random."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.programs.calling import BAD, DISTURBED
from benchmarks.faults.sandbox import (
    PROGRAMS,
    MarkedProcess,
    Sandbox,
    await_line,
    await_status,
    sandbox,
)

_SIGNALS = tuple(
    f"{number} {role}" for number in ("KILL", "STOP", "SEGV", "TERM") for role in ("zygote", "launcher")
)
"""Zygotes share their arguments with their workers, supervisors with their launcher."""
_VARIANTS = (*BAD, *_SIGNALS)
_LATEST_S = 1.0
_ENDS_WITHIN_S = 150.0


def inject(injection: Injection) -> Outcome:
    """Let one call misbehave, or signal a process of the pool; every future must end."""
    variant = injection.variant(_VARIANTS)
    with sandbox() as box:
        how = variant if variant in BAD else DISTURBED
        moment_s = injection.generator().uniform(0.0, _LATEST_S)
        status = _run(
            box, how, lambda: None if variant in BAD else _disturb(box, injection, variant, moment_s)
        )
        return box.counted(box.ended(_logged(box, variant), variant, status, warnings=2))


def _run(box: Sandbox, how: str, disturb: Callable[[], None]) -> int | None:
    with box.started([str(PROGRAMS / "calling.py"), str(box.log), how]) as program:
        await_line(box.log, "begun")
        disturb()
        return await_status(program, _ENDS_WITHIN_S)


def _disturb(box: Sandbox, injection: Injection, variant: str, moment_s: float) -> None:
    number, role = variant.split()
    time.sleep(moment_s)
    found: list[MarkedProcess] = [each for each in box.processes() if each.has_word(role)]
    if found:
        with suppress(ProcessLookupError):
            os.kill(injection.generator("whom").choice(found).pid, signal.Signals[f"SIG{number}"])


def _logged(box: Sandbox, variant: str) -> Outcome:
    """Count the futures as taken, and those with an expected end as recovered."""
    lines = box.log.read_text("utf-8").splitlines()
    ends = [line for line in lines if line.startswith(("settled", "wrong", "lost"))]
    bad = [line for line in ends if not line.startswith("settled")]
    problems = tuple(f"{variant}: {line}" for line in bad)
    return Outcome(taken=len(ends), recovered=len(ends) - len(bad), problems=problems)
