"""Plan of py-spy: its rate, and whether it stops the program for each sample.

A blocking round stops the program for about 0.1 ms and 16 µs for each frame of each thread, including
idle ones (measured, py-spy 0.4.3). Blocking shows callers correctly; nonblocking reads stacks while they
change. So `auto` blocks if that costs at most 5 % of the program's time, unless stopping the program would
change its behaviour or the result.

After a stop, a program waits for a processor again. On a busy machine that costs more than the stop: programs
that waited 5 ms or more each time took 1.04 to 6 times as long at 100 Hz, but 1.00 times if not stopped.
"""

from __future__ import annotations

from dataclasses import replace

from profkit.errors import InvalidOption
from profkit.model.notes import Note, NoteCode
from profkit.model.session import SamplerPlan
from profkit.samplers.base import SLOWEST_HZ, LiveStacks, default_rate, plain_plan
from profkit.samplers.options import SamplerOptions, check_common, cpu_frequency, usual_rate_hz

DEFAULT_RATE_HZ = 100
SLOWEST_BLOCKING_HZ = 50
"""Minimum rate for blocking: below it, short runs have too few samples."""
FASTEST_HZ = 10_000
"""Maximum rate; py-spy accepts more, but at a million per second it never ended."""
BUDGET = 0.05
"""Maximum share of the program's time for which blocking stops it."""
SAMPLER_CPU = 0.25
"""Maximum share of a core for a nonblocking py-spy if the user set no rate."""
_WAITS_PER_STOP = 0.3
"""Time that a program loses by a stop, by that for which it waits for a processor each time (measured)."""
_ROUND_S = 1e-4
_FRAME_S = 16e-6
_CPU_PER_STOP = 3
"""Processor time of a round with the states of threads, in times that it stops the program (measured)."""


def check(options: SamplerOptions) -> None:
    """Raise `UsageError` for options that py-spy does not support."""
    check_common(options)
    if options.async_stacks:
        raise InvalidOption(
            "async_stacks",
            True,
            "only sampler='cpython' supports it, with Python 3.15 or later: leave it out",
        )
    rate_hz = options.rate_hz
    if rate_hz is not None and (rate_hz != int(rate_hz) or rate_hz > FASTEST_HZ):
        raise InvalidOption("rate", rate_hz, f"py-spy supports whole rates from 1 to {FASTEST_HZ} Hz")
    if options.sample_each is not None:
        _rate_of_cycles(options.sample_each)


def plan(options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
    """Resolve `auto` and defaults of options that passed `check`."""
    rate_hz, blocking, notes = _choose(options, live)
    if _requested_rate(options) is None:
        cpu_s = _CPU_PER_STOP * round_cost_s(live)
        rate_hz, why = default_rate(usual_rate_hz(options, DEFAULT_RATE_HZ), rate_hz, live, cpu_s)
        notes = (*notes, *why)
    if blocking and _on_cpu_only(options):
        # Measured at 100 Hz: 1 % of a waiting thread's samples on a quiet machine, 15 % on a busy one.
        notes = (*notes, Note(NoteCode.THREADS_WOKEN))
    if blocking and live.timed_sockets:
        notes = (*notes, Note(NoteCode.TIMEOUTS_RESTART))
    return replace(
        plain_plan("pyspy", options, float(rate_hz)),
        blocking=blocking,
        idle=options.idle and not options.gil,
        native=options.native,
        subprocesses=options.subprocesses,
        notes=notes,
        gil=options.gil,
    )


def round_cost_s(live: LiveStacks) -> float:
    """Return the time for which one blocking round stops the program."""
    return _ROUND_S + _FRAME_S * live.frames


def _on_cpu_only(options: SamplerOptions) -> bool:
    """Return whether a thread that a stop wakes would be sampled; it would not hold the GIL."""
    return not options.idle and not options.gil


def _choose(options: SamplerOptions, live: LiveStacks) -> tuple[int, bool, tuple[Note, ...]]:
    """Return the rate, `blocking`, and notes on both."""
    requested_hz = _requested_rate(options)
    affordable_hz = int(BUDGET / round_cost_s(live))
    if live.timed_sockets and options.blocking is not False and not options.native:
        dropped = options.blocking is True
        code = NoteCode.BLOCKING_NOT_KEPT if dropped else NoteCode.NONBLOCKING_SOCKETS
        return requested_hz or _default_nonblocking_hz(live), False, (Note(code),)
    if options.blocking == "auto" and not options.native:
        if _on_cpu_only(options):
            return requested_hz or _default_nonblocking_hz(live), False, (Note(NoteCode.NONBLOCKING_IDLE),)
        return _choose_auto(requested_hz, affordable_hz, live)
    if options.blocking is False:
        return requested_hz or _default_nonblocking_hz(live), False, ()
    default_hz = DEFAULT_RATE_HZ if options.blocking is True else _within(affordable_hz, at_least=1)
    rate_hz = requested_hz or default_hz
    return rate_hz, True, _cost_note(rate_hz, live) if rate_hz > affordable_hz else ()


def _choose_auto(
    requested_hz: int | None, affordable_hz: int, live: LiveStacks
) -> tuple[int, bool, tuple[Note, ...]]:
    wanted_hz = requested_hz or DEFAULT_RATE_HZ
    lost = wanted_hz * _WAITS_PER_STOP * live.processor_wait_s
    if lost > BUDGET:
        note = Note.of(NoteCode.NONBLOCKING_BUSY, rate_hz=wanted_hz, wait_s=live.processor_wait_s)
        return requested_hz or _default_nonblocking_hz(live), False, (note,)
    if affordable_hz >= (requested_hz or SLOWEST_BLOCKING_HZ):
        return requested_hz or _within(affordable_hz), True, ()
    note = Note.of(
        NoteCode.NONBLOCKING_COST,
        rate_hz=wanted_hz,
        frames=live.frames,
        threads=live.threads,
        share=wanted_hz * round_cost_s(live),
    )
    return requested_hz or _default_nonblocking_hz(live), False, (note,)


def _default_nonblocking_hz(live: LiveStacks) -> int:
    """Return the default nonblocking rate; a round costs about as much as blocking (50 threads, measured)."""
    return _within(int(SAMPLER_CPU / round_cost_s(live)), at_least=SLOWEST_HZ)


def _cost_note(rate_hz: int, live: LiveStacks) -> tuple[Note, ...]:
    return (Note.of(NoteCode.BLOCKING_COST, share=min(1.0, rate_hz * round_cost_s(live))),)


def _within(affordable_hz: int, at_least: int = SLOWEST_BLOCKING_HZ) -> int:
    return max(at_least, min(DEFAULT_RATE_HZ, affordable_hz))


def _requested_rate(options: SamplerOptions) -> int | None:
    if options.sample_each is not None:
        return _rate_of_cycles(options.sample_each)
    return None if options.rate_hz is None else int(options.rate_hz)


def _rate_of_cycles(sample_each: float) -> int:
    rate_hz = round(cpu_frequency("sample_each", sample_each) / sample_each)
    if not 1 <= rate_hz <= FASTEST_HZ:
        raise InvalidOption(
            "sample_each",
            sample_each,
            f"on this machine it means {rate_hz} Hz, and py-spy supports 1 to {FASTEST_HZ} Hz",
        )
    return rate_hz
