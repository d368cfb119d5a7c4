from __future__ import annotations

import random

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from profkit.stats.ranks import holm

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
