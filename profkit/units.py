"""Parse and format durations, sizes and percentages as users write them (`2h`, `5%`); units of weights."""

from __future__ import annotations

import enum
import re


class Unit(enum.Enum):
    """Unit of a weight; the value is its name in files."""

    SAMPLES = "samples"
    NANOSECONDS = "nanoseconds"
    INSTRUCTIONS = "instructions"
    BYTES = "bytes"
    ALLOCATIONS = "allocations"

    @property
    def is_time(self) -> bool:
        """Whether weights are time, or samples, which represent some."""
        return self in (Unit.SAMPLES, Unit.NANOSECONDS)


SECONDS = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
"""Units of durations with their seconds, the largest first; the smallest, ns, is left out."""
_BYTES = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
_SHORT_ID_DIGITS = 10
_SPELLED = {"d": 86400.0, "h": 3600.0, "m": 60.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}


def format_duration(duration_s: float) -> str:
    """Format with three significant digits, in the largest suitable unit: `1.23 ms`."""
    size = abs(duration_s)
    if size == 0:
        return "0 s"
    for unit, factor in SECONDS:
        if size >= least_of_unit_s(factor):
            return f"{_three_digits(duration_s / factor)} {unit}"
    return f"{_three_digits(duration_s * 1e9)} ns"


def least_of_unit_s(factor: float) -> float:
    """Return the shortest duration, in seconds, that is shown in a unit of so many seconds."""
    # Below 1.5 min, 1.5 h and 1.5 d the smaller unit is easier to read; from 0.9995 on it rounds to 1.00.
    return factor * (1.5 if factor > 1 else 0.9995)


def format_bytes(count: float) -> str:
    """Format with three significant digits, in binary units: `1.50 GiB`."""
    for unit, factor in _BYTES:
        if abs(count) >= factor:
            return f"{_three_digits(count / factor)} {unit}"
    return f"{count:.0f} B"


def parse_duration(text: str) -> float:
    """Parse a duration such as `90`, `1.5h`, `30d` or `250ms` into seconds; raises ValueError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zµ]*)\s*", text.lower())
    unit = match.group(2).replace("µ", "u") or "s" if match else ""
    if match is None or unit not in _SPELLED:
        raise ValueError(f"{text!r} is not a duration such as 30d, 1.5h, 10min, 2s or 250ms")
    return float(match.group(1)) * _SPELLED[unit]


def parse_bytes(text: str) -> int:
    """Parse a size such as `1000`, `512MiB` or `1.5GB`, all binary, into bytes; raises ValueError."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:([kmgt])i?)?b?\s*", text.lower())
    if match is None:
        raise ValueError(f"{text!r} is not a size such as 500000, 512MiB or 2GiB")
    power = " kmgt".index(match.group(2) or " ")
    return round(float(match.group(1)) * float(1024**power))


def parse_percentage(text: str) -> float:
    """Parse a percentage from 0 on, such as `5%`, `5 %` or `2.5`, into a part of 1; raises ValueError."""
    part = float(text.strip().removesuffix("%")) / 100
    if not 0 <= part < 100:
        raise ValueError(f"{text!r} is not a percentage from 0 on")
    return part


def short_repr(text: str, most: int = 60) -> str:
    """Return a text quoted on one line; without its middle if longer than `most` characters."""
    if len(text) > most:
        head = (most - 1) // 2
        text = f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"
    return ascii(text) if not text.isprintable() else repr(text)


def short_id(run_id: str) -> str:
    """Return the beginning of a run's id that people read and type; commands accept it in place of the id."""
    return run_id[:_SHORT_ID_DIGITS]


def _three_digits(value: float) -> str:
    size = abs(value)
    digits = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{value:.{digits}f}"
