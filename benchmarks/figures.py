"""Figures: one measured number each, with its uncertainty and its bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table."""

    what: str
    value: float
    unit: str = "×"
    bound: float | None = None
    """Upper bound; None if there is none."""
    certain: bool = False
    """True if no interval is needed: the value is counted, or its bound already allows for chance."""
    interval: tuple[float, float] | None = None
    """95 % confidence interval; None if `certain`, or if there are too few values."""
    spread: tuple[float, float] | None = None
    """Smallest and largest single value."""
    detail: str = ""
    measurement: str = ""
    """Name of the module that measured it."""

    @property
    def verdict(self) -> str:
        """State of the bound: kept, broken, or undecided if the interval contains it; empty without one."""
        if self.bound is None:
            return ""
        interval = (self.value, self.value) if self.certain else self.interval
        if interval is None:
            return UNDECIDED
        low, high = interval
        if high <= self.bound:
            return HOLDS
        return FAILS if low > self.bound else UNDECIDED

    def to_object(self) -> dict[str, object]:
        """Return the figure as a JSON object."""
        return {**asdict(self), "verdict": self.verdict}


def check_enough(found: int, least: int, what: str) -> None:
    """Raise RuntimeError if something was sampled too rarely: shares of no samples are within any bound."""
    if found < least:
        raise RuntimeError(f"{what}: {found:,} samples, of at least {least:,}")


def figure_from(document: Mapping[str, Any]) -> Figure:
    """Return the figure that `to_object` wrote."""
    fields = {name: value for name, value in document.items() if name != "verdict"}
    for name in ("interval", "spread"):
        fields[name] = None if fields[name] is None else tuple(fields[name])
    return Figure(**fields)
