"""Properties that the statistics on ranks have for any times."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.comparing.late_ranks import SLICES, RankTime, explain, find_lateness
from profkit.transforms.rank_times import Alone, Included, Stretch

seconds = st.floats(0.01, 50.0)
stretches = st.lists(
    st.builds(Stretch, seconds, st.integers(1, 500), st.sampled_from(Alone)), min_size=1, max_size=30
)
waits = st.lists(st.floats(0.0, 60.0), min_size=2, max_size=9)


def steady(waited_s: float, total_s: float = 60.0, samples: int = 3000) -> RankTime:
    """A rank that waits as much in each slice, with small changes."""
    even = waited_s / SLICES
    slices = tuple(even * (1.01 if number % 2 else 0.99) for number in range(SLICES))
    return RankTime(samples, total_s, waited_s, slices)


@given(stretches)
def test_slices_have_all_waiting(found: list[Stretch]) -> None:
    time = RankTime.of(found)
    assert len(time.slices_s) == SLICES
    assert sum(time.slices_s) == pytest.approx(time.waited_s, abs=1e-6)
    assert all(-1e-9 <= part <= time.total_s / SLICES + 1e-6 for part in time.slices_s)
    assert time.waited_s <= time.total_s * (1 + 1e-9)
    assert time.variance > 0


@given(waits, st.randoms(use_true_random=False))
def test_the_order_of_ranks_does_not_matter(found: list[float], chance: object) -> None:
    times = [steady(one) for one in found]
    order = list(range(len(times)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    one, other = find_lateness(times), find_lateness([times[number] for number in order])
    assert (one is None) is (other is None)
    if one is not None and other is not None:
        assert sorted(times[n].waited_s for n in one.ranks) == sorted(
            times[order[n]].waited_s for n in other.ranks
        )
        assert other.waited_s == pytest.approx(one.waited_s)


@given(waits)
def test_late_ranks_are_at_most_half_and_wait_less_than_all_others(found: list[float]) -> None:
    late = find_lateness([steady(one) for one in found])
    if late is not None:
        assert sorted((*late.ranks, *late.others)) == sorted({*late.ranks, *late.others})
        assert len(late.ranks) <= len(found) / 2
        assert max(found[n] for n in late.ranks) < min(found[n] for n in late.others)
        assert 0 < late.waited_s <= max(found)


@given(st.floats(0.0, 60.0), st.integers(2, 9))
def test_equal_ranks_are_not_late(waited_s: float, ranks: int) -> None:
    assert find_lateness([steady(waited_s)] * ranks) is None


def test_few_samples_say_nothing() -> None:
    times = [steady(40.0), steady(40.0), steady(5.0)]
    assert find_lateness(times) is not None
    assert find_lateness([*times[:2], replace(times[2], samples=30)]) is None
    assert find_lateness(times[:1]) is None


def test_a_rank_of_which_less_was_recorded_is_not_late() -> None:
    times = [steady(14.0, 15.0, 750), steady(14.0, 15.0, 750), steady(9.0, 10.0, 500)]
    assert find_lateness(times) is None
    found = find_lateness([*times, steady(8.0, 15.0, 750)])
    assert found is not None
    assert found.ranks == (3,), "a late rank beside it is named alone"


def test_an_incident_is_not_steady() -> None:
    times = [steady(40.0), steady(41.0), RankTime(3000, 60.0, 20.0, (0.0,) * 10 + (2.0,) * 10)]
    found = find_lateness(times)
    assert found is not None
    assert found.ranks == (2,)
    assert not found.is_steady


MAIN, CALLER, SLOW = ("main", "a.py"), ("load", "a.py"), ("slow", "a.py")


def test_the_innermost_function_with_the_time_explains_it() -> None:
    late = {MAIN: Included(60.0, 1.0), CALLER: Included(30.0, 2.0), SLOW: Included(28.0, 3.0)}
    other = {MAIN: Included(30.0, 1.0), CALLER: Included(2.0, 2.0)}
    found = explain(30.0, [late], [other, other])
    assert found is not None
    assert (found.function, found.is_much_longer) == (SLOW, True)
    spread = {MAIN: Included(60.0, 1.0), CALLER: Included(14.0, 2.0)}
    found = explain(30.0, [spread], [other, other])
    assert found is not None
    assert (found.function, found.is_much_longer) == (MAIN, True)
    assert explain(30.0, [other], [other]) is None
