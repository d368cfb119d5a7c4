"""Time a job's cases: warm-up, size and number of blocks, and the clock, which may wait for devices.

Blocks differ in size, number and order; torch's clock, which waits for devices, times them
if torch is imported.
"""

from __future__ import annotations

import contextlib
import gc
import math
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from .protocol import SHARED, Case, Fresh, JobMessage, StartOver, Times
from .runnable import Runnable
from .state_policy import Effort, StatePolicy, comparable, find_policy

Clock = Callable[[], float]
Elapsed = Callable[[int], float]
"""Function that runs a block of N executions and returns its time in seconds."""

_BLOCKS, _MIN_BLOCKS = 20, 3
_LONGEST_S = 0.5
"""Default maximum time of the blocks of a process."""
WARMS = 20
"""Executions after which the interpreter has specialised a statement (3.11 needs 8, and another 8 for
functions that it calls)."""
_PREPARING_S = 0.5
"""Maximum time to prepare the states of all blocks of a process."""
_MIN_S = 1e-9
"""Minimum time of a statement; clocks may show less."""
_SIMILAR = 4
"""Ratio of cases' block sizes above which a bias of 1 % does not matter."""
_WARM_S = 0.04
"""Maximum warm-up time; slow statements are warm by then."""
_BLOCK_PART = 10
"""Factor by which blocks that detect changes may be shorter than others."""
_LONG_S = 0.05
_WARMING_S = 0.1
"""Maximum time to prepare the states of warm-up executions."""


@dataclass(frozen=True, slots=True)
class TimingSettings:
    """Settings of a job for its timed cases."""

    block_s: float
    min_run_time_s: float
    blocks: int | None
    seed: int


@dataclass(frozen=True, slots=True)
class Meter:
    """Clocks and counters for measurements."""

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
    """A case and its measurements so far."""

    elapsed: Elapsed
    do: Callable[[Callable[[], None]], None]
    """Function that runs a task in the thread in which `elapsed` may be called."""
    number: int | None = None
    """Executions per block; None: not chosen yet."""
    left: int | None = None
    """Remaining executions allowed; None: unlimited."""
    estimate_s: float = 0.0
    """Estimated time per execution; 0: unknown."""
    loop: Elapsed | None = None
    """Function that times the empty loop, to subtract it; None: the times include the loop."""
    most: int = sys.maxsize
    """Maximum executions per block."""
    warms: int = WARMS
    """Warm-up executions."""
    preparing_s: float = 0.0
    """Time to prepare each execution, not included in its times."""
    loops_s: list[float] = field(default_factory=list)
    """Loop time per execution, for each block including warm-up blocks."""
    fresh: Fresh = field(default_factory=lambda: SHARED)
    times_s: list[float] = field(default_factory=list)
    cpu_s: float = 0.0
    wall_s: float = 0.0
    involuntary: int = 0

    def spend(self, number: int) -> float:
        """Run a block, subtract it from `left`, and return its time."""
        if self.left is not None:
            self.left -= number
        if self.loop is not None:
            # The first loop loads the states into the cache, which the execution need not repeat.
            self.loops_s += (self.loop(number) / number, self.loop(number) / number)
        return self.elapsed(number)

    def times(self) -> Times:
        """Return the measurements for the reply."""
        assert self.number is not None
        # Disturbances make loops longer: two halves with the same minimum were not disturbed.
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


def time_cases(cases: Sequence[Timed], settings: TimingSettings, meter: Meter) -> list[Times]:
    """Warm up the cases, then run their blocks interleaved, in a random order per round."""
    order, free = random.Random(settings.seed), [case for case in cases if case.number is None]
    for case in order.sample(cases, len(cases)):
        case.do(partial(_prepare, case, settings, meter))
    _agree(free)
    for turn in range(block_count(cases, settings)):
        for case in order.sample(cases, len(cases)):
            if turn >= len(case.times_s):
                case.do(partial(_measure, case, meter))
    return [case.times() for case in cases]


def block_count(cases: Sequence[Timed], settings: TimingSettings) -> int:
    """Return the blocks per case: as requested, or 20; more for longer runs, 3 or more if slow."""
    round_s = sum(case.estimate_s * (case.number or 1) for case in cases)
    count = settings.blocks or _BLOCKS
    if settings.blocks is None and round_s > 0:
        longest_s = max(settings.min_run_time_s, _LONGEST_S)
        count = max(_BLOCKS, math.ceil(settings.min_run_time_s / round_s))
        count = min(count, math.floor(longest_s / round_s))
        preparing_s = sum(case.preparing_s * (case.number or 1) for case in cases)
        count = max(_MIN_BLOCKS, min(count, math.floor(_PREPARING_S / max(preparing_s, _MIN_S))))
    allowed = [len(case.times_s) + case.left // (case.number or 1) for case in cases if case.left is not None]
    return max(1, min([count, *allowed]))


def _agree(cases: Sequence[Timed]) -> None:
    """Give cases of similar speed equal blocks, so that the overhead per block has equal weight."""
    least = min((case.number or 1 for case in cases), default=1)
    for case in cases:
        if (case.number or 1) <= _SIMILAR * least and not case.times_s:
            case.number = least


def _prepare(case: Timed, settings: TimingSettings, meter: Meter) -> None:
    allowed, requested = case.left, case.number
    warm_ups = None if allowed is None else allowed // 4
    if warm_ups != 0:
        case.estimate_s = _warmed(case, settings.block_s, warm_ups)
    if requested is None:
        case.number = max(1, round(settings.block_s / case.estimate_s)) if case.estimate_s > 0 else 1
        case.number = min(case.number, case.most)
        if case.left is not None:
            case.number = max(1, min(case.number, case.left // _MIN_BLOCKS))
    elif allowed is not None and warm_ups is not None:
        case.number = max(1, min(requested, allowed - warm_ups))
    if warm_ups is None and case.number == 1 and case.estimate_s >= _WARM_S:
        _check_first_block(case, settings, requested, meter)


def _check_first_block(case: Timed, settings: TimingSettings, requested: int | None, meter: Meter) -> None:
    """Repeat a warm-up whose only execution was slow, unless the first block is about as slow.

    That execution may have compiled or loaded something.
    """
    _measure(case, meter)
    if case.times_s[0] < case.estimate_s / 2:
        case.times_s.clear()
        case.cpu_s, case.wall_s, case.involuntary = 0.0, 0.0, 0
        case.estimate_s = _warmed(case, settings.block_s, None)
        case.number = requested or min(case.most, max(1, round(settings.block_s / case.estimate_s)))


def _warmed(case: Timed, block_s: float, allowed: int | None) -> float:
    """Run growing blocks until the statement has settled; return the fastest's seconds per execution.

    A single long block is no evidence: another process may have used the core.
    """
    number, done, spent_s, estimate_s = 1, 0, 0.0, math.inf
    while True:
        took_s = case.spend(number)
        done, spent_s = done + number, spent_s + took_s
        estimate_s = max(min(estimate_s, took_s / number), _MIN_S)
        long = number * estimate_s >= block_s / 2 or number >= case.most
        settled = long and done >= case.warms
        if settled or spent_s >= _WARM_S or done == allowed:
            return estimate_s
        number = min(10 * number, max(1, math.ceil(block_s / estimate_s)), case.most)
        if allowed is not None:
            number = min(number, allowed - done)


def _measure(case: Timed, meter: Meter) -> None:
    number = case.number or 1
    started_s = meter.clock()
    # Not getrusage's CPU time, which may be as old as the last tick.
    switches, cpu_s = meter.switches(), meter.cpu()
    took_s = case.spend(number)
    case.cpu_s += meter.cpu() - cpu_s
    case.involuntary += meter.switches() - switches
    case.wall_s += meter.clock() - started_s
    case.times_s.append(took_s / number)


def times_of(measured: Sequence[Runnable], job: JobMessage) -> Sequence[Times | StartOver]:
    """Time a job's cases; if only another process can, return what that process must know.

    If a statement fails because it changed its state, each execution gets its own state.
    """
    policies = [_policy(one, case, job) for one, case in zip(measured, job["cases"], strict=True)]
    if any(policy.starts_over for policy in policies):
        return [{"fresh": policy.fresh} for policy in policies]
    policies = comparable(measured, policies)
    try:
        return _times(measured, policies, job)
    except Exception:
        with_fresh_state = [policy.with_fresh_state() for policy in policies]
        if with_fresh_state == policies:
            raise
        return _times(measured, with_fresh_state, job)


def effort(block_s: float) -> Effort:
    """Return the limits of a decision on the state policy, for blocks of `block_s`."""
    return Effort(block_s / _BLOCK_PART, _LONG_S, warms=True)


def seconds(measured: Runnable, number: int, reads: Clock = time.perf_counter) -> float:
    """Return the time of a block of `number` executions."""
    before_s, after_s = measured.run(number, reads)
    return after_s - before_s


def _policy(measured: Runnable, case: Case, job: JobMessage) -> StatePolicy:
    fresh = case.get("fresh", SHARED)
    return measured.do(partial(find_policy, measured, fresh, seconds, effort(job["block_s"])))


def _times(measured: Sequence[Runnable], policies: Sequence[StatePolicy], job: JobMessage) -> list[Times]:
    cases = []
    for one, policy, case, number in zip(measured, policies, job["cases"], job["number"], strict=True):
        elapsed = partial(_timed_by, case=case, num_threads=job["num_threads"])
        timed = timed_case(one, policy, elapsed, job.get("memory_limit_bytes"))
        cases.append(replace(timed, number=number, left=job["runs"]))
    settings = TimingSettings(job["block_s"], job["min_run_time_s"], job["blocks"], job["seed"])
    return time_cases(cases, settings, THIS_THREAD if job["num_threads"] == 1 else WHOLE_PROCESS)


def timed_case(
    measured: Runnable,
    policy: StatePolicy,
    elapsed: Callable[[Runnable], Elapsed],
    memory_bytes: int | None = None,
) -> Timed:
    """Return a case under a state policy; `elapsed` returns the function that times its blocks."""
    other = policy.prepared
    if other is None:
        return Timed(elapsed(measured), measured.do, fresh=policy.fresh)
    other.states.limit(memory_bytes)
    return Timed(
        elapsed(other.full),
        measured.do,
        fresh=policy.fresh,
        loop=elapsed(other.empty),
        most=other.states.most,
        warms=max(1, min(WARMS, int(_WARMING_S / other.states.each_s))),
        preparing_s=other.states.each_s,
    )


def clock() -> Clock:
    """Return torch's clock, which waits for CUDA, as long as this process uses CUDA.

    Else it reads the plain clock: torch's would initialise CUDA.
    """
    import torch
    from torch.utils.benchmark import timer

    in_use: Callable[[], bool] = torch.cuda.is_initialized
    plain, waiting = time.perf_counter, timer
    return lambda: waiting() if in_use() else plain()


def clock_of_library() -> Clock:
    """Return such a clock for C++, which bypasses torch.cuda: waits for devices that have a context."""
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


def _timed_by(measured: Runnable, case: Case, num_threads: int) -> Elapsed:
    if "torch" not in sys.modules:
        return partial(seconds, measured)
    from torch.utils.benchmark.utils.common import set_torch_threads

    reads = clock() if case["library"] is None else clock_of_library()

    def elapsed(number: int) -> float:
        with set_torch_threads(num_threads):
            return seconds(measured, number, reads)

    return elapsed


@contextlib.contextmanager
def no_collector() -> Iterator[None]:
    """Turn the garbage collector off, as `timeit` does; a setup may turn it on again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
