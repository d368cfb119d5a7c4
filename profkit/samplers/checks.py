"""What no sampler can honour, whichever it is."""

from __future__ import annotations

import math

from profkit.errors import InvalidOption, UsageError
from profkit.process.procfs import cpu_frequency_hz
from profkit.samplers.base import SamplerOptions


def check_common(options: SamplerOptions) -> None:
    """Raise `UsageError` for a rate, an interval or a duration that makes no sense."""
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
    """The processor's frequency; raises `InvalidOption` where the machine does not tell it."""
    frequency_hz = cpu_frequency_hz()
    if frequency_hz is None:
        raise InvalidOption(option, value, "the processor's frequency is not known here: give the other of "
                            "rate and sample_each, or neither")  # fmt: skip
    return frequency_hz
