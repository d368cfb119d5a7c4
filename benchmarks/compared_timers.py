"""Comparisons of timer runs: a statement with itself, and with one that does 3 % more."""

from __future__ import annotations

from benchmarks.figures import Figure
from benchmarks.verdicts import alarms, missed


def measure(quick: bool) -> list[Figure]:
    """Make 200 comparisons of A with A, and 100 with a true difference; 10 processes × 20 blocks each."""
    return [
        alarms(5 if quick else 200),
        missed(5 if quick else 100, per_cent=3, bound=5.0),
    ]
