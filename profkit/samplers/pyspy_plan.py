"""Plan of py-spy: choose its rate, and whether it stops the program for each sample (blocking).

A blocking round stops the program for about 0.1 ms and 16 µs for each frame of each thread, including
idle ones (measured, py-spy 0.4.3). Blocking shows callers correctly; nonblocking reads stacks while they
change. So `auto` blocks if that costs at most 5 % of the program's time, unless stopping the program would
change its behaviour or the result.

The samplers of one host share a part of its processors. Each sampler divides that part by the number of
samplers it finds, and takes at most the rest that the others leave. A rate that the user set is kept.
"""

from __future__ import annotations

from profkit.errors import InvalidOption
from profkit.model.session import SamplerPlan
from profkit.samplers.base import LiveStacks
from profkit.samplers.options import SamplerOptions, check_common, cpu_frequency

DEFAULT_RATE_HZ = 100
SLOWEST_BLOCKING_HZ = 50
"""Minimum rate for blocking: below it, short runs have too few samples."""
FASTEST_HZ = 10_000
"""Maximum rate; py-spy accepts more, but at a million per second it never ended."""
BUDGET = 0.05
"""Maximum share of the program's time for which blocking stops it."""
SAMPLER_CPU = 0.25
"""Maximum share of a core for a nonblocking py-spy if the user set no rate."""
HOST_CPU = 0.25
"""Maximum share of the host's processors for all of its samplers if the user set no rate."""
# Measured at 100 Hz: 1 % of a waiting thread's samples on a quiet machine, 15 % on a busy one.
_WAKING = (
    "Some samples of waiting threads are counted as working, since being stopped wakes them; "
    "leave blocking at 'auto' to avoid that."
)
_NOT_WOKEN = (
    "Sampled without stopping the program, since idle=False leaves out waiting threads and a stop wakes "
    "them. Callers of short functions may be wrong; blocking=True gives exact stacks."
)
_TIMED_SOCKETS = (
    "Sampled without stopping the program, since it has sockets with a timeout (SO_RCVTIMEO or SO_SNDTIMEO), "
    "which starts again after each stop. Callers of short functions may be wrong."
)
_TIMEOUTS_RESTART = (
    "The program has sockets with a timeout (SO_RCVTIMEO or SO_SNDTIMEO), which starts again after each stop "
    "for a sample and may never fire; leave native=True out."
)
_NOT_BLOCKING = (
    "blocking=True is not kept: the program has sockets with a timeout (SO_RCVTIMEO or SO_SNDTIMEO), which "
    "starts again after each stop and might never fire. Callers of short functions may be wrong."
)
_SLOWEST_HZ = 10
# A sampler keeps its rate when processes wait for a processor: with eight programs on two processors,
# eight samplers would take a fifth of the machine.
_CROWDED = 2.0
_SLOWEST_CROWDED_HZ = 20
_ROUND_S = 1e-4
_FRAME_S = 16e-6


def check(options: SamplerOptions) -> None:
    """Raise `UsageError` for options that py-spy does not support."""
    check_common(options)
    rate_hz = options.rate_hz
    if rate_hz is not None and (rate_hz != int(rate_hz) or rate_hz > FASTEST_HZ):
        raise InvalidOption("rate", rate_hz, f"py-spy takes whole rates from 1 to {FASTEST_HZ} Hz")
    if options.sample_each is not None:
        _rate_of_cycles(options.sample_each)


def plan(options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
    """Resolve `auto` and defaults of options that passed `check`."""
    rate_hz, blocking, notes = _choose(options, live)
    if _asked_rate(options) is None:
        rate_hz, why = _shared(rate_hz, live)
        notes = (*notes, *why)
    if blocking and not options.idle:
        notes = (*notes, _WAKING)
    if blocking and live.timed_sockets:
        notes = (*notes, _TIMEOUTS_RESTART)
    return SamplerPlan(
        sampler="pyspy",
        rate_hz=float(rate_hz),
        blocking=blocking,
        idle=options.idle,
        native=options.native,
        subprocesses=options.subprocesses,
        scope=options.scope,
        max_duration_s=options.max_duration_s,
        tags=options.tags,
        sample_each=options.sample_each,
        notes=notes,
    )


def round_cost_s(live: LiveStacks) -> float:
    """Return the time for which one blocking round stops the program."""
    return _ROUND_S + _FRAME_S * live.frames


def _choose(options: SamplerOptions, live: LiveStacks) -> tuple[int, bool, tuple[str, ...]]:
    """Return the rate, `blocking`, and notes on both for reports."""
    asked_hz = _asked_rate(options)
    affordable_hz = int(BUDGET / round_cost_s(live))
    if live.timed_sockets and options.blocking is not False and not options.native:
        reason = _NOT_BLOCKING if options.blocking is True else _TIMED_SOCKETS
        return asked_hz or _unasked_nonblocking(live), False, (reason,)
    if options.blocking == "auto" and not options.native:
        if not options.idle:
            return asked_hz or _unasked_nonblocking(live), False, (_NOT_WOKEN,)
        return _choose_auto(asked_hz, affordable_hz, live)
    if options.blocking is False:
        return asked_hz or _unasked_nonblocking(live), False, ()
    default_hz = DEFAULT_RATE_HZ if options.blocking is True else _within(affordable_hz, at_least=1)
    rate_hz = asked_hz or default_hz
    return rate_hz, True, _cost_note(rate_hz, live) if rate_hz > affordable_hz else ()


def _choose_auto(
    asked_hz: int | None, affordable_hz: int, live: LiveStacks
) -> tuple[int, bool, tuple[str, ...]]:
    if affordable_hz >= (asked_hz or SLOWEST_BLOCKING_HZ):
        return asked_hz or _within(affordable_hz), True, ()
    wanted_hz = asked_hz or DEFAULT_RATE_HZ
    threads = "1 thread" if live.threads == 1 else f"{live.threads} threads"
    note = (
        f"Sampled without stopping the program: to stop it {wanted_hz} times a second and read "
        f"{live.frames} frames of {threads} would have cost {wanted_hz * round_cost_s(live):.0%} of its "
        "time. Callers of short functions may be wrong; blocking=True gives exact stacks."
    )
    return asked_hz or _unasked_nonblocking(live), False, (note,)


def _unasked_nonblocking(live: LiveStacks) -> int:
    """Return the default nonblocking rate; a round costs about as much as blocking (50 threads, measured)."""
    return _within(int(SAMPLER_CPU / round_cost_s(live)), at_least=_SLOWEST_HZ)


def _cost_note(rate_hz: int, live: LiveStacks) -> tuple[str, ...]:
    share = min(1.0, rate_hz * round_cost_s(live))
    return (f"Sampling stopped the program for about {share:.0%} of its time; a lower rate costs less.",)


def _shared(rate_hz: int, live: LiveStacks) -> tuple[int, tuple[str, ...]]:
    """Lower a default rate if the machine is crowded or has other samplers; return it with notes."""
    if live.crowding >= _CROWDED:
        crowded_hz = min(rate_hz, max(_SLOWEST_CROWDED_HZ, round(rate_hz / live.crowding)))
    else:
        crowded_hz = rate_hz
    left_hz = min(rate_hz, max(_SLOWEST_HZ, _left_by_others(live)))
    if left_hz < crowded_hz:
        return left_hz, (_sharing_note(left_hz, live),)
    return crowded_hz, (_crowding_note(crowded_hz, live),) if crowded_hz < rate_hz else ()


def _left_by_others(live: LiveStacks) -> int:
    """Return the rate within this sampler's part of the host's budget; assumes equal costs per round."""
    if not live.other_samplers:
        return FASTEST_HZ
    rounds_hz = HOST_CPU * live.processors / round_cost_s(live)
    return int(min(rounds_hz / (live.other_samplers + 1), rounds_hz - live.other_rates_hz))


def _sharing_note(rate_hz: int, live: LiveStacks) -> str:
    samplers = "1 other sampler" if live.other_samplers == 1 else f"{live.other_samplers} other samplers"
    return (
        f"Sampled {rate_hz} times a second, since {samplers} ran on this host when it began, and all of "
        f"them may take {HOST_CPU:.0%} of its processors; rate= sets another rate."
    )


def _crowding_note(rate_hz: int, live: LiveStacks) -> str:
    return (
        f"Sampled {rate_hz} times a second, since {live.crowding:.1f} processes wanted each "
        "processor when it began; rate= sets another rate."
    )


def _within(affordable_hz: int, at_least: int = SLOWEST_BLOCKING_HZ) -> int:
    return max(at_least, min(DEFAULT_RATE_HZ, affordable_hz))


def _asked_rate(options: SamplerOptions) -> int | None:
    if options.sample_each is not None:
        return _rate_of_cycles(options.sample_each)
    return None if options.rate_hz is None else int(options.rate_hz)


def _rate_of_cycles(sample_each: float) -> int:
    rate_hz = round(cpu_frequency("sample_each", sample_each) / sample_each)
    if not 1 <= rate_hz <= FASTEST_HZ:
        raise InvalidOption(
            "sample_each", sample_each, f"here that is {rate_hz} Hz, and py-spy takes 1 to {FASTEST_HZ} Hz"
        )
    return rate_hz
