"""Options that a sampler gets: the checks that all samplers share, and the default rate in windows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, TypeVar, get_args

from profkit.errors import InvalidOption, UsageError
from profkit.model.region import MEMRAY
from profkit.process.background import is_gil_enabled

Blocking = bool | Literal["auto"]


Scope = Literal["call", "process"]
_Rate = TypeVar("_Rate", int, float)

WINDOW_RATE_HZ = 19
"""Default rate in windows, which are sampled all the time; a prime, as programs often act 10 or 100 times a
second."""
SHORTEST_WINDOW_S = 1.0
UNLIMITED_S = 1e8
"""Default of the longest duration, three years: sampling ends with the session."""


@dataclass(frozen=True, slots=True)
class SamplerOptions:
    """Options of a sampler as the user gave them; regions with equal options share a session."""

    sampler: str = "auto"
    rate_hz: float | None = None
    sample_each: float | None = None
    """Processor cycles per sample, as an alternative to a rate."""
    blocking: Blocking = "auto"
    native: bool = False
    idle: bool = True
    gil: bool = False
    subprocesses: bool = False
    async_stacks: bool = False
    scope: Scope = "call"
    max_duration_s: float = UNLIMITED_S
    tags: tuple[str, ...] = ()
    allow_dumpable: bool = False
    """True to let samplers read a process that is not dumpable, by making it dumpable meanwhile."""
    window_s: float | None = None
    """Duration of a session after which another one follows it; None if a session may last."""
    python_allocators: bool = False
    """True to track objects in Python's own arenas, too; only of memory."""

    @property
    def tracks_memory(self) -> bool:
        """Whether these are options of the tracker of memory, which takes no samples."""
        return self.sampler == MEMRAY


OPTION_NAMES: Mapping[str, str] = {
    **{one.name: one.name for one in fields(SamplerOptions)},
    "rate_hz": "rate", "max_duration_s": "max_profile_duration_sec", "tags": "sample_tags",
    "window_s": "window",
}  # fmt: skip
"""Names of the options for users, by their names in `SamplerOptions`."""


def check_common(options: SamplerOptions) -> None:
    """Raise `UsageError` for values that make no sense with any sampler."""
    for name, value in (("rate", options.rate_hz), ("sample_each", options.sample_each)):
        if value is not None:
            check_positive(name, value)
    check_positive("max_profile_duration_sec", options.max_duration_s)
    if options.window_s is not None:
        check_positive("window", options.window_s)
        if options.window_s < SHORTEST_WINDOW_S:
            raise InvalidOption("window", options.window_s, f"give at least {SHORTEST_WINDOW_S:g} s")
    for name, flag in (
        ("native", options.native), ("idle", options.idle), ("gil", options.gil),
        ("subprocesses", options.subprocesses), ("async_stacks", options.async_stacks),
        ("allow_dumpable", options.allow_dumpable),
    ):  # fmt: skip
        check_choice(name, flag, (True, False))
    check_choice("blocking", options.blocking, (True, False, "auto"))
    check_choice("scope", options.scope, get_args(Scope))
    if options.rate_hz is not None and options.sample_each is not None:
        raise UsageError("rate and sample_each both set the sampling interval", "give only one of them")
    if options.native and options.blocking is False:
        raise InvalidOption("blocking", False, "native=True needs blocking: leave out one of them")
    if options.gil and not is_gil_enabled():
        raise InvalidOption("gil", True, "this Python runs without the GIL: leave it out")


def check_positive(name: str, value: object, *, whole: bool = False) -> None:
    """Raise `InvalidOption` unless the value is a finite number above 0, `whole` if required."""
    kind = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kind) or not 0 < value < math.inf:
        raise InvalidOption(name, value, f"give a {'whole ' if whole else ''}number above 0")


def check_choice(name: str, value: object, allowed: Sequence[object]) -> None:
    """Raise `InvalidOption` unless the value is one of the objects or texts that are allowed."""
    if not any(value is choice or (isinstance(choice, str) and value == choice) for choice in allowed):
        raise InvalidOption(name, value, f"give one of {', '.join(map(repr, allowed))}")


def cpu_frequency(option: str, value: float) -> float:
    """Return the processor's frequency in Hz; raises `InvalidOption` if the machine does not report it."""
    # Lazy, to keep `import profkit` fast.
    from profkit.process.procfs import cpu_frequency_hz

    frequency_hz = cpu_frequency_hz()
    if frequency_hz is None:
        raise InvalidOption(option, value, "this machine does not report its processor's frequency: give the "
                            "other of rate and sample_each, or neither")  # fmt: skip
    return frequency_hz


def requested_rate(options: SamplerOptions) -> float | None:
    """Return the rate in Hz that the user set, as such or by processor cycles; None if neither is set."""
    if options.sample_each is None:
        return options.rate_hz
    return cpu_frequency("sample_each", options.sample_each) / options.sample_each


def usual_rate_hz(options: SamplerOptions, default_hz: _Rate) -> _Rate | int:
    """Return the rate in Hz if the user sets none: a sampler's default, or a low one for windows."""
    return default_hz if options.window_s is None else min(default_hz, WINDOW_RATE_HZ)


def check_rate(options: SamplerOptions, fastest_hz: float, fix: str) -> None:
    """Raise `InvalidOption` unless the rate that the user set is from 1 Hz to the fastest one."""
    rate_hz = requested_rate(options)
    if rate_hz is not None and not 1 <= rate_hz <= fastest_hz:
        name, value = ("rate", options.rate_hz) if options.sample_each is None else (
            "sample_each", options.sample_each
        )  # fmt: skip
        raise InvalidOption(name, value, fix)
