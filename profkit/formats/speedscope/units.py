"""The format's words for units."""

from __future__ import annotations

from profkit.units import Unit

NANOSECONDS = {"seconds": 1e9, "milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1.0}
"""How many of them each unit of time is."""

COUNTED = {"bytes": Unit.BYTES, "none": Unit.SAMPLES}
"""What other units count; `none` is anything that has no word."""


def unit_named(word: str, where: str) -> Unit:
    """What a weight in this unit counts; raises ValueError, naming `where`, for a word that is none."""
    if word in NANOSECONDS:
        return Unit.NANOSECONDS
    if word not in COUNTED:
        known = ", ".join((*NANOSECONDS, *COUNTED))
        raise ValueError(f"{where}.unit is {word!r}, not one of {known}")
    return COUNTED[word]
