from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.stats import mann_whitney, minimum_detectable_effect
from profkit.stats.ranks import _normal_p

values = st.lists(st.integers(-1000, 1000), min_size=1, max_size=12)


@st.composite
def without_ties(draw, most: int = 10) -> tuple[list[int], list[int]]:
    everything = draw(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=most, unique=True))
    cut = draw(st.integers(1, len(everything) - 1))
    return everything[:cut], everything[cut:]


def pairs_won(a: list[int], b: list[int]) -> int:
    return sum(of_a > of_b for of_a in a for of_b in b)


def enumerated_p(a: list[int], b: list[int]) -> float:
    """Every way to deal the same values to two samples of the same sizes, tried one by one."""
    everything = [*a, *b]
    middle = len(a) * len(b) / 2
    seen = abs(pairs_won(a, b) - middle)
    as_uneven = 0
    for dealt in combinations(range(len(everything)), len(a)):
        rest = [everything[i] for i in range(len(everything)) if i not in dealt]
        as_uneven += abs(pairs_won([everything[i] for i in dealt], rest) - middle) >= seen
    return as_uneven / math.comb(len(everything), len(a))


@given(without_ties())
def test_small_samples_are_counted_exactly(samples: tuple[list[int], list[int]]) -> None:
    assert mann_whitney(*samples) == pytest.approx(enumerated_p(*samples))


def test_extreme_rankings() -> None:
    assert mann_whitney([1, 2, 3], [4, 5, 6]) == pytest.approx(2 / 20)
    assert mann_whitney([1, 2, 3, 4], [5, 6, 7, 8]) == pytest.approx(2 / 70)
    assert mann_whitney(range(50), range(50, 100)) == pytest.approx(2 / math.comb(100, 50))


@given(values, values)
def test_p_is_a_share_and_the_samples_may_change_places(a: list[int], b: list[int]) -> None:
    p = mann_whitney(a, b)
    assert 0 <= p <= 1
    assert mann_whitney(b, a) == pytest.approx(p)


@given(values, values, st.randoms(use_true_random=False))
def test_ranks_are_all_that_counts(a: list[int], b: list[int], dice) -> None:
    p = mann_whitney(a, b)
    assert mann_whitney(dice.sample(a, len(a)), b) == pytest.approx(p)
    assert mann_whitney([x**3 for x in a], [x**3 for x in b]) == pytest.approx(p)
    assert mann_whitney([-x for x in a], [-x for x in b]) == pytest.approx(p)


def test_the_approximation_meets_the_exact_p_where_one_takes_over_from_the_other() -> None:
    dice = random.Random(1)
    for shift in (0.0, 0.2, 0.4):
        a, b = [dice.gauss(0, 1) for _ in range(50)], [dice.gauss(shift, 1) for _ in range(50)]
        wins = sum(x > y for x in a for y in b)
        assert _normal_p(50, 50, wins, (1,) * 100) == pytest.approx(mann_whitney(a, b), rel=0.05, abs=0.001)


def test_equal_values_show_nothing() -> None:
    assert mann_whitney([5] * 10, [5] * 10) == 1
    assert mann_whitney([5], [5]) == 1
    assert mann_whitney([1, 2, 2, 3] * 5, [2, 1, 3, 2] * 5) == 1


def test_ties_narrow_the_distribution() -> None:
    # Worked by hand: wins 10 of 50, 20 values in groups of 5, 10, 5: variance 100/12 * (21 - 1230/380).
    a, b = [1] * 5 + [2] * 5, [2] * 5 + [3] * 5
    deviation = math.sqrt(100 / 12 * (21 - (2 * (5**3 - 5) + 10**3 - 10) / (20 * 19)))
    assert mann_whitney(a, b) == pytest.approx(math.erfc((50 - 12.5 - 0.5) / deviation / math.sqrt(2)))


def test_false_alarms_are_as_rare_as_p_says() -> None:
    dice = random.Random(2)
    alarms = sum(
        mann_whitney([dice.random() for _ in range(10)], [dice.random() for _ in range(10)]) < 0.05
        for _ in range(2000)
    )
    assert 0.03 < alarms / 2000 < 0.055


@pytest.mark.parametrize(("n", "m"), [(10, 10), (20, 8)])
def test_the_detectable_effect_is_found_four_times_in_five(n: int, m: int) -> None:
    dice = random.Random(3)
    found, trials = 0, 1000
    for _ in range(trials):
        a, b = (
            [math.exp(dice.gauss(0, 0.03)) for _ in range(n)],
            [math.exp(dice.gauss(0, 0.03)) for _ in range(m)],
        )
        slower = [time * (1 + minimum_detectable_effect(a, b)) for time in b]
        found += mann_whitney(a, slower) < 0.05
    assert 0.7 < found / trials < 0.87


@given(st.lists(st.floats(0.5, 2), min_size=4, max_size=20), st.floats(1e-6, 1e3))
def test_the_unit_of_time_does_not_matter(times: list[float], unit: float) -> None:
    scaled = [time * unit for time in times]
    assert minimum_detectable_effect(scaled, times) == pytest.approx(
        minimum_detectable_effect(times, times), rel=1e-4, abs=1e-7
    )


def test_too_few_values_detect_nothing() -> None:
    assert minimum_detectable_effect([1.0] * 3, [1.1] * 3) == math.inf
    assert minimum_detectable_effect([1.0], [1.1] * 100) == math.inf
    assert minimum_detectable_effect([1.0, 1.01, 0.99, 1.0], [1.1] * 4) < 0.05
    with pytest.raises(ValueError, match="positive"):
        minimum_detectable_effect([0.0, 1.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="ranked"):
        mann_whitney([], [1])
