"""Samplers that are killed or stopped at a random moment: the target must resume within two seconds."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import (
    PROGRAMS,
    MarkedProcess,
    Sandbox,
    await_line,
    await_status,
    sandbox,
)

_VARIANTS = ("STOP", "KILL", "STOP", "TERM", "STOP", "INT", "STOP", "SEGV", "STOP", "HUP")
_DURATION_S = 6.0
_LATEST_S = 1.5
_RUNS_WITHIN_S = 2.0
_LONGEST_PAUSE_S = 2.0
_ENDS_WITHIN_S = 30.0
_NAMES = ("py-spy", "strobeclient")
"""Program names of samplers."""
_HELPER = "profkit/samplers/helper/__main__.py"
"""End of the path of the program of the sampler `cpython`."""


def inject(injection: Injection) -> Outcome:
    """Signal the sampler of a target that logs every two milliseconds."""
    variant = injection.variant(_VARIANTS)
    rng = injection.generator()
    options, depth = _options(rng), rng.choice((3, 30, 120))
    argv = [str(PROGRAMS / "beats.py"), "LOG", json.dumps(options), str(_DURATION_S), str(depth)]
    where = f"{variant}, {options}, depth {depth}"
    with sandbox() as box:
        argv[1] = str(box.log)
        signalled, status = _signalled(box, argv, variant, rng.uniform(0.02, _LATEST_S))
        if not signalled:
            return Outcome(injected=0, not_run="no sampler ran")
        outcome = box.ended(Outcome(taken=1), where, status, warnings=2)
        if (pause_s := _longest_pause_s(box)) > _LONGEST_PAUSE_S:
            outcome = outcome.with_problem(f"{where}: it stood still for {pause_s:.1f} s", changed=1)
        outcome, listed = box.listed(outcome)
        found = any(run["label"] == "beats" and run["calls"] for run in listed.runs())
        return box.counted(replace(outcome, recovered=int(found)))


def _options(rng: random.Random) -> dict[str, object]:
    return {
        "rate": rng.choice((50, 200, 1000)),
        "blocking": rng.choice((True, True, False, "auto")),
        "threads": rng.random() < 0.2,
    }


def _signalled(box: Sandbox, argv: list[str], variant: str, after_s: float) -> tuple[int, int | None]:
    """Return the number of signalled samplers, and the target's exit status; None if it had to be killed."""
    with box.started(argv) as target:
        await_line(box.log, "begun")
        time.sleep(after_s)
        signalled = _signal_samplers(box, signal.Signals[f"SIG{variant}"])
        if not signalled:
            return 0, None
        return signalled, await_status(target, _ENDS_WITHIN_S)


def _signal_samplers(box: Sandbox, number: signal.Signals) -> int:
    """Signal the samplers and return their number; wait for one, as `threads=True` has one for each call."""
    signalled, deadline_s = 0, time.monotonic() + _RUNS_WITHIN_S
    while not signalled and time.monotonic() < deadline_s:
        for sampler in samplers(box):
            with suppress(ProcessLookupError):
                os.kill(sampler.pid, number)
                signalled += 1
    return signalled


def samplers(box: Sandbox) -> list[MarkedProcess]:
    """Return the running samplers in a sandbox."""
    return [found for found in box.processes() if _is_sampler(found.words)]


def _is_sampler(words: Sequence[str]) -> bool:
    """Return whether a command line is a sampler's; that of its watchdog contains it."""
    script = next((word for word in words if word.endswith(".py")), "")
    return words[0].rpartition("/")[2] in _NAMES or script.endswith(_HELPER)


def _longest_pause_s(box: Sandbox) -> float:
    lines = box.log.read_text("utf-8").splitlines()
    times_ns = [int(line.split()[1]) for line in lines if line.startswith("beat ")]
    return max((late - early for early, late in pairwise(times_ns)), default=0) / 1e9
