from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations
from statistics import median

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from profkit.stats.ranks import (
    _normal_p,
    holm,
    mann_whitney,
    median_interval,
    minimum_detectable_effect,
    paired_ratio,
    ratios_outside,
    unpaired_ratio,
    values_outside,
)

values = st.lists(st.integers(-1000, 1000), min_size=1, max_size=12)


@st.composite
def without_ties(draw, least: int = -(10**6), most: int = 10) -> tuple[list[int], list[int]]:
    everything = draw(st.lists(st.integers(least, 10**6), min_size=2, max_size=most, unique=True))
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


ps = st.lists(st.floats(0.0, 1.0), max_size=12)


def test_an_example_by_hand() -> None:
    found = holm([0.01, 0.04, 0.03, 0.005], 0.05)
    assert [one.p for one in found] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [one.level for one in found] == pytest.approx([0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4])


@given(ps, st.sampled_from([0.01, 0.05, 0.2]))
@example([0.01, 0.02, 0.6], 0.05)
def test_significant_is_what_its_own_level_says(values: list[float], level: float) -> None:
    """So an interval at that level leaves 0 out just if the adjusted p is below the level of all.

    A p that equals what it is compared with is both or neither, whichever way its product was rounded.
    """
    compared = [p * left for p, left in zip(sorted(values), range(len(values), 0, -1), strict=True)]
    assume(all(abs(product - level) > 1e-9 for product in compared))
    for p, adjusted in zip(values, holm(values, level), strict=True):
        assert adjusted.p >= p
        assert (p < adjusted.level) == (adjusted.p < level)


@pytest.mark.parametrize("family", [1, 2, 5])
def test_a_p_that_equals_its_level_does_not_end_the_search(family: int) -> None:
    first, *others = holm([0.125 / family] + [1.0] * (family - 1), 0.125)
    assert first.level == 0.125 / family
    assert [one.level for one in others] == [0.125 / max(1, family - 1)] * (family - 1)


@given(ps, st.integers(0, 4))
def test_others_count_though_they_are_not_asked_for(values: list[float], others: int) -> None:
    assert holm(values, 0.05, others) == holm([*values, *[1.0] * others], 0.05)[: len(values)]


@given(ps)
def test_the_order_stays(values: list[float]) -> None:
    adjusted = [found.p for _, found in sorted(zip(values, holm(values, 0.05), strict=True))]
    assert adjusted == sorted(adjusted)


@given(ps, st.randoms(use_true_random=False))
def test_places_do_not_matter(values: list[float], dice: random.Random) -> None:
    order = list(range(len(values)))
    dice.shuffle(order)
    found, shuffled = holm(values, 0.05), holm([values[n] for n in order], 0.05)
    assert [found[n].p for n in order] == pytest.approx([one.p for one in shuffled])


def test_families_without_any_truth_are_seldom_alarmed() -> None:
    dice = random.Random(4)
    alarms = sum(
        any(one.p < 0.05 for one in holm([dice.random() for _ in range(15)], 0.05)) for _ in range(2500)
    )
    assert 0.04 < alarms / 2500 < 0.06


numbers = st.integers(-(10**6), 10**6)
times = st.floats(1e-9, 1e3)
confidences = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])


def coverage(count: int, outside: int) -> Fraction:
    """How surely the median lies between the values that `outside` others surround at either end."""
    return 1 - 2 * sum(Fraction(math.comb(count, below), 2**count) for below in range(outside + 1))


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


whole_times = st.lists(st.integers(1, 10**6), min_size=1, max_size=9)


@given(without_ties(least=1, most=18))
def test_the_interval_leaves_out_1_exactly_where_the_test_rejects(
    samples: tuple[list[int], list[int]],
) -> None:
    _, low, high = unpaired_ratio(*samples)
    assert (low > 1 or high < 1) == (mann_whitney(*samples) <= 0.05)


@given(whole_times, whole_times)
def test_the_sides_may_change_places(a: list[int], b: list[int]) -> None:
    ratio, low, high = unpaired_ratio(a, b)
    back, low_back, high_back = unpaired_ratio(b, a)
    assert low <= ratio <= high
    assert back == pytest.approx(1 / ratio)
    assert low_back == pytest.approx(1 / high if high < math.inf else 0.0)
    assert high_back == pytest.approx(1 / low if low else math.inf)


@given(whole_times, whole_times, st.floats(1e-9, 1e3))
def test_units_do_not_matter(a: list[int], b: list[int], unit: float) -> None:
    scaled = [time * unit for time in a], [time * unit for time in b]
    assert unpaired_ratio(*scaled) == pytest.approx(unpaired_ratio(a, b))


def test_tables_of_the_test_agree() -> None:
    # Critical values of U for two-sided 5 % and 1 %, as every table of the Mann-Whitney test has them.
    assert [ratios_outside(n, n, 0.95) for n in (4, 5, 8, 10, 20)] == [0, 2, 13, 23, 127]
    assert [ratios_outside(n, n, 0.99) for n in (5, 6, 10, 20)] == [0, 2, 16, 105]
    assert ratios_outside(3, 3, 0.95) is None
    assert ratios_outside(51, 51, 0.95) == pytest.approx(
        51 * 51 / 2 - 1.96 * math.sqrt(51 * 51 * 103 / 12), abs=1
    )


def test_the_true_ratio_lies_in_the_interval_as_often_as_promised() -> None:
    dice, within = random.Random(4), 0
    for _ in range(400):
        a = [math.exp(dice.gauss(0, 0.05)) for _ in range(10)]
        b = [1.03 * math.exp(dice.gauss(0, 0.05)) for _ in range(10)]
        _, low, high = unpaired_ratio(a, b)
        within += low <= 1.03 <= high
    assert 0.93 <= within / 400 <= 0.99


def test_times_that_are_not_positive_give_no_ratio() -> None:
    for a, b in (([], [1.0]), ([1.0], []), ([0.0], [1.0])):
        with pytest.raises(ValueError, match="give no ratios"):
            unpaired_ratio(a, b)
    with pytest.raises(ValueError, match="confidence"):
        unpaired_ratio([1.0], [1.0], 1.0)
