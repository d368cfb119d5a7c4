from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.stats.means import autocorrelation, batch_spread, phased_spread, t_quantile

BATCHES = 20
values = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40)


def covered(alike: float, trials: int = 1000) -> float:
    """How often the 95 % interval of a mean holds the true one, 0, where neighbours are alike."""
    dice, hits = random.Random(5), 0
    for _ in range(trials):
        value, taken = dice.gauss(0, 1), []
        for _ in range(BATCHES):
            taken.append(value)
            value = alike * value + (1 - alike**2) ** 0.5 * dice.gauss(0, 1)
        spread = batch_spread(taken)
        hits += abs(sum(taken) / BATCHES) <= t_quantile(0.05, spread.df) * spread.variance**0.5
    return hits / trials


def test_intervals_of_independent_batches_hold() -> None:
    assert 0.95 < covered(0.0) < 0.985


def test_intervals_of_batches_that_are_alike_hold_nearly_as_often() -> None:
    """Without the guard they hold in 75 % at 0.5."""
    assert covered(0.3) > 0.92
    assert covered(0.5) > 0.89


def test_neighbours_that_alternate_change_nothing() -> None:
    spread = batch_spread([1.0, -1.0] * 10)
    assert spread.variance == pytest.approx(20 / 19 / 20)
    assert spread.df == 19


def test_independent_values_do_not_resemble_each_other() -> None:
    dice = random.Random(6)
    found = [autocorrelation([dice.random() for _ in range(20)]) for _ in range(2000)]
    assert abs(sum(found) / len(found)) < 0.01


@given(values, st.floats(0.1, 10.0), st.floats(-100, 100))
def test_scale_and_place_do_not_matter(taken: list[float], scale: float, place: float) -> None:
    spread = batch_spread(taken)
    moved = batch_spread([scale * value + place for value in taken])
    assert moved.variance == pytest.approx(scale**2 * spread.variance, rel=1e-3, abs=1e-6)
    assert 1 <= spread.df <= len(taken) - 1


def test_phases_leave_the_spread_of_independent_batches_as_it_is() -> None:
    dice, trials = random.Random(23), 500
    ratios = []
    for _ in range(trials):
        taken = [dice.gauss(0, 1) for _ in range(BATCHES)]
        risen = [value + 100 * (number >= 10) for number, value in enumerate(taken)]
        slow = [value + 0.2 * number for number, value in enumerate(taken)]
        assert phased_spread(risen).variance < batch_spread(risen).variance / 10
        ratios.append(phased_spread(slow).variance * BATCHES)
    assert sum(ratios) / trials == pytest.approx(1, abs=0.06)


def test_one_batch_has_no_spread() -> None:
    for spread in (batch_spread, phased_spread):
        with pytest.raises(ValueError, match="spread"):
            spread([1.0])
