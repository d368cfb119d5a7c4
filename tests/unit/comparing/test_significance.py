from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.comparing.significance import LEVEL, Seen, Sides, compare_quantities


def side(dice: random.Random, runs: int, within: float, between: float, assumed: float) -> list[Seen]:
    """Runs whose values vary by so much, of which one assumes something else; the true value is 1."""
    return [
        Seen(
            1 + dice.gauss(0, within) + dice.gauss(0, between),
            1 / runs,
            within**2,
            19.0,
            assumed**2,
            within**2 / 2,
        )
        for _ in range(runs)
    ]


def alarms(a: int, b: int, between: float, assumed: float, quantities: int = 10, trials: int = 250) -> float:
    """How often any of some quantities is called different that is not."""
    dice, found = random.Random(19), 0
    for _ in range(trials):
        sides: list[Sides] = [
            (side(dice, a, 0.1, between, assumed), side(dice, b, 0.1, between, assumed))
            for _ in range(quantities)
        ]
        found += any(found.p < LEVEL for found in compare_quantities(sides, [True] * quantities))
    return found / trials


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 4), (3, 3), (5, 3), (8, 8)])
def test_false_alarms_are_rare_where_the_assumption_holds(a: int, b: int) -> None:
    assert alarms(a, b, between=0.1, assumed=0.1) < LEVEL + 0.03


@pytest.mark.parametrize("runs", [3, 6])
def test_runs_correct_a_wrong_assumption(runs: int) -> None:
    """Runs vary five times as much as assumed; from one run per side nobody could know."""
    assert alarms(runs, runs, between=0.5, assumed=0.1) < LEVEL + 0.03
    assert alarms(1, 1, between=0.5, assumed=0.1) > 0.5


def test_runs_that_vary_less_than_assumed_find_more() -> None:
    dice = random.Random(20)
    widths = []
    for assumed in (0.1, 1.0):
        sides: list[Sides] = [
            (side(dice, 5, 0.1, 0.1, assumed), side(dice, 5, 0.1, 0.1, assumed)) for _ in range(10)
        ]
        widths.append(sum(found.half for found in compare_quantities(sides, [True] * 10)))
    assert widths[1] < 2 * widths[0]


def test_intervals_of_both_sides_hold() -> None:
    dice, held, trials = random.Random(21), 0, 300
    for _ in range(trials):
        sides: list[Sides] = [(side(dice, 3, 0.1, 0.1, 0.1), side(dice, 3, 0.1, 0.1, 0.1)) for _ in range(5)]
        held += sum(
            abs(mean.value - 1) <= mean.half
            for found in compare_quantities(sides, [True] * 5)
            for mean in found[:2]
        )
    assert held / trials / 10 == pytest.approx(0.95, abs=0.03)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32))
def test_only_what_is_tested_counts(a: int, b: int, seed: int) -> None:
    dice = random.Random(seed)
    sides: list[Sides] = [(side(dice, a, 0.1, 0.1, 0.1), side(dice, b, 0.1, 0.1, 0.1)) for _ in range(4)]
    alone = compare_quantities(sides[:2], [True, True])
    beside = compare_quantities(sides, [True, True, False, False])
    assert beside[:2] == alone
    assert [found.p for found in beside[2:]] == [1.0, 1.0]


def test_no_variance_is_certainty() -> None:
    exact = [Seen(0.5, 1.0, 0.0, 1.0, 0.0)]
    same, other = compare_quantities([(exact, exact), (exact, [exact[0]._replace(value=0.6)])], [True, True])
    assert (same.p, other.p) == (1.0, 0.0)
    assert same.half == other.half == 0
    assert not math.isnan(same.a.half)
