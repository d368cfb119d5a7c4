from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.stats import median, median_interval, paired_ratio
from profkit.stats.ranks import values_outside

numbers = st.integers(-(10**6), 10**6)
times = st.floats(1e-9, 1e3)
confidences = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])


def coverage(count: int, outside: int) -> Fraction:
    """How surely the median lies between the values that `outside` others surround at either end."""
    return 1 - 2 * sum(Fraction(math.comb(count, below), 2**count) for below in range(outside + 1))


def test_median_of_few() -> None:
    assert median([3]) == 3
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 2, 3]) == 2.5
    with pytest.raises(ValueError, match="no values"):
        median([])


@given(st.lists(numbers, min_size=1))
def test_as_many_values_lie_below_the_median_as_above(values: list[int]) -> None:
    middle = median(values)
    assert sum(value < middle for value in values) <= len(values) / 2
    assert sum(value > middle for value in values) <= len(values) / 2


def test_an_interval_needs_six_values() -> None:
    assert median_interval([1, 2, 3, 4, 5]) is None
    assert median_interval([]) is None
    assert median_interval([6, 5, 4, 3, 2, 1]) == (1, 6)


def test_intervals_as_tables_give_them() -> None:
    # Ranks of the 95 % interval as tables of the sign test print them.
    ranks = {8: (1, 8), 9: (2, 8), 10: (2, 9), 12: (3, 10), 15: (4, 12), 20: (6, 15), 25: (8, 18)}
    for count, expected in ranks.items():
        assert median_interval(range(1, count + 1)) == expected


@given(st.integers(0, 300), confidences)
def test_an_interval_covers_enough_and_one_narrower_does_not(count: int, confidence: float) -> None:
    outside = values_outside(count, confidence)
    if outside is not None:
        assert coverage(count, outside) >= confidence
    narrower = 0 if outside is None else outside + 1
    if 2 * narrower < count:
        assert coverage(count, narrower) < confidence


def test_thousands_of_values() -> None:
    low, high = median_interval(range(5001)) or (0, 0)
    assert 2400 < low < 2500 < high < 2600


@given(st.lists(numbers, min_size=6), confidences, st.randoms(use_true_random=False))
def test_order_does_not_matter(values: list[int], confidence: float, random) -> None:
    shuffled = random.sample(values, len(values))
    assert median_interval(shuffled, confidence) == median_interval(values, confidence)
    assert median(shuffled) == median(values)


@given(st.lists(numbers, min_size=6), confidences)
def test_a_rising_map_carries_the_interval_along(values: list[int], confidence: float) -> None:
    bounds = median_interval(values, confidence)
    assert bounds is not None or confidence == 0.99
    if bounds is not None:
        cubed = median_interval([value**3 for value in values], confidence)
        assert cubed == (bounds[0] ** 3, bounds[1] ** 3)
        assert bounds[0] <= median(values) <= bounds[1]


def test_a_confidence_is_a_share() -> None:
    for confidence in (0.0, 1.0, -1.0, 95.0):
        with pytest.raises(ValueError, match="confidence"):
            median_interval([1, 2, 3], confidence)


@given(st.lists(st.tuples(times, times), min_size=1, max_size=30))
def test_the_other_way_round_a_ratio_is_inverse(pairs: list[tuple[float, float]]) -> None:
    a, b = zip(*pairs, strict=True)
    ratio, low, high = paired_ratio(a, b)
    inverse, inverse_low, inverse_high = paired_ratio(b, a)
    assert low <= ratio <= high
    assert inverse == pytest.approx(1 / ratio)
    if len(pairs) < 6:
        assert (low, high) == (0.0, math.inf)
    else:
        assert (inverse_low, inverse_high) == pytest.approx((1 / high, 1 / low))


@given(st.lists(times, min_size=6, max_size=30), st.floats(0.1, 10))
def test_what_processes_have_in_common_cancels(a: list[float], factor: float) -> None:
    assert paired_ratio(a, [factor * time for time in a]) == pytest.approx((factor,) * 3)


def test_what_gives_no_ratios() -> None:
    for a, b in (([], []), ([1.0], [1.0, 2.0]), ([0.0], [1.0]), ([1.0], [-1.0])):
        with pytest.raises(ValueError, match="no ratios"):
            paired_ratio(a, b)
