from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.stats.ranks import holm

ps = st.lists(st.floats(0.0, 1.0), max_size=12)


def test_an_example_by_hand() -> None:
    found = holm([0.01, 0.04, 0.03, 0.005], 0.05)
    assert [one.p for one in found] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [one.level for one in found] == pytest.approx([0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4])


@given(ps, st.sampled_from([0.01, 0.05, 0.2]))
def test_significant_is_what_its_own_level_says(values: list[float], level: float) -> None:
    """So an interval at that level leaves 0 out just where the adjusted p is below the level of all."""
    for p, adjusted in zip(values, holm(values, level), strict=True):
        assert adjusted.p == pytest.approx(1.0) or adjusted.p >= p
        if abs(p - adjusted.level) > 1e-12:
            assert (p < adjusted.level) == (adjusted.p < level)


@given(ps)
def test_the_order_stays(values: list[float]) -> None:
    found = holm(values, 0.05)
    assert sorted(range(len(values)), key=lambda n: (found[n].p, values[n])) == sorted(
        range(len(values)), key=lambda n: (values[n], found[n].p)
    ) or len(set(values)) < len(values)


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
