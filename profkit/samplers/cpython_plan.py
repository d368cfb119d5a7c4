"""Plan of the `cpython` sampler: its rate, and what it supports in each version of Python.

It does not stop the program, so `auto` needs no budget for that, only one for the processor. A round takes
about 0.07 ms and 1 µs for each frame (measured, CPython 3.15).
"""

from __future__ import annotations

import sys
from dataclasses import replace

from profkit.errors import InvalidOption
from profkit.model.notes import Note, NoteCode
from profkit.model.session import SamplerPlan
from profkit.samplers.base import LiveStacks, plain_plan
from profkit.samplers.host_share import SLOWEST_HZ, default_rate
from profkit.samplers.options import SamplerOptions, check_common, check_rate, requested_rate

Version = tuple[int, int]

DEFAULT_RATE_HZ = 1000
"""Default rate: the slow-down of the program is below 1.02."""
FASTEST_HZ = {(3, 14): 3000, (3, 15): 5000}
"""Maximum rate by version of Python; later ones are as fast as the last."""
SAMPLER_CPU = 0.25
"""Maximum share of a core for the sampler if the user set no rate."""
STATES_SINCE = (3, 15)
"""First version whose reader reports the states of threads."""
WHOLE_SINCE = (3, 15)
"""First version whose reader follows a stack through calls from C code to Python (checked with 3.14.10)."""
_ROUND_S, _FRAME_S = 7e-5, 1e-6
_TASKS_COST = 5
"""Cost of a round that reads tasks, in rounds that do not (measured)."""
_USE_PYSPY = "leave it out, or use sampler='pyspy'"


def check(options: SamplerOptions, version: Version = sys.version_info[:2]) -> None:
    """Raise `UsageError` for options that this sampler does not support with a version of Python."""
    check_common(options)
    if options.blocking is True:
        raise InvalidOption(
            "blocking", True, f"sampler='cpython' reads whole stacks without it: {_USE_PYSPY}"
        )
    if options.native:
        raise InvalidOption("native", True, f"sampler='cpython' sees Python frames only: {_USE_PYSPY}")
    if version < STATES_SINCE:
        _check_states(options)
    fastest_hz, name = fastest(version), ".".join(map(str, version))
    check_rate(options, fastest_hz, f"sampler='cpython' supports 1 to {fastest_hz} Hz with Python {name}")


def _check_states(options: SamplerOptions) -> None:
    """Raise `InvalidOption` for options that need the states of threads, or whole stacks with tasks."""
    if options.async_stacks:
        raise InvalidOption(
            "async_stacks",
            True,
            "Python 3.14 reads no stacks beyond a task: leave it out, or use Python 3.15",
        )
    for name, value, needed in (("gil", True, options.gil), ("idle", False, not options.idle)):
        if needed:
            raise InvalidOption(
                name, value, f"sampler='cpython' knows the states of threads since Python 3.15: {_USE_PYSPY}"
            )


def fastest(version: Version) -> int:
    """Return the maximum rate in Hz with a version of Python."""
    return FASTEST_HZ.get(version, FASTEST_HZ[max(FASTEST_HZ)])


def plan(
    options: SamplerOptions, live: LiveStacks, version: Version = sys.version_info[:2]
) -> SamplerPlan:  # fmt: skip
    """Resolve defaults of options that passed `check`."""
    requested_hz, notes = requested_rate(options), tuple[Note, ...]()
    if requested_hz is None:
        cost_s = round_cost_s(live) * (_TASKS_COST if options.async_stacks else 1)
        affordable_hz = max(SLOWEST_HZ, int(SAMPLER_CPU / cost_s))
        rate_hz, notes = default_rate(DEFAULT_RATE_HZ, affordable_hz, live, cost_s)
        requested_hz = float(rate_hz)
    return replace(
        plain_plan("cpython", options, requested_hz),
        idle=options.idle and not options.gil,
        subprocesses=options.subprocesses,
        notes=(*notes, *([Note(NoteCode.STACKS_CUT)] if version < WHOLE_SINCE else [])),
        gil=options.gil,
        async_stacks=options.async_stacks,
    )


def round_cost_s(live: LiveStacks) -> float:
    """Return the processor time of one round."""
    return _ROUND_S + _FRAME_S * live.frames
