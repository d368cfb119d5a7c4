"""Measured numbers as reports write them: times with four digits, since they repeat to less than 1 %."""

from __future__ import annotations

from collections.abc import Sequence

from profkit.model.measurement import Doubt, Flag
from profkit.render.measured.rows import TimeRow

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_APART = 1e3
"""Times that differ by more than this factor do not read well in one unit."""
RELATIVE = "relative only"
"""What numbers are that compare among themselves, and with no others."""
DISTRUSTED = "do not trust"
_FINE = 100.0
"""Counts from here on need no decimal."""


def times_alike(durations_s: Sequence[float | None]) -> list[str]:
    """Times in one unit, so that a column of them compares, the shortest with four digits; `""` for None.

    Those that are too far apart for that have a unit each.
    """
    known = [duration_s for duration_s in durations_s if duration_s]
    shortest, longest = min(known, default=0.0), max(known, default=0.0)
    if longest > shortest * _APART:
        return [
            "" if duration_s is None else _in_unit_of(duration_s, duration_s) for duration_s in durations_s
        ]
    return ["" if duration_s is None else _in_unit_of(shortest, duration_s) for duration_s in durations_s]


def time_text(duration_s: float) -> str:
    """One time in its own unit: `1.234 µs`."""
    return _in_unit_of(duration_s, duration_s)


def _in_unit_of(reference_s: float, duration_s: float) -> str:
    if reference_s == 0:
        return "0 s"
    factor, unit = next((pair for pair in _UNITS if reference_s >= pair[0]), _UNITS[-1])
    size = reference_s / factor
    digits = 3 if size < 9.9995 else 2 if size < 99.995 else 1 if size < 999.95 else 0
    return f"{duration_s / factor:,.{digits}f} {unit}"


def counts_alike(values: Sequence[float | None]) -> list[str]:
    """Counts with the same decimals: one where there are parts of small numbers, else none; `""` for None."""
    known = [abs(value) for value in values if value]
    whole = all(value == int(value) for value in known)
    digits = 0 if whole or min(known) >= _FINE else 1
    return ["" if value is None else f"{value:,.{digits}f}" for value in values]


def count_text(value: float) -> str:
    """One count: `5,601`, `8.5`."""
    return counts_alike([value])[0]


def uncertainty(row: TimeRow) -> str:
    """Half of the median's interval as a part of the median, `±0.8 %`; `""` where there is none."""
    if row.interval_s is None or not row.median_s:
        return ""
    low, high = row.interval_s
    part = (high - low) / 2 / row.median_s * 100
    return "±<0.1 %" if 0 < part < 0.05 else f"±{part:.{1 if part < 9.95 else 0}f} %"


def warning(doubt: Doubt) -> tuple[str, str]:
    """What a doubt comes to, and why."""
    return RELATIVE if doubt.flag is Flag.QUICK else DISTRUSTED, doubt.why


def range_of(numbers: Sequence[int], noun: str) -> str:
    """`1 process`, `10 processes`, `4–10 processes`."""
    least, most = min(numbers), max(numbers)
    plural = "" if most == 1 else "es" if noun.endswith(("s", "ch")) else "s"
    return f"{least:,}{'' if least == most else f'–{most:,}'} {noun}{plural}"


def switches(number: int) -> str:
    """`1 involuntary switch`, `9 involuntary switches`."""
    return range_of([number], "involuntary switch")
