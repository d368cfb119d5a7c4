"""Count instructions with Callgrind: how many executions are warm-up, and how many each repeat has.

Counts by Python function are taken in a run of their own. The trampoline changes how functions are called, so
these counts explain others and are compared only with their like.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from . import valgrind
from .protocol import SHARED, Attributed, Counts, JobMessage, StartOver
from .runnable import Runnable
from .state_policy import Effort, StatePolicy, find_policy, given_policy

_OFTEN, _SELDOM = 10, 2
"""Default executions per repeat, of short and other statements; more do not improve precision."""
_SHORT = 2_500_000
"""Maximum instructions of a statement that is executed often: some 50 ms under Valgrind.

There is only one such limit, so that few changes of a statement change how it is counted.
"""
_LONG = 25_000_000
"""Maximum instructions of a statement that is executed three times before it is counted."""
_LONGEST = 250_000_000
"""Maximum instructions of a statement that is executed twice before it is counted."""
_SETTLING = 40
"""Executions in addition to the requested warm-up, for short statements."""
_WATCHED = 3
"""Maximum executions that are counted one by one."""
_MIN_WARM = 10
"""Minimum warm-up before a block like a repeat, even if that block could settle the statement."""
_WAITS_S = 0.05
_WAITS_TIMES = 20
_PER_S = 50e6
"""Minimum instructions per second under Valgrind.

A statement waits if every execution sleeps, which load does not explain, and takes more than `_WAITS_S` and
`_WAITS_TIMES` the time of its instructions. It is executed as rarely as a long one.
"""
_EFFORT = Effort(block=100_000, long=_LONG, most_objects=5_000)
_TOTALS_BYTES = 256
"""Maximum size of a dump's last line, which has the totals."""


@dataclass(frozen=True, slots=True)
class Execution:
    """Cost of one warm-up execution."""

    instructions: int
    """Instructions of this thread, including the loop."""
    seconds: float
    sleeps: int
    """Voluntary context switches of the thread."""

    @property
    def waits(self) -> bool:
        """True if most of its time passed without instructions of this thread."""
        return self.sleeps > 0 and self.seconds > max(_WAITS_S, _WAITS_TIMES * self.instructions / _PER_S)

    @property
    def is_long(self) -> bool:
        """True if it is too long to be repeated."""
        return self.instructions > _LONGEST or (self.waits and self.seconds > _LONGEST / _PER_S)


@dataclass(frozen=True, slots=True)
class Repetitions:
    """Numbers of executions for warm-up and repeats."""

    repeats: int
    number: int | None
    """Executions per repeat; None: chosen from the first executions."""
    warm: int
    """Maximum executions before the first repeat."""
    rehearsed: bool
    """True if the last warm-up executions form a block like a repeat."""


def repetitions_of(requested: int | None, repeats: int, warm: int, limit: int | None) -> Repetitions:
    """Return the requested numbers within the limit, if any: repeats first, warm-ups last.

    Without a limit and with the usual warm-up, 60 executions precede the first repeat: the heap has settled.
    In the next 27, CPython 3.11 neither retries a failed specialisation (at the 29th, 60th, 123rd, …) nor
    respecialises a comprehension's call (56th, 88th, …).
    """
    if limit is None:
        return Repetitions(repeats, requested, warm + _SETTLING, rehearsed=True)
    repeats = min(repeats, limit)
    number = min(requested or _SELDOM, limit // repeats)
    return Repetitions(repeats, number, min(warm, limit - repeats * number), rehearsed=False)


def count_case(measured: Runnable, baseline: Runnable, index: int, job: JobMessage) -> Counts | StartOver:
    """Count the repeats of a statement, and one of the same loop, empty.

    If only another process can count it, return what that process must know. If a statement fails because it
    changed its state, each execution gets its own state.
    """
    executions: list[Execution] = []

    def cost(one: Runnable, number: int) -> float:
        executions.append(_counted_once(job["dump_prefix"], one, number))
        return executions[-1].instructions

    fresh = job["cases"][index].get("fresh", SHARED)
    policy = measured.do(partial(find_policy, measured, fresh, cost, _EFFORT))
    if policy.starts_over:
        return {"fresh": policy.fresh}
    try:
        return _count_with(policy, measured, baseline, index, job, executions[:1])
    except Exception:
        with_fresh_state = policy.with_fresh_state()
        if with_fresh_state is policy:
            raise
        return _count_with(with_fresh_state, measured, baseline, index, job, [])


def attribute_case(
    measured: Runnable, baseline: Runnable, index: int, job: JobMessage, descriptor: int
) -> Attributed:
    """Count one block of a statement and one of the same loop, empty, by Python function.

    `descriptor` is the trampoline's map.
    """
    from .trampoline import stubs_in

    policy = measured.do(partial(given_policy, measured, job["cases"][index]["fresh"]))
    if policy.prepared is not None:
        measured, baseline = policy.prepared.full, policy.prepared.empty
    number = job["number"][index] or 1
    dumps = []
    for one in (baseline, measured):
        one.do(partial(one.run, job["warm"], valgrind.no_toggle()))
        dumped = one.do(partial(valgrind.instrumented, partial(count_block, one, number)))
        dumps.append(dump_path(job["dump_prefix"], dumped))
    return {
        "number": number,
        "baseline_dumps": dumps[:1],
        "dumps": dumps[1:],
        "fresh": policy.fresh,
        "stubs": stubs_in(descriptor),
    }


def _count_with(
    policy: StatePolicy,
    measured: Runnable,
    baseline: Runnable,
    index: int,
    job: JobMessage,
    executions: Sequence[Execution],
) -> Counts:
    other = policy.prepared
    if other is not None:
        measured, baseline, executions = other.full, other.empty, ()
    repetitions = repetitions_of(job["number"][index], job["repeats"], job["warm"], job["runs"])
    counted = partial(_counted_once, job["dump_prefix"], measured, 1)
    number, settled = measured.do(partial(warm, measured, repetitions, counted, executions))
    baseline.do(partial(_run, baseline, job["warm"]))
    # Twice, discarding the first: Callgrind counts calls even while it counts no instructions, and resets
    # those of a function only when it dumps them.
    for _ in range(2):
        base = baseline.do(partial(count_block, baseline, number))
    # Discard the first one here too, if the statement is short. It also leaves the heap as every repeat does,
    # so that the first repeat does not differ. One loop does all: its iterator may come from a free list.
    for block in [*[min(number, _OFTEN)] * settled, *[number] * repetitions.repeats]:
        last = measured.do(partial(count_block, measured, block))
    return {
        "number": number,
        "dumps": [dump_path(job["dump_prefix"], last - n) for n in reversed(range(repetitions.repeats))],
        "baseline_dumps": [dump_path(job["dump_prefix"], base)],
        "fresh": policy.fresh,
    }


def warm(
    measured: Runnable,
    repetitions: Repetitions,
    counted: Callable[[], Execution],
    before: Sequence[Execution] = (),
) -> tuple[int, bool]:
    """Execute a statement until it has settled, less often if it is long.

    `counted` executes it once; `before` has earlier executions. Returns the number of executions per repeat,
    and whether the caller should end the warm-up with a block like a repeat. Instruction counts decide, so
    that equal processes do the same under any load.
    """
    executions = list(before)
    while len(executions) < min(repetitions.warm, _WATCHED) and _needs_another(executions):
        executions.append(counted())
    settles = len(executions) > 1 and not _wait(executions)
    each = executions[-1].instructions if executions else 0
    short = settles and each <= _SHORT
    number = repetitions.number or (_OFTEN if short else _SELDOM)
    if settles and each <= _LONG and len(executions) < min(repetitions.warm, _WATCHED):
        _run(measured, 1)
    rest = (
        max(repetitions.warm - (number if repetitions.rehearsed else 0), min(repetitions.warm, _MIN_WARM))
        - _WATCHED
    )
    if short and rest > 0:
        _run(measured, rest)
    return number, repetitions.rehearsed and short


def _needs_another(executions: Sequence[Execution]) -> bool:
    """Return whether to count one more execution: the second is typical; a third confirms waiting."""
    return not executions or (not executions[-1].is_long and (len(executions) == 1 or executions[-1].waits))


def _wait(executions: Sequence[Execution]) -> bool:
    """Return whether executions wait, ignoring the first, in which Valgrind translates code."""
    return all(execution.waits for execution in executions[1:])


def _counted_once(prefix: str, measured: Runnable, number: int) -> Execution:
    before, start_s = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw, time.perf_counter()
    measured.run(number, valgrind.toggle())
    seconds, after = time.perf_counter() - start_s, resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    return Execution(_total(dump_path(prefix, valgrind.dump())), seconds, after - before)


def _total(dump: str) -> int:
    """Return the instructions in a dump; its last line is `totals: Ir …` (Valgrind's cl-format.html)."""
    descriptor = os.open(dump, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        end = os.pread(descriptor, _TOTALS_BYTES, max(0, size - _TOTALS_BYTES))
    finally:
        os.close(descriptor)
    return int(end.rpartition(b"totals:")[2].split()[0])


def count_block(measured: Runnable, number: int) -> int:
    """Count a block and return its dump's number.

    Nothing is collected between dumps, so no reset is needed. Callgrind's own reset leaves a few
    instructions, and those of other threads.
    """
    measured.run(number, valgrind.toggle())
    return valgrind.dump()


def dump_path(prefix: str, number: int) -> str:
    """Return the path that Callgrind gives to a dump.

    Listing the folder would make the heap depend on the file system's order.
    """
    return f"{prefix}.{os.getpid()}.{number}"


def _run(measured: Runnable, number: int) -> None:
    measured.run(number, valgrind.no_toggle())
