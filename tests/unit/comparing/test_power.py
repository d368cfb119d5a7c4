"""Simulated comparisons: the suggested number of runs finds a difference as often as promised."""

from __future__ import annotations

import random

import pytest

from profkit.comparing.power import MOST_RUNS, POWER, runs_to_decide
from profkit.comparing.significance import LEVEL, Seen, Sides, compare_quantities
from profkit.model.comparison import Change, Difference

WITHIN, BETWEEN, QUANTITIES = 0.01, 0.01, 8


def side(dice: random.Random, runs: int, value: float) -> list[Seen]:
    """Return runs around a true value, which vary as assumed."""
    return [
        Seen(value + dice.gauss(0, WITHIN) + dice.gauss(0, BETWEEN), 1 / runs, WITHIN**2, 19.0, BETWEEN**2)
        for _ in range(runs)
    ]


def compared(dice: random.Random, runs: int, effect: float) -> Difference:
    """Compare sides whose first quantity differs by `effect`; the others do not differ."""
    sides: list[Sides] = [
        (side(dice, runs, 0.3), side(dice, runs, 0.3 + (0 if number else effect)))
        for number in range(QUANTITIES)
    ]
    found = compare_quantities(sides, [True] * QUANTITIES)[0]
    value = found.b.value - found.a.value
    return Difference(value, value - found.half, value + found.half, found.p, Change.NOISE)


@pytest.mark.parametrize(("effect", "before"), [(0.04, 3), (0.06, 3), (0.05, 1)])
def test_so_many_runs_find_the_difference_as_often_as_said(effect: float, before: int) -> None:
    dice = random.Random(31)
    halves = [compared(dice, before, effect) for _ in range(100)]
    half = sum(one.high - one.value for one in halves) / len(halves)
    runs = runs_to_decide(
        Difference(effect, effect - half, effect + half, 0.5, Change.NOISE), (before, before), QUANTITIES
    )
    assert runs is not None
    found = sum(compared(dice, runs, effect).p < LEVEL for _ in range(300)) / 300
    assert POWER - 0.12 < found < 0.99


def test_smaller_differences_need_more_runs() -> None:
    needed = [
        runs_to_decide(Difference(value, value - 0.05, value + 0.05, 0.5, Change.NOISE), (3, 3), 10)
        for value in (0.05, 0.04, 0.03, 0.02, 0.002)
    ]
    known = [runs for runs in needed if runs is not None]
    assert known == sorted(known)
    assert known[0] > 3
    assert needed[-1] is None, f"it takes more than {MOST_RUNS}"
