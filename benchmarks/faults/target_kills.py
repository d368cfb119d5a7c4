"""Programs that end at a random moment while they are sampled, in every way that a program can end."""

from __future__ import annotations

import signal
import time
from dataclasses import replace

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import PROGRAMS, Sandbox, await_line, await_status, odd_lines, sandbox
from benchmarks.faults.targetlog import LabelLog, read_log, taken

VARIANTS = {
    "KILL": -signal.SIGKILL, "TERM": -signal.SIGTERM, "INT": -signal.SIGINT, "HUP": -signal.SIGHUP,
    "abort": -signal.SIGABRT, "segfault": -signal.SIGSEGV, "_exit": 7, "memory": 1,
}  # fmt: skip
"""Ways to end, each with the exit status of an unprofiled program."""
_SIGNALS = ("KILL", "TERM", "INT", "HUP")
_ORDERLY = ("INT", "memory")
"""Ways in which Python's exit handlers run, so that every finished call has to be counted."""
_WAYS = ("steady", "restless", "threads", "coroutines")
_SAMPLERS = ("auto", "auto", "inprocess")
"""Samplers to choose from; one in three targets is sampled from inside."""
_LOST_S = {"auto": 0.0, "inprocess": 1.0}
"""Maximum time of samples in the memory of the target, which end with it."""
_SHORT_OF_MEMORY = ("Exception in thread Thread-", "Exception ignored in")
"""Messages of threads that run out of memory: the target's own, and those of profkit that cannot begin."""
_NO_RUNS = 6
_LATEST_S = {"auto": 2.5, "inprocess": 4.0}
_ENDS_WITHIN_S = 30.0


def inject(injection: Injection) -> Outcome:
    """Start a target, end it, and compare `profkit list` with its log."""
    variant = injection.variant(tuple(VARIANTS))
    way = injection.generator("way").choice(_WAYS)
    sampler = sampler_of(injection)
    where = f"{way}, {variant}, {sampler}"
    with sandbox() as box:
        status = _ended(box, injection, variant, way, sampler)
        log = read_log(box.log)
        due = taken(read_log(box.log, _LOST_S[sampler]))
        outcome = Outcome(taken=len(due))
        if status != VARIANTS[variant] and not (status == 1 and _was_importing(variant, way, log)):
            outcome = outcome.with_problem(f"{where}: exit status {status}: {box.output()[-600:]}", changed=1)
        short_of_memory = variant == "memory"
        for line in odd_lines(box.output(), warnings=2 if short_of_memory else 0):
            if short_of_memory and line.startswith(_SHORT_OF_MEMORY):
                continue
            outcome = outcome.with_problem(f"{where}: stderr: {line}", changed=1)
        box.await_end()
        box.age()  # the empty folder of a session that was killed at its beginning is removed when it is old
        listed = box.command("list", "--json")
        problem = listed.problem((0,) if due else (0, _NO_RUNS))
        if problem or (listed.code == 0 and listed.stderr):
            outcome = outcome.with_problem(problem or listed.stderr)
        found = due & listed.sampled_labels()
        outcome = replace(outcome, recovered=len(found))
        for label in sorted(due - found):
            outcome = outcome.with_problem(f"{where}: {label} is lost: {log[label]}")
        if variant in _ORDERLY:
            outcome = _with_calls(outcome, log, listed.runs(), where)
        return box.counted(outcome)


def sampler_of(injection: Injection) -> str:
    """Return the sampler of the target."""
    return injection.generator("sampler").choice(_SAMPLERS)


def _ended(box: Sandbox, injection: Injection, variant: str, way: str, sampler: str) -> int | None:
    """Return the exit status of a target that was ended at its moment; None if it did not end."""
    after_s = injection.moment_s(_LATEST_S[sampler])
    own = [] if variant in _SIGNALS else [variant, str(after_s)]
    seed = f"{injection.seed}.{injection.number}"
    argv = [str(PROGRAMS / "caller.py"), str(box.log), way, seed, "60", sampler]
    with box.started([*argv, *own]) as target:
        await_line(box.log, "begun")
        if variant in _SIGNALS:
            time.sleep(after_s)
            target.send_signal(signal.Signals[f"SIG{variant}"])
        return await_status(target, _ENDS_WITHIN_S)


def _was_importing(variant: str, way: str, log: dict[str, LabelLog]) -> bool:
    """Return whether the main thread was interrupted before its first call, while threads imported profkit.

    CPython ends with 1 instead of SIGINT if a thread calls `exec` after that, as dataclasses do at import. If
    the processor is busy, a faster thread may have finished calls by then.
    """
    if variant != "INT" or way != "threads":
        return False
    return "main" not in log or not any(calls.finished for calls in log.values())


def _with_calls(
    outcome: Outcome, log: dict[str, LabelLog], runs: list[dict[str, object]], where: str
) -> Outcome:
    """Add a problem for each label with fewer counted calls than finished before the exit handlers."""
    for label, calls in log.items():
        counted = sum(int(str(run["calls"])) for run in runs if run["label"] == label)
        finished = calls.finished_before_exit
        wanted = finished // 3 if label == "items" else finished
        if label != "coroutine" and counted < wanted:
            outcome = outcome.with_problem(f"{where}: {counted} of {wanted} calls of {label} are counted")
    return outcome
