"""Figures: one measured number each, with what it is worth and the bound that it should keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table."""

    measurement: str
    what: str
    value: float
    unit: str = "×"
    bound: float | None = None
    """The largest value that is good enough, None where there is no such."""
    certain: bool = False
    """The value is counted, or its bound allows for chance already: no interval is needed."""
    interval: tuple[float, float] | None = None
    """Holds the true value with 95 % confidence; None where certain, or where too little was measured."""
    spread: tuple[float, float] | None = None
    """The smallest and the largest single value."""
    detail: str = ""

    @property
    def verdict(self) -> str:
        """Whether the whole interval keeps the bound, or breaks it, or noise leaves that open."""
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
        """The figure as a JSON object."""
        return {**asdict(self), "verdict": self.verdict}


def figure_from(document: Mapping[str, Any]) -> Figure:
    """The figure that `to_object` wrote."""
    fields = {name: value for name, value in document.items() if name != "verdict"}
    for name in ("interval", "spread"):
        fields[name] = None if fields[name] is None else tuple(fields[name])
    return Figure(**fields)
