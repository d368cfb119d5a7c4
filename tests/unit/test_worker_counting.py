from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.worker.counting import Share, number_for, share_of, warm

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

    def warmed(self, share: Share) -> tuple[int, float]:
        return warm(self, share, lambda: self.now_s)


@pytest.mark.parametrize(
    ("times_s", "number", "runs"),
    [
        ([1e-5], 10, [1, 1, 1, 7, 40]),
        ([0.7e-3], 5, [1, 1, 1, 7, 45]),
        ([2e-3], 2, [1, 1, 1, 7, 48]),
        ([1e-2], 2, [1, 1, 1, 7, 48]),
        ([1.1e-2], 2, [1, 1, 1, 7]),
        ([7e-2], 2, [1, 1, 1, 7]),
        ([8e-2], 2, [1, 1, 1]),
        ([2.0], 2, [1, 1]),
        ([6.0], 2, [1]),
        ([0.5, 0.02, 0.01, 1e-5], 10, [1, 1, 1, 7, 40]),
    ],
)
def test_slow_statements_warm_up_less(times_s: list[float], number: int, runs: list[int]) -> None:
    scripted = Scripted(times_s.copy())
    assert scripted.warmed(share_of(None, 2, 20, None)) == (number, pytest.approx(times_s[-1]))
    assert scripted.runs == runs


@pytest.mark.parametrize(("asked", "warmed"), [(10, 50), (2, 58), (20, 40), (57, 10)])
def test_repeats_begin_at_the_same_execution_whatever_their_number(asked: int, warmed: int) -> None:
    scripted = Scripted([1e-6])
    number, _ = scripted.warmed(share_of(asked, 2, 20, None))
    assert number == asked
    assert sum(scripted.runs) == warmed


@given(numbers, numbers, st.floats(1e-7, 1.0))
def test_a_warm_up_keeps_to_its_limit(asked: int, limit: int, each_s: float) -> None:
    share = share_of(asked, 2, 20, limit)
    scripted = Scripted([each_s])
    number, _ = scripted.warmed(share)
    assert sum(scripted.runs) + share.repeats * number <= limit


def test_no_warm_up_is_none() -> None:
    scripted = Scripted([1.0])
    assert scripted.warmed(share_of(None, 2, 20, 1)) == (1, 0.0)
    assert scripted.runs == []


@given(st.one_of(st.none(), numbers), numbers, st.integers(0, 50), numbers)
def test_a_limit_holds_and_is_used(asked: int | None, repeats: int, most: int, limit: int) -> None:
    share = share_of(asked, repeats, most, limit)
    assert share.number is not None
    assert share.number >= 1
    assert share.repeats * share.number + share.warm <= limit
    assert share.repeats == min(repeats, limit)
    assert not share.rehearsed


@given(st.floats(0, 10))
def test_chosen_numbers_are_few(execution_s: float) -> None:
    assert number_for(execution_s) in (10, 5, 2)
    assert number_for(execution_s * 2) <= number_for(execution_s)
