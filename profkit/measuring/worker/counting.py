"""Instruction counts: dumps of Callgrind that hold exactly one repeat each."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from . import valgrind
from .design import Design, Effort, find_design, told_design
from .protocol import SHARED, Counts, Fresh, Job, StartOver
from .runnable import Measured

_OFTEN, _SELDOM = 10, 2
"""Executions in a repeat where nobody asks for a number; more would not make a count more exact."""
_SHORT = 2_500_000
"""Instructions of the longest statement that is executed often: some 50 ms under Valgrind.

There is one such limit, so that few changes of a statement change how it is counted.
"""
_LONG = 25_000_000
"""Instructions of the longest one that is executed three times before it is counted."""
_LONGEST = 250_000_000
"""Instructions of the longest one that is executed twice before it is counted."""
_SETTLING = 40
"""Executions beyond the warm-up that is asked for, where the statement is short."""
_WATCHED = 3
"""Most executions that are watched one by one."""
_LEAST = 10
"""Executions before a block like a repeat, also if that one is so large that it settles the statement."""
_WAITS_S = 0.05
_WAITS_TIMES = 20
_PER_S = 50e6
"""Instructions that Valgrind executes in a second, at least.

If every execution takes `_WAITS_S` and `_WAITS_TIMES` as long as its instructions need, and sleeps, which no
load of the machine explains, the statement waits for something. It is executed as seldom as a long one.
"""
_EFFORT = Effort(block=100_000, long=_LONG, most_objects=5_000)
_TOTALS_BYTES = 256
"""More than the last line of a dump has, which holds its totals."""

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Execution:
    """What one execution of a warm-up took."""

    instructions: int
    """Of this thread, the loop around it included."""
    seconds: float
    sleeps: int
    """How often the thread gave up its core of its own accord."""

    @property
    def waits(self) -> bool:
        """Whether its time went by without instructions of this thread."""
        return self.sleeps > 0 and self.seconds > max(_WAITS_S, _WAITS_TIMES * self.instructions / _PER_S)

    @property
    def is_long(self) -> bool:
        """Whether there should be no other."""
        return self.instructions > _LONGEST or (self.waits and self.seconds > _LONGEST / _PER_S)


@dataclass(frozen=True, slots=True)
class Share:
    """How executions are spent."""

    repeats: int
    number: int | None
    """Executions in each repeat; None: as the first ones show."""
    warm: int
    """Most executions before the first repeat."""
    rehearsed: bool
    """Whether the last of them are a block like a repeat."""


def share_of(asked: int | None, repeats: int, warm: int, limit: int | None) -> Share:
    """What is asked for, within the limit where there is one: repeats first, warm-ups last.

    Without a limit there are 60 executions, with the usual warm-up, before the first repeat: the heap has
    settled, and in the next 27 CPython 3.11 neither tries again to specialise what it could not (it does at
    the 29th, 60th, 123rd, …), nor changes its mind about a comprehension's call (56th, 88th, …).
    """
    if limit is None:
        return Share(repeats, asked, warm + _SETTLING, rehearsed=True)
    repeats = min(repeats, limit)
    number = min(asked or _SELDOM, limit // repeats)
    return Share(repeats, number, min(warm, limit - repeats * number), rehearsed=False)


def count_arm(
    measured: Measured,
    baseline: Measured,
    place: int,
    job: Job,
    clock: Clock = time.perf_counter,
) -> Counts | StartOver:
    """Count the repeats of a statement, and one of the same loop around nothing.

    Or return what another process has to know before it can. A statement that fails as it has changed its
    state gets a state of its own for each execution.
    """
    taken: list[Execution] = []
    fresh = job["arms"][place].get("fresh", SHARED)
    design = measured.do(
        partial(_design, measured, fresh, partial(_counted_once, job["dump_prefix"], clock), taken)
    )
    if design.starts_over:
        return {"fresh": design.fresh}
    counted = partial(_counted_as, design, measured, baseline, job, job["number"][place], clock)
    try:
        return counted(taken[:1])
    except Exception:
        lasting = design.lasting()
        if lasting is design:
            raise
        return _counted_as(lasting, measured, baseline, job, job["number"][place], clock, [])


def _design(
    measured: Measured, fresh: Fresh, counted: Callable[[Measured, int], Execution], taken: list[Execution]
) -> Design:
    """Find how to execute a statement; what that took is added to `taken`."""

    def cost(one: Measured, number: int) -> float:
        taken.append(counted(one, number))
        return taken[-1].instructions

    if fresh["decided"] is None:
        return find_design(measured, fresh, cost, _EFFORT)
    return told_design(measured, fresh)


def _counted_as(
    design: Design,
    shared: Measured,
    nothing: Measured,
    job: Job,
    asked: int | None,
    clock: Clock,
    taken: Sequence[Execution],
) -> Counts:
    other = design.afresh
    measured, baseline = (shared, nothing) if other is None else (other.full, other.empty)
    share = share_of(asked, job["repeats"], job["warm"], job["runs"])
    counted = partial(_counted_once, job["dump_prefix"], clock, measured, 1)
    number, settled = measured.do(partial(warm, measured, share, counted, taken if other is None else ()))
    baseline.do(partial(_run, baseline, job["warm"]))
    # Twice, and the first time for nothing: Callgrind counts calls also while it counts no instructions, and
    # forgets those of a function only when it has written them down.
    for _ in range(2):
        base = baseline.do(partial(_count, baseline, number))
    if settled:
        # So for the statement. And this leaves the heap as every repeat does, so that the first is no other.
        measured.do(partial(_count, measured, min(number, _OFTEN)))
    for _ in range(share.repeats):
        last = measured.do(partial(_count, measured, number))
    return {
        "number": number,
        "dumps": [_path(job["dump_prefix"], last - n) for n in reversed(range(share.repeats))],
        "baseline_dumps": [_path(job["dump_prefix"], base)],
        "fresh": design.fresh,
    }


def warm(
    measured: Measured, share: Share, counted: Callable[[], Execution], before: Sequence[Execution] = ()
) -> tuple[int, bool]:
    """Execute a statement until it has settled, less often if it is long; not the block like a repeat.

    `counted` executes it once, and `before` are executions that there were already. Returns the number of
    executions in a repeat, and whether a block like one should end the warm-up. Instructions decide, so that
    equal processes do the same under any load.
    """
    taken = list(before)
    while len(taken) < min(share.warm, _WATCHED) and _another(taken):
        taken.append(counted())
    settles = len(taken) > 1 and not _wait(taken)
    each = taken[-1].instructions if taken else 0
    short = settles and each <= _SHORT
    number = share.number or (_OFTEN if short else _SELDOM)
    if settles and each <= _LONG and len(taken) < min(share.warm, _WATCHED):
        _run(measured, 1)
    rest = max(share.warm - (number if share.rehearsed else 0), min(share.warm, _LEAST)) - _WATCHED
    if short and rest > 0:
        _run(measured, rest)
    return number, share.rehearsed and short


def _another(taken: Sequence[Execution]) -> bool:
    """Whether to watch one more execution: the second is typical; a third confirms that it waits."""
    return not taken or (not taken[-1].is_long and (len(taken) == 1 or taken[-1].waits))


def _wait(taken: Sequence[Execution]) -> bool:
    """Whether executions wait; the first one takes long, as Valgrind translates what it runs."""
    return all(execution.waits for execution in taken[1:])


def _counted_once(prefix: str, clock: Clock, measured: Measured, number: int) -> Execution:
    before, start_s = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw, clock()
    measured.run(number, valgrind.toggle())
    seconds, after = clock() - start_s, resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    return Execution(_total(_path(prefix, valgrind.dump())), seconds, after - before)


def _total(dump: str) -> int:
    """Return the instructions in a dump: its last line is `totals: Ir …` (Valgrind's cl-format.html)."""
    descriptor = os.open(dump, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        end = os.pread(descriptor, _TOTALS_BYTES, max(0, size - _TOTALS_BYTES))
    finally:
        os.close(descriptor)
    return int(end.rpartition(b"totals:")[2].split()[0])


def _count(measured: Measured, number: int) -> int:
    """Return the dump's number. Nothing was collected since the last one: there is nothing to be forgotten.

    Callgrind's own way to forget leaves a few instructions, and those of other threads.
    """
    measured.run(number, valgrind.toggle())
    return valgrind.dump()


def _path(prefix: str, number: int) -> str:
    """Return the path of a dump, as Callgrind names it.

    To look into the folder would leave the heap in the order in which the file system lists it.
    """
    return f"{prefix}.{os.getpid()}.{number}"


def _run(measured: Measured, number: int) -> None:
    """The same but for the counting."""
    measured.run(number, valgrind.no_toggle())
