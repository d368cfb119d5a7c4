"""Numbers as reports write them, and text with a tone."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple


class Tone(enum.Enum):
    """How a piece of text is meant; a renderer decides what that looks like."""

    PLAIN = "plain"
    STRONG = "strong"
    FAINT = "faint"
    WARN = "warn"
    BAD = "bad"


class Part(NamedTuple):
    """A piece of text and its tone."""

    text: str
    tone: Tone = Tone.PLAIN


def count(number: int, noun: str = "") -> str:
    """`1,234 calls`, `1 call`; the bare number without a noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}" if noun else f"{number:,}"


def percent(share: float, samples: int) -> str:
    """A share with as many digits as that many samples can tell: `43 %`, from 1,000 on `43.2 %`."""
    value = share * 100
    digits = 1 if samples >= 1000 else 0
    smallest = 10.0**-digits
    if 0 < value < smallest / 2:
        return f"<{smallest:.{digits}f} %"
    return f"{value:.{digits}f} %"


def rate(hertz: float) -> str:
    """`97.4 Hz`, `100 Hz`: three digits, without needless zeros."""
    return f"{hertz:.3g} Hz" if hertz < 1000 else f"{hertz:,.0f} Hz"


def moment(unix_ns: int, zone: tzinfo | None = None) -> str:
    """Date, time and offset of a moment, in the local zone unless another is given."""
    return datetime.fromtimestamp(unix_ns / 1e9, UTC).astimezone(zone).strftime("%Y-%m-%d %H:%M:%S %z")


def iso_moment(unix_ns: int) -> str:
    """A moment in UTC for programs: `2026-11-21T11:49:03.250Z`."""
    at = datetime.fromtimestamp(unix_ns // 1_000_000 / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def alike(durations_s: Sequence[float | None]) -> list[str]:
    """Durations in one unit and with the same decimals, so that a column of them compares; `""` for None.

    The longest has three digits: `2.53 s` beside `0.04 s`.
    """
    longest = max((duration_s for duration_s in durations_s if duration_s is not None), default=0.0)
    factor, unit = next((pair for pair in _UNITS if longest >= pair[0]), _UNITS[0])
    digits = 2 if longest < 9.995 * factor else 1 if longest < 99.95 * factor else 0
    shown = (None if duration_s is None else duration_s / factor for duration_s in durations_s)
    return ["" if value is None else f"{value:,.{digits}f} {unit}" for value in shown]
