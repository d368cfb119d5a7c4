"""Time blocks of executions: their size, number and order; torch's own Timer for blocks of torch."""

from __future__ import annotations

import math
import random
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .protocol import SHARED, Fresh, Job, Times
from .runnable import Measured

Clock = Callable[[], float]
Elapsed = Callable[[int], float]
"""Runs a block of so many executions; the seconds that it took."""

_BLOCKS, _LEAST_BLOCKS = 20, 3
_LONGEST_S = 0.5
"""Of a process that nobody asked to run longer."""
WARMS = 20
"""Executions after which the interpreter has specialised a statement (3.11 needs 8, functions that it calls
as many again)."""
_PREPARING_S = 0.5
"""Longest time that goes before the blocks of a process, to prepare what they execute."""
_LEAST_S = 1e-9
"""No statement takes less; clocks may say so."""
_ALIKE = 4
"""Between arms whose times differ more, no bias of a per cent decides anything."""
_WARM_S = 0.04
"""Slower statements are warm before that."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a job asks of its timed arms."""

    block_s: float
    min_run_time_s: float
    blocks: int | None
    seed: int

    @staticmethod
    def by(job: Job) -> Wanted:
        """What a message asks for."""
        return Wanted(job["block_s"], job["min_run_time_s"], job["blocks"], job["seed"])


@dataclass(frozen=True, slots=True)
class Meter:
    """Where times come from."""

    clock: Clock = time.perf_counter
    cpu: Clock = time.process_time
    switches: Callable[[], int] = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    """Involuntary context switches so far."""


WHOLE_PROCESS = Meter()
THIS_THREAD = Meter(
    cpu=time.thread_time, switches=lambda: resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
)


@dataclass(slots=True)
class Timed:
    """An arm and what is known of it so far."""

    elapsed: Elapsed
    do: Callable[[Callable[[], None]], None]
    """Does something in the thread in which `elapsed` may be called."""
    number: int | None = None
    """Executions in a block; None: not known yet."""
    left: int | None = None
    """Executions that are still allowed; None: any number."""
    estimate_s: float = 0.0
    """Of one execution; 0: not known."""
    loop: Elapsed | None = None
    """Runs the loop around nothing, which is subtracted; None: it belongs to the times."""
    most: int = sys.maxsize
    """Executions that a block may have."""
    warms: int = WARMS
    """Executions that warm it up."""
    preparing_s: float = 0.0
    """What goes before each execution, and is not timed."""
    loops_s: list[float] = field(default_factory=list)
    """Of one execution, for each block and each before them."""
    fresh: Fresh = field(default_factory=lambda: SHARED)
    times_s: list[float] = field(default_factory=list)
    cpu_s: float = 0.0
    wall_s: float = 0.0
    involuntary: int = 0

    def spend(self, number: int) -> float:
        """Run a block that counts against what is allowed."""
        if self.left is not None:
            self.left -= number
        if self.loop is not None:
            # The first time, the processor fetches the states, which the execution does not need to do again.
            self.loops_s += (self.loop(number) / number, self.loop(number) / number)
        return self.elapsed(number)

    def answer(self) -> Times:
        """What the reply says."""
        assert self.number is not None
        # What disturbs a loop makes it longer: two halves that agree on the least were not disturbed.
        halves_s = [min(self.loops_s[1 + half :: 4], default=0.0) for half in (0, 2)]
        loop_s = min(halves_s)
        return {
            "number": self.number,
            "times_s": [max(0.0, time_s - loop_s) for time_s in self.times_s],
            "cpu_s": self.cpu_s,
            "wall_s": self.wall_s,
            "involuntary": self.involuntary,
            "loop_s": loop_s,
            "loop_spread_s": max(halves_s) - loop_s,
            "fresh": self.fresh,
        }


def time_arms(arms: Sequence[Timed], wanted: Wanted, meter: Meter) -> list[Times]:
    """Warm the arms, then run their blocks in turns, each round in another order."""
    order, free = random.Random(wanted.seed), [arm for arm in arms if arm.number is None]
    for arm in order.sample(arms, len(arms)):
        arm.do(partial(_prepare, arm, wanted, meter))
    _agree(free)
    for turn in range(block_count(arms, wanted)):
        for arm in order.sample(arms, len(arms)):
            if turn >= len(arm.times_s):
                arm.do(partial(_measure, arm, meter))
    return [arm.answer() for arm in arms]


def block_count(arms: Sequence[Timed], wanted: Wanted) -> int:
    """Blocks of each arm: as asked; else 20, more for a longer run, fewer, but 3, of slow statements."""
    round_s = sum(arm.estimate_s * (arm.number or 1) for arm in arms)
    count = wanted.blocks or _BLOCKS
    if wanted.blocks is None and round_s > 0:
        longest_s = max(wanted.min_run_time_s, _LONGEST_S)
        count = max(_BLOCKS, math.ceil(wanted.min_run_time_s / round_s))
        count = min(count, math.floor(longest_s / round_s))
        preparing_s = sum(arm.preparing_s * (arm.number or 1) for arm in arms)
        count = max(_LEAST_BLOCKS, min(count, math.floor(_PREPARING_S / max(preparing_s, _LEAST_S))))
    allowed = [len(arm.times_s) + arm.left // (arm.number or 1) for arm in arms if arm.left is not None]
    return max(1, min([count, *allowed]))


def _agree(arms: Sequence[Timed]) -> None:
    """Give arms of about the same speed the same number: what begins each block weighs the same on them."""
    least = min((arm.number or 1 for arm in arms), default=1)
    for arm in arms:
        if (arm.number or 1) <= _ALIKE * least and not arm.times_s:
            arm.number = least


def _prepare(arm: Timed, wanted: Wanted, meter: Meter) -> None:
    """Warm an arm up and choose its number."""
    allowed, asked = arm.left, arm.number
    warm_ups = None if allowed is None else allowed // 4
    if warm_ups != 0:
        arm.estimate_s = _warmed(arm, wanted.block_s, warm_ups)
    if asked is None:
        arm.number = max(1, round(wanted.block_s / arm.estimate_s)) if arm.estimate_s > 0 else 1
        arm.number = min(arm.number, arm.most)
        if arm.left is not None:
            arm.number = max(1, min(arm.number, arm.left // _LEAST_BLOCKS))
    elif allowed is not None and warm_ups is not None:
        arm.number = max(1, min(asked, allowed - warm_ups))
    if warm_ups is None and arm.number == 1 and arm.estimate_s >= _WARM_S:
        _distrust_the_first(arm, wanted, asked, meter)


def _distrust_the_first(arm: Timed, wanted: Wanted, asked: int | None, meter: Meter) -> None:
    """Believe a slow first execution only if the next one, which is the first block, is about as slow.

    It may have compiled something, or loaded it.
    """
    _measure(arm, meter)
    if arm.times_s[0] < arm.estimate_s / 2:
        arm.times_s.clear()
        arm.cpu_s, arm.wall_s, arm.involuntary = 0.0, 0.0, 0
        arm.estimate_s = _warmed(arm, wanted.block_s, None)
        arm.number = asked or min(arm.most, max(1, round(wanted.block_s / arm.estimate_s)))


def _warmed(arm: Timed, block_s: float, allowed: int | None) -> float:
    """Run growing blocks until the statement has settled; seconds of one execution in the fastest.

    That a block takes long says little: somebody else may have had the core.
    """
    number, done, spent_s, estimate_s = 1, 0, 0.0, math.inf
    while True:
        took_s = arm.spend(number)
        done, spent_s = done + number, spent_s + took_s
        estimate_s = max(min(estimate_s, took_s / number), _LEAST_S)
        long = number * estimate_s >= block_s / 2 or number >= arm.most
        settled = long and done >= arm.warms
        if settled or spent_s >= _WARM_S or done == allowed:
            return estimate_s
        number = min(10 * number, max(1, math.ceil(block_s / estimate_s)), arm.most)
        if allowed is not None:
            number = min(number, allowed - done)


def _measure(arm: Timed, meter: Meter) -> None:
    """Run a block and keep what it took."""
    number = arm.number or 1
    started_s = meter.clock()
    # Not getrusage's CPU time, which may be as late as the last tick.
    switches, cpu_s = meter.switches(), meter.cpu()
    took_s = arm.spend(number)
    arm.cpu_s += meter.cpu() - cpu_s
    arm.involuntary += meter.switches() - switches
    arm.wall_s += meter.clock() - started_s
    arm.times_s.append(took_s / number)


_MEASURED = "measured"


def clock() -> Clock:
    """torch's clock, which waits for what runs on CUDA, wherever this process has CUDA in use.

    Elsewhere the plain one: torch's own would start CUDA.
    """
    import torch
    from torch.utils.benchmark import timer

    in_use: Callable[[], bool] = torch.cuda.is_initialized
    plain, waiting = time.perf_counter, timer
    return lambda: waiting() if in_use() else plain()


def clock_of_library() -> Clock:
    """The same for C++, which uses CUDA without telling torch.cuda: that a device has a context tells."""
    import torch

    if torch.version.cuda is None:
        return time.perf_counter
    has_context: Callable[[int], bool] = torch._C._cuda_hasPrimaryContext  # type: ignore[attr-defined]

    def waiting() -> float:
        for device in range(torch.cuda.device_count()):
            if has_context(device):
                torch.cuda.synchronize(device)
        return time.perf_counter()

    return waiting


def elapsed_by_torch(measured: Measured, reads: Clock, stmt: str, setup: str, num_threads: int) -> Elapsed:
    """A function that runs a block as torch's Timer would run its innermost loop."""
    from torch.utils import benchmark
    from torch.utils.benchmark.utils.common import set_torch_threads

    class BlockTimer(benchmark.Timer):
        """torch's Timer around blocks that are there already."""

        _timer_cls = _Blocks

    timer = BlockTimer(stmt, setup, timer=reads, globals={_MEASURED: measured}, num_threads=num_threads)

    def elapsed(number: int) -> float:
        with set_torch_threads(num_threads):
            return float(timer._timeit(number))

    return elapsed


class _Blocks:
    """What torch's Timer takes for timeit's."""

    def __init__(self, stmt: str, setup: str, timer: Clock, globals: dict[str, Any]) -> None:
        self._measured: Measured = globals[_MEASURED]
        self._clock = timer

    def timeit(self, number: int) -> float:
        """Seconds of a block."""
        before, after = self._measured.run(number, self._clock)
        return after - before


def use_threads(num_threads: int) -> None:
    """Let torch compute with so many threads, called from this one."""
    import torch

    torch.set_num_threads(num_threads)
