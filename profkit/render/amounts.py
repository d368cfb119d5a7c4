"""Weights as people read them, in whatever they count."""

from __future__ import annotations

from profkit.render.words import count
from profkit.units import Unit, format_bytes, format_duration


def amount(weight: int, unit: Unit) -> str:
    """`1,200 samples`, `3.21 s`, `12.0 MiB`, `4,096 instructions`."""
    if unit is Unit.NANOSECONDS:
        return format_duration(weight / 1e9)
    if unit is Unit.BYTES:
        return format_bytes(weight)
    return count(weight, unit.value.removesuffix("s"))
