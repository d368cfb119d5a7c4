"""What each option does to a run, as JSON."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections import Counter

from spinning import spin, spin_beside_sampler

from profkit import FunctionProfiler, ProfkitError

SAID: list[str] = []
DATA = b"x" * 50_000_000
"""So much that hashing it without the GIL takes almost all time."""


def wait() -> None:
    spin_beside_sampler(0.3, 200, time.sleep)


def digest(duration_s: float = 0.3) -> None:
    """Works in C alone."""
    end = time.thread_time() + duration_s
    while time.thread_time() < end:
        hashlib.sha256(DATA).digest()


def take_turns() -> None:
    """Work with and without the GIL for equal times, on a machine that is equally busy."""
    for _ in range(10):
        spin(0.05)
        digest(0.05)


def profiled_call(work, *arguments, **options) -> dict[str, object]:
    """The run of one call under some options."""
    profiler = FunctionProfiler(**options)
    profiler.profile(work, *arguments)
    run = profiler.last_run
    if run is None:
        return {"run": None}
    info, functions = run.info, Counter()
    for sample in run.profile.samples if run.profile else ():
        functions[run.profile.frames[run.profile.stacks[sample.stack][-1]].name] += sample.weight
    plan = {name: getattr(info.plan, name) for name in info.plan.__slots__ if name != "notes"}
    return {"plan": plan, "samples": info.samples, "achieved": info.achieved_hz, "label": info.label,
            "leaves": dict(functions), "notes": list(map(str, info.notes)), "error": info.error}  # fmt: skip


def raised(**options) -> str:
    try:
        FunctionProfiler(stop_at_error=True, **options).profile(spin, 0.0)
    except ProfkitError as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def main() -> dict[str, object]:
    short = {"timeout_wait_for_running_sec": 1e-6, "sampler": "pyspy"}
    return {
        "slow": profiled_call(spin, 0.5, rate=40, label="slow"),
        "fast": profiled_call(spin, 0.5, rate=400, blocking=False),
        "exact": profiled_call(spin, 0.2, rate=100, blocking=True),
        "waiting": profiled_call(wait, rate=200, blocking=False),
        "not waiting": profiled_call(wait, rate=200, blocking=False, idle=False),
        "GIL held": profiled_call(take_turns, rate=200, gil=True),
        "in C": profiled_call(digest, rate=100, blocking=True),
        "native": profiled_call(digest, rate=100, native=True),
        "family": profiled_call(spin, 0.05, rate=100, subprocesses=True, scope="process"),
        "strict": raised(**short, rate=61),
        "mild": profiled_call(spin, 0.01, rate=62, **short),
        "unfinished": profiled_call(spin, 0.05, rate=20, sampler="pyspy", timeout_wait_for_finished_sec=1e-6),
        "said": SAID,
    }


if __name__ == "__main__":
    handler = logging.Handler()
    handler.emit = lambda record: SAID.append(record.getMessage())
    logging.getLogger("profkit").addHandler(handler)
    print(json.dumps(main()))
