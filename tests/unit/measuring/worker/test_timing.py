from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.worker.timing import Meter, Timed, TimingSettings, time_cases


@dataclass
class Scripted:
    """A statement whose executions take scripted times on a clock of its own."""

    times_s: Callable[[int], float]
    """Of the n-th execution."""
    log: list[object] = field(default_factory=list)
    """What ran, shared by statements that take turns."""
    name: str = ""
    runs: list[int] = field(default_factory=list)
    now_s: float = 0.0

    def elapsed(self, number: int) -> float:
        first = sum(self.runs)
        # As if all of a block's executions took as long as its first, so that large blocks cost no time here.
        took_s = number * self.times_s(first)
        self.runs.append(number)
        self.log.append(self.name)
        self.now_s += took_s
        return took_s

    def timed(self, number: int | None = None, runs: int | None = None) -> Timed:
        return Timed(self.elapsed, lambda task: task(), number, runs)


def wanted(min_run_time_s: float = 0.02, blocks: int | None = None, seed: int = 1) -> TimingSettings:
    return TimingSettings(0.002, min_run_time_s, blocks, seed)


STILL = Meter(clock=lambda: 0.0, cpu=lambda: 0.0, switches=lambda: 0)


def measured(scripted: Scripted, asked: TimingSettings, number: int | None = None, runs: int | None = None):
    """The answer, and the executions of warm-ups."""
    (answer,) = time_cases([scripted.timed(number, runs)], asked, STILL)
    assert scripted.runs[-len(answer["times_s"]) :] == [answer["number"]] * len(answer["times_s"])
    return answer, sum(scripted.runs) - answer["number"] * len(answer["times_s"])


@given(st.floats(1e-9, 1e-3))
def test_a_block_takes_about_its_time(each_s: float) -> None:
    answer, warm_ups = measured(Scripted(lambda n: each_s), wanted())
    assert answer["number"] == max(1, round(0.002 / each_s))
    assert len(answer["times_s"]) == 20
    assert answer["times_s"] == pytest.approx([each_s] * 20)
    assert warm_ups >= 20
    assert warm_ups * each_s <= 0.05


@pytest.mark.parametrize(
    ("each_s", "warm_ups", "blocks"), [(0.004, 10, 20), (0.03, 2, 16), (0.1, 1, 5), (0.3, 1, 3), (10.0, 1, 3)]
)
def test_slow_statements_do_not_run_needlessly(each_s: float, warm_ups: int, blocks: int) -> None:
    answer, warmed = measured(Scripted(lambda n: each_s), wanted())
    assert (answer["number"], warmed, len(answer["times_s"])) == (1, warm_ups, blocks)


def test_a_slow_first_execution_is_not_believed() -> None:
    """As of a function that compiles itself."""
    answer, _ = measured(Scripted(lambda n: 5.0 if n == 0 else 1e-5), wanted())
    assert answer["number"] == 200
    assert answer["times_s"] == pytest.approx([1e-5] * 20)


def test_but_a_slow_second_one_is_the_first_block() -> None:
    scripted = Scripted(lambda n: 0.2)
    measured(scripted, wanted(blocks=4))
    assert scripted.runs == [1] * 5


@pytest.mark.parametrize(("min_run_time_s", "blocks"), [(0.02, 20), (0.1, 50), (1.0, 500)])
def test_a_longer_run_has_more_blocks(min_run_time_s: float, blocks: int) -> None:
    answer, _ = measured(Scripted(lambda n: 1e-6), wanted(min_run_time_s))
    assert len(answer["times_s"]) == blocks


@pytest.mark.parametrize("each_s", [1e-6, 0.3])
def test_blocks_and_number_are_as_asked(each_s: float) -> None:
    answer, _ = measured(Scripted(lambda n: each_s), wanted(blocks=7), number=3)
    assert (answer["number"], len(answer["times_s"])) == (3, 7)


@given(
    st.integers(1, 400),
    st.one_of(st.none(), st.integers(1, 1000)),
    st.one_of(st.none(), st.integers(1, 50)),
    st.floats(1e-7, 1.0),
)
def test_no_more_executions_than_allowed(
    runs: int, number: int | None, blocks: int | None, each_s: float
) -> None:
    scripted = Scripted(lambda n: each_s)
    answer, _ = measured(scripted, wanted(blocks=blocks), number, runs)
    assert sum(scripted.runs) <= runs
    assert len(answer["times_s"]) >= 1
    if number is not None:
        assert answer["number"] <= number


def test_a_single_execution_is_a_block_without_warm_up() -> None:
    answer, warm_ups = measured(Scripted(lambda n: 0.5), wanted(), runs=1)
    assert (answer["number"], answer["times_s"], warm_ups) == (1, [0.5], 0)


@given(st.lists(st.floats(1e-6, 0.01), min_size=2, max_size=4), st.integers(0, 1000))
def test_arms_take_random_turns_and_share_a_number_at_about_one_speed(each_s: list[float], seed: int) -> None:
    log: list[object] = []
    cases = [Scripted(lambda n, s=s: s, log, str(place)) for place, s in enumerate(each_s)]
    answers = time_cases([each.timed() for each in cases], wanted(blocks=6, seed=seed), STILL)
    turns = log[-6 * len(cases) :]
    names = {each.name for each in cases}
    for start in range(0, len(turns), len(cases)):
        assert set(turns[start : start + len(cases)]) == names
    own = [max(1, round(0.002 / s)) for s in each_s]
    assert [answer["number"] for answer in answers] == [min(own) if n <= 4 * min(own) else n for n in own]
    again: list[object] = []
    same = [Scripted(lambda n, s=s: s, again, str(place)) for place, s in enumerate(each_s)]
    time_cases([each.timed() for each in same], wanted(blocks=6, seed=seed), STILL)
    assert again == log


def test_orders_differ_from_seed_to_seed() -> None:
    orders = set()
    for seed in range(8):
        log: list[object] = []
        cases = [Scripted(lambda n: 0.001, log, name) for name in "ab"]
        time_cases([each.timed() for each in cases], wanted(blocks=6, seed=seed), STILL)
        orders.add(tuple(log[-12:]))
    assert len(orders) > 1


def test_cpu_time_and_switches_are_of_the_blocks_alone() -> None:
    scripted = Scripted(lambda n: 0.001)
    meter = Meter(
        clock=lambda: scripted.now_s, cpu=lambda: scripted.now_s / 4, switches=lambda: sum(scripted.runs)
    )
    (answer,) = time_cases([scripted.timed()], wanted(), meter)
    assert answer["wall_s"] == pytest.approx(20 * 0.002)
    assert answer["cpu_s"] == pytest.approx(answer["wall_s"] / 4)
    assert answer["involuntary"] == 20 * answer["number"]
    assert math.isclose(sum(answer["times_s"]) * answer["number"], answer["wall_s"])


def test_a_number_that_is_requested_does_not_depend_on_how_many_warm_ups_there_were() -> None:
    numbers = set()
    for each_s in (1e-6, 1e-3, 0.03):
        case = Scripted(lambda n, s=each_s: s, [], "a").timed(number=100, runs=60)
        numbers.add(time_cases([case], wanted(), STILL)[0]["number"])
    assert numbers == {45}
