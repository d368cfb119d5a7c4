from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.worker.counting import number_for, share_of, warm

numbers = st.integers(1, 200)


@dataclass
class Scripted:
    """A statement whose first executions take scripted times."""

    times_s: list[float]
    runs: list[int] = field(default_factory=list)
    now_s: float = 0.0

    def run(self, number: int, probe: Callable[[], float]) -> tuple[float, float]:
        before = probe()
        for _ in range(number):
            self.now_s += self.times_s.pop(0) if len(self.times_s) > 1 else self.times_s[0]
        self.runs.append(number)
        return before, probe()

    def do(self, task: Callable[[], float]) -> float:
        return task()

    def warmed(self, most: int = 20) -> float:
        return warm(self, most, lambda: self.now_s)


@pytest.mark.parametrize(
    ("times_s", "runs"),
    [
        ([1e-5], [1, 1, 1, 17]),
        ([1.9e-3], [1, 1, 1, 17]),
        ([4e-3], [1, 1, 1, 5]),
        ([2e-2], [1, 1, 1]),
        ([0.3], [1]),
        ([3e-2, 1e-5], [1, 1, 1, 17]),
    ],
)
def test_slow_statements_warm_up_less(times_s: list[float], runs: list[int]) -> None:
    scripted = Scripted(times_s.copy())
    assert scripted.warmed() == pytest.approx(times_s[-1])
    assert scripted.runs == runs


@given(numbers, st.floats(1e-7, 1.0))
def test_a_warm_up_keeps_to_its_limit(most: int, each_s: float) -> None:
    scripted = Scripted([each_s])
    scripted.warmed(most)
    assert 1 <= sum(scripted.runs) <= most


def test_no_warm_up_is_none() -> None:
    scripted = Scripted([1.0])
    assert scripted.warmed(0) == 0.0
    assert scripted.runs == []


@given(st.one_of(st.none(), numbers), numbers, st.integers(0, 50), numbers)
def test_a_limit_holds_and_is_used(asked: int | None, repeats: int, most: int, limit: int) -> None:
    share = share_of(asked, repeats, most, limit)
    assert share.number is not None
    assert share.repeats >= 1
    assert share.number >= 1
    assert share.repeats * share.number + share.warm <= limit
    assert share.repeats == min(repeats, limit)


def test_without_a_limit_everything_is_as_asked() -> None:
    assert share_of(None, 2, 20, None).number is None
    share = share_of(7, 3, 20, None)
    assert (share.repeats, share.number, share.warm) == (3, 7, 20)


@given(st.floats(0, 10))
def test_numbers_lie_between_2_and_100(execution_s: float) -> None:
    assert 2 <= number_for(execution_s) <= 100
    assert number_for(execution_s * 2) <= number_for(execution_s)
