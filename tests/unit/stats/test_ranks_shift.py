from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.stats import mann_whitney, unpaired_ratio
from profkit.stats.ranks import ratios_outside

times = st.lists(st.integers(1, 10**6), min_size=1, max_size=9)


@st.composite
def without_ties(draw) -> tuple[list[int], list[int]]:
    everything = draw(st.lists(st.integers(1, 10**6), min_size=2, max_size=18, unique=True))
    cut = draw(st.integers(1, len(everything) - 1))
    return everything[:cut], everything[cut:]


@given(without_ties())
def test_the_interval_leaves_out_1_exactly_where_the_test_rejects(
    samples: tuple[list[int], list[int]],
) -> None:
    _, low, high = unpaired_ratio(*samples)
    assert (low > 1 or high < 1) == (mann_whitney(*samples) <= 0.05)


@given(times, times)
def test_the_sides_may_change_places(a: list[int], b: list[int]) -> None:
    ratio, low, high = unpaired_ratio(a, b)
    back, low_back, high_back = unpaired_ratio(b, a)
    assert low <= ratio <= high
    assert back == pytest.approx(1 / ratio)
    assert low_back == pytest.approx(1 / high if high < math.inf else 0.0)
    assert high_back == pytest.approx(1 / low if low else math.inf)


@given(times, times, st.floats(1e-9, 1e3))
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
