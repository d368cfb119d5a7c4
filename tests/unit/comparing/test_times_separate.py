from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from profkit.comparing.gate import check_times
from profkit.comparing.times import compare_alternating, compare_separate
from profkit.errors import UsageError
from profkit.model.comparison import Outcome, Verdict
from profkit.model.measurement import Design, Timing
from profkit.render.views.verdicts import times_sentence, undetected
from tests.support.example_measurements import timing


def made(dice: random.Random, factor: float = 1.0, processes: int = 10, scatter: float = 0.02) -> Timing:
    """Processes whose minima scatter; two share a zygote."""
    return timing([[factor * 1e-6 * math.exp(dice.gauss(0, scatter))] * 3 for _ in range(processes)])


def test_alternately_finds_what_it_can_and_says_what_it_cannot() -> None:
    dice = random.Random(1)
    compared = compare_alternating(made(dice), made(dice, 1.10))
    assert (compared.verdict, compared.design) == (Verdict.SLOWER, Design.ALTERNATING)
    assert "95 % interval" in times_sentence(compared)
    assert "10 processes per side, p < 0.001" in times_sentence(compared)
    assert not compared.unconfirmed
    assert compared.detectable is not None
    assert 0.02 < compared.detectable < 0.06
    assert undetected(compared).startswith("changes below ")


def test_identical_sides_are_hardly_ever_called_different() -> None:
    dice = random.Random(2)
    wrong = [
        compare_alternating(made(dice), made(dice)).verdict is not Verdict.NO_DIFFERENCE for _ in range(300)
    ]
    assert sum(wrong) <= 6
    wrong = [
        compare_separate([made(dice)], [made(dice)]).verdict is not Verdict.NO_DIFFERENCE for _ in range(100)
    ]
    assert sum(wrong) == 0


def test_a_difference_as_of_one_in_twenty_identical_commits_is_no_verdict() -> None:
    a, b = (
        timing([[1.0 + step / 100] for step in range(6)]),
        timing([[1.035 + step / 100] for step in range(6)]),
    )
    compared = compare_alternating(a, b)
    assert compared.p is not None
    assert compared.low is not None
    assert 0.01 < compared.p < 0.05
    assert compared.low > 1
    assert compared.verdict is Verdict.NO_DIFFERENCE
    assert check_times("x", compared, 0.0).outcome is not Outcome.REGRESSION


def test_a_small_difference_at_different_times_may_be_the_machine() -> None:
    dice = random.Random(3)
    small = compare_separate([made(dice, scatter=0.001)], [made(dice, 1.04, scatter=0.001)])
    assert "unconfirmed" not in times_sentence(small)


def test_apart_a_small_difference_may_be_the_machine() -> None:
    dice = random.Random(3)
    a = [made(dice, scatter=0.001)]
    small, large = (
        compare_separate(a, [made(dice, 1.04, scatter=0.001)]),
        compare_separate(a, [made(dice, 1.08, scatter=0.001)]),
    )
    assert (small.verdict, large.verdict) == (Verdict.NO_DIFFERENCE, Verdict.SLOWER)
    assert times_sentence(small).startswith("takes as long, to within 5 %")
    assert times_sentence(large).endswith("; unconfirmed, because measured separately")
    assert large.unconfirmed
    assert compare_separate([made(dice, 1.08, scatter=0.001)], a).verdict is Verdict.FASTER


def test_one_zygote_shifts_all_its_processes() -> None:
    def quick(factor: float) -> Timing:
        alike = timing([[factor * 1e-6 * (1 + place / 1e4)] for place in range(6)])
        return replace(alike, processes=tuple(replace(process, zygote=1) for process in alike.processes))

    assert compare_separate([quick(1)], [quick(1.08)]).verdict is Verdict.NO_DIFFERENCE
    assert compare_separate([quick(1)], [quick(1.12)]).verdict is Verdict.SLOWER


def test_from_four_runs_on_each_run_counts_once() -> None:
    dice = random.Random(4)

    def runs(count: int, factor: float = 1.0) -> list[Timing]:
        """Runs that differ by some per cent, each of them with hardly any scatter."""
        return [made(dice, factor * math.exp(dice.gauss(0, 0.03)), scatter=0.001) for _ in range(count)]

    wrong = [compare_separate(runs(4), runs(4)).verdict is not Verdict.NO_DIFFERENCE for _ in range(200)]
    assert sum(wrong) <= 8
    compared = compare_separate(runs(5), runs(5, 1.3))
    assert compared.verdict is Verdict.SLOWER
    assert "5 runs per side" in times_sentence(compared)


def test_too_few_processes_give_no_verdict() -> None:
    dice = random.Random(5)
    compared = compare_alternating(made(dice, processes=5), made(dice, 3.0, processes=5))
    assert (compared.verdict, compared.low, compared.high) == (Verdict.TOO_FEW, None, None)
    assert times_sentence(compared) == "has no verdict from 5 processes per side: at least 6 are needed"
    assert undetected(compared) == ""


def test_what_was_timed_in_the_callers_process_stays_among_itself() -> None:
    dice = random.Random(6)
    inside = made(dice)
    inside = replace(inside, measured_in=replace(inside.measured_in, isolated=False))
    with pytest.raises(UsageError, match="caller's process"):
        compare_separate([made(dice)], [inside])
    with pytest.raises(UsageError, match="no times"):
        compare_separate([], [inside])
