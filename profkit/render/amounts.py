"""Weights as people read them, in whatever they count."""

from __future__ import annotations

from profkit.render.words import count
from profkit.units import Unit, format_bytes, format_duration


def weight_text(weight: int, unit: Unit) -> str:
    """A weight in a column that is headed by its unit."""
    return format_bytes(weight) if unit is Unit.BYTES else count(weight)


def cost_word(unit: Unit) -> str:
    """What costs in this unit are: time, also where samples stand for it, instructions or bytes."""
    return unit.value if unit in (Unit.INSTRUCTIONS, Unit.BYTES) else "time"


def amount(weight: int, unit: Unit) -> str:
    """`1,200 samples`, `3.21 s`, `12.0 MiB`, `4,096 instructions`."""
    if unit is Unit.NANOSECONDS:
        return format_duration(weight / 1e9)
    if unit is Unit.BYTES:
        return format_bytes(weight)
    return count(weight, unit.value.removesuffix("s"))
