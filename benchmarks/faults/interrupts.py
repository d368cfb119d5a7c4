"""KeyboardInterrupt at the places of a profiled call where a signal handler can raise it."""

from __future__ import annotations

from itertools import product

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import PROGRAMS, await_status, sandbox

_KINDS = ("function", "generator", "coroutine", "async generator", "task", "process", "block")
_STAGES = ("warm", "starting")
_SAMPLERS = ("inprocess", "pyspy")
_VARIANTS = tuple(
    variant
    for variant in product(_KINDS, _STAGES, _SAMPLERS)
    if variant[0] != "task" or variant[2] != "inprocess"  # another thread than the main one starts it
)
COUNT = len(_VARIANTS) * 4
_MOST = 20
"""Number of interrupted calls of an injection; each is followed by another."""
_WIDEST = {"warm": 8, "starting": 120}
"""Most places from one interrupted call to the next."""
_TIMEOUT_S = 240.0


def inject(injection: Injection) -> Outcome:
    """Interrupt some calls of one kind; `taken` counts those that must be profiled after them."""
    kind, stage, sampler = injection.variant(_VARIANTS)
    rng = injection.generator()
    every = rng.randint(1, _WIDEST[stage])
    places = [str(rng.randrange(every)), str(every), str(_MOST)]
    with sandbox() as box:
        argv = [str(PROGRAMS / "interrupted.py"), str(box.log), kind, stage, sampler, *places]
        with box.started(argv) as target:
            status = await_status(target, _TIMEOUT_S)
        lines = box.log.read_text("utf-8").splitlines()
        interrupted = sum(line.startswith("interrupted ") for line in lines)
        wrong = [line for line in lines if not line.startswith("interrupted ") and line != "done"]
        lost = sum(line.startswith("uncounted ") for line in wrong)
        outcome = Outcome(injected=interrupted, taken=interrupted, recovered=interrupted - lost)
        if status != 0 or "done" not in lines:
            outcome = outcome.with_problem(f"exit status {status}: {box.output()[-600:]}", changed=1)
        for line in wrong:
            outcome = outcome.with_problem(f"{kind}, {stage}, {sampler}: {line}", changed=1)
        box.await_end()
        box.age()  # the folder of a session that was interrupted at its beginning is removed when it is old
        outcome, _ = box.listed(outcome)
        return box.counted(outcome)
