"""Options that all samplers share, and their checks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from profkit.errors import InvalidOption, UsageError

Blocking = bool | Literal["auto"]


Scope = Literal["call", "process"]


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
    subprocesses: bool = False
    scope: Scope = "call"
    max_duration_s: float = 600.0
    tags: tuple[str, ...] = ()


def check_common(options: SamplerOptions) -> None:
    """Raise `UsageError` for an invalid rate, interval, duration or `blocking`."""
    if options.rate_hz is not None and options.sample_each is not None:
        raise UsageError("rate and sample_each say the same thing twice", "give one of them")
    for option, value in (
        ("rate", options.rate_hz),
        ("sample_each", options.sample_each),
        ("max_profile_duration_sec", options.max_duration_s),
    ):
        if value is not None and not (0 < value < math.inf):
            raise InvalidOption(option, value, "give a positive number")
    if options.blocking not in (True, False, "auto"):
        raise InvalidOption("blocking", options.blocking, "give True, False or 'auto'")


def cpu_frequency(option: str, value: float) -> float:
    """Return the processor's frequency in Hz; raises `InvalidOption` if the machine does not report it."""
    # Lazy, to keep `import profkit` fast.
    from profkit.process.procfs import cpu_frequency_hz

    frequency_hz = cpu_frequency_hz()
    if frequency_hz is None:
        raise InvalidOption(option, value, "the processor's frequency is not known here: give the other of "
                            "rate and sample_each, or neither")  # fmt: skip
    return frequency_hz
