"""How fast py-spy is to sample, and whether it may stop the program to do so.

A blocking round stops the program for about 0.1 ms and 16 µs for each frame of each thread, idle
ones too (measured, py-spy 0.4.3). Blocking tells the truth about callers; nonblocking reads stacks
while they change. So `auto` blocks as long as that costs at most 5 % of the program's time.
"""

from __future__ import annotations

from profkit.errors import InvalidOption
from profkit.model.session import SamplerPlan
from profkit.samplers.base import LiveStacks, SamplerOptions
from profkit.samplers.checks import check_common, cpu_frequency

DEFAULT_RATE_HZ = 100
SLOWEST_BLOCKING_HZ = 50
"""Below this a short run has too few samples to be worth the truth of their callers."""
FASTEST_HZ = 10_000
"""py-spy takes more, but at a million per second it never came to an end."""
BUDGET = 0.05
"""Share of the program's time for which blocking may stop it."""
SAMPLER_CPU = 0.25
"""Share of a core that a nonblocking py-spy may take where nobody asked for a rate."""
# Measured at 100 Hz: 1 % of a waiting thread's samples on a quiet machine, 15 % on a busy one.
_WAKING = (
    "Some samples of waiting threads are counted as working, since being stopped wakes them; "
    "blocking=False tells them apart."
)
_SLOWEST_HZ = 10
# Where processes wait for a processor, a sampler goes on by the clock: beside eight programs on two
# processors, eight of them would take a fifth of the machine.
_CROWDED = 2.0
_SLOWEST_CROWDED_HZ = 20
_ROUND_S = 1e-4
_FRAME_S = 16e-6


def check(options: SamplerOptions) -> None:
    """Raise `UsageError` for what py-spy cannot honour."""
    check_common(options)
    if options.native and options.blocking is False:
        raise InvalidOption(
            "blocking", False, "native stacks need a program that is stopped: leave it 'auto'"
        )
    rate_hz = options.rate_hz
    if rate_hz is not None and (rate_hz != int(rate_hz) or rate_hz > FASTEST_HZ):
        raise InvalidOption("rate", rate_hz, f"py-spy takes whole rates from 1 to {FASTEST_HZ} Hz")
    if options.sample_each is not None:
        _rate_of_cycles(options.sample_each)


def plan(options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
    """Resolve `auto` and defaults of options that passed `check`."""
    rate_hz, blocking, notes = _choose(options, live)
    if _asked_rate(options) is None and live.crowding >= _CROWDED:
        rate_hz = min(rate_hz, max(_SLOWEST_CROWDED_HZ, round(rate_hz / live.crowding)))
        notes = (*notes, _crowding_note(rate_hz, live))
    if blocking and not options.idle:
        notes = (*notes, _WAKING)
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
    """How long one blocking round stops the program."""
    return _ROUND_S + _FRAME_S * live.frames


def _choose(options: SamplerOptions, live: LiveStacks) -> tuple[int, bool, tuple[str, ...]]:
    """Rate, blocking, and what the reader of a report should know about them."""
    asked_hz = _asked_rate(options)
    affordable_hz = int(BUDGET / round_cost_s(live))
    if options.blocking == "auto" and not options.native:
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
    """Reading takes py-spy about as long as blocking stops the program (measured with 50 threads)."""
    return _within(int(SAMPLER_CPU / round_cost_s(live)), at_least=_SLOWEST_HZ)


def _cost_note(rate_hz: int, live: LiveStacks) -> tuple[str, ...]:
    share = min(1.0, rate_hz * round_cost_s(live))
    return (f"Sampling stopped the program for about {share:.0%} of its time; a lower rate costs less.",)


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
