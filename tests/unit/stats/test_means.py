from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.stats.means import autocorrelation, batch_spread, phased_spread, t_quantile, t_two_sided

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


TABLE = {
    (0.05, 1): 12.7062,
    (0.05, 2): 4.3027,
    (0.05, 4): 2.7764,
    (0.01, 10): 3.1693,
    (0.001, 30): 3.6460,
    (0.1, 120): 1.6577,
    (0.05, math.inf): 1.95996,
}
"""Of any book: two-sided."""

degrees = st.floats(0.5, 1e5)


@pytest.mark.parametrize(("wrong", "df"), TABLE)
def test_the_table_of_any_book(wrong: float, df: float) -> None:
    assert t_quantile(wrong, df) == pytest.approx(TABLE[wrong, df], abs=6e-5)


@given(st.floats(0.0, 1e6), degrees)
def test_a_tail_is_a_probability_that_falls(t: float, df: float) -> None:
    p = t_two_sided(t, df)
    assert 0 <= p <= 1
    assert t_two_sided(-t, df) == p
    assert t_two_sided(t * 1.1 + 0.01, df) <= p


@given(st.floats(1e-9, 1.0), degrees)
def test_a_quantile_is_where_the_tail_begins(wrong: float, df: float) -> None:
    assert t_two_sided(t_quantile(wrong, df), df) == pytest.approx(wrong, rel=1e-6, abs=1e-12)


@given(st.floats(0.0, 50.0))
def test_one_and_two_degrees_have_closed_forms(t: float) -> None:
    assert t_two_sided(t, 1) == pytest.approx(1 - 2 * math.atan(t) / math.pi, abs=1e-12)
    assert t_two_sided(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-12)


@given(st.floats(0.0, 6.0))
def test_many_degrees_are_the_normal_distribution(t: float) -> None:
    assert t_two_sided(t, 1e6) == pytest.approx(t_two_sided(t, math.inf), abs=1e-5)


def test_what_makes_no_sense_is_refused() -> None:
    assert t_two_sided(math.inf, 3) == 0
    with pytest.raises(ValueError, match="degrees"):
        t_two_sided(1.0, 0)
    for wrong in (0.0, 1.5):
        with pytest.raises(ValueError, match="probability"):
            t_quantile(wrong, 5)
