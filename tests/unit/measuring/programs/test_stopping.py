"""How often a program is timed."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.comparing.times import MIN_PROCESSES
from profkit.measuring.programs.stopping import StoppingRule
from profkit.stats.ranks import median_interval

TIMES = st.lists(st.floats(0.001, 10), max_size=60)


def rule(
    processes: int | None = None, most: int | None = None, least_s: float = 0.0, limit_s: float = 1e9
) -> StoppingRule:
    return StoppingRule(processes, most, least_s, limit_s, precision=0.01)


def executed(limits: StoppingRule, times_s: list[float]) -> list[float]:
    """Return the times of the executions that are made."""
    done: list[float] = []
    planned = limits.planned(done, 0)
    while len(done) < planned:
        done.append(times_s[len(done)])
        planned = limits.planned(done, planned)
    return done


def test_equal_times_suffice_at_the_first_decision() -> None:
    assert len(executed(rule(), [1.0] * 100)) == 10


def test_scattered_times_need_more() -> None:
    noise = random.Random(1)
    times_s = [math.exp(noise.gauss(0, 0.03)) for _ in range(5000)]
    assert 20 < len(executed(rule(), times_s)) < 400


def test_short_programs_are_timed_for_a_minimum_time() -> None:
    done = executed(rule(least_s=1.0), [0.01] * 1000)
    assert 1.0 <= math.fsum(done) < 1.5


def test_a_fixed_number_is_made_whatever_the_times_are() -> None:
    assert len(executed(rule(processes=3, limit_s=0.1), [1.0, 5.0, 9.0])) == 3


def test_the_time_limit_leaves_enough_for_an_interval() -> None:
    done = executed(rule(limit_s=2.0), [1.0] * 100)
    assert len(done) == MIN_PROCESSES
    assert median_interval(done) is not None


@pytest.mark.parametrize("most", [1, 4, 17])
def test_the_limit_on_executions_is_kept(most: int) -> None:
    assert len(executed(rule(most=most), [1.0, 3.0] * 100)) <= most


@given(times_s=TIMES, planned=st.integers(0, 80), most=st.none() | st.integers(1, 50))
def test_plans_never_shrink_below_what_is_done(times_s: list[float], planned: int, most: int | None) -> None:
    limits = rule(most=most)
    done = times_s if most is None else times_s[:most]
    number = limits.planned(done, planned)
    assert number >= len(done)
    assert most is None or number <= most


@pytest.mark.full
@pytest.mark.parametrize("deviation", [0.01, 0.03, 0.06])
def test_intervals_contain_the_true_median_nearly_as_often_as_they_say(deviation: float) -> None:
    noise, hits, trials = random.Random(7), 0, 400
    for _ in range(trials):
        done = executed(rule(most=400), [math.exp(noise.gauss(0, deviation)) for _ in range(400)])
        low, high = median_interval(done) or (0.0, 0.0)
        hits += low <= 1.0 <= high
    assert hits / trials > 0.9
