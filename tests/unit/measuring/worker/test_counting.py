from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.worker.counting import Execution, Repetitions, repetitions_of, warm

numbers = st.integers(1, 200)


@dataclass
class Scripted:
    """A statement whose first executions take scripted numbers of instructions."""

    instructions: list[int]
    seconds: list[float] = field(default_factory=lambda: [0.0])
    sleeps: int = 1
    runs: list[int] = field(default_factory=list)
    """Executions of each step; 1 is one that was counted."""

    def run(self, number: int, probe: Callable[[], object]) -> tuple[object, object]:
        self.runs.append(number)
        return probe(), probe()

    def do(self, task: Callable[[], object]) -> object:
        return task()

    def counted(self) -> Execution:
        self.runs.append(1)
        each = (
            script.pop(0) if len(script) > 1 else script[0] for script in (self.instructions, self.seconds)
        )
        return Execution(*each, self.sleeps)

    def warmed(self, share: Repetitions) -> tuple[int, bool]:
        return warm(self, share, self.counted)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("instructions", "number", "runs"),
    [
        ([500], 10, [1, 1, 1, 47]),
        ([2_500_000], 10, [1, 1, 1, 47]),
        ([2_500_001], 2, [1, 1, 1]),
        ([25_000_000], 2, [1, 1, 1]),
        ([25_000_001], 2, [1, 1]),
        ([250_000_001], 2, [1]),
        ([200_000_000, 500], 10, [1, 1, 1, 47]),
    ],
)
def test_long_statements_warm_up_less(instructions: list[int], number: int, runs: list[int]) -> None:
    scripted = Scripted(instructions.copy())
    assert scripted.warmed(repetitions_of(None, 2, 20, None)) == (number, number == 10)
    assert scripted.runs == runs


@given(st.integers(1, 2_000_000), st.lists(st.floats(0, 100), min_size=3, max_size=3))
def test_no_time_that_the_load_explains_changes_what_is_done(each: int, seconds: list[float]) -> None:
    """A thread that others keep from its core does not sleep."""
    quiet, loaded = Scripted([each]), Scripted([each], seconds, sleeps=0)
    share = repetitions_of(None, 2, 20, None)
    assert quiet.warmed(share) == loaded.warmed(share)
    assert quiet.runs == loaded.runs


@pytest.mark.parametrize(
    ("seconds", "number", "runs"),
    [
        ([1.0], 2, [1, 1, 1]),
        ([6.0], 2, [1]),
        ([1.0, 0.001], 10, [1, 1, 1, 47]),  # the first one is translated
        ([0.001, 0.2, 0.001], 10, [1, 1, 1, 47]),  # another program had the core
    ],
)
def test_a_statement_that_waits_is_executed_seldom(
    seconds: list[float], number: int, runs: list[int]
) -> None:
    scripted = Scripted([2000], seconds)
    assert scripted.warmed(repetitions_of(None, 2, 20, None))[0] == number
    assert scripted.runs == runs


@pytest.mark.parametrize(("asked", "warmed"), [(10, 50), (2, 58), (20, 40), (57, 10)])
def test_repeats_begin_at_the_same_execution_whatever_their_number(asked: int, warmed: int) -> None:
    scripted = Scripted([500])
    number, _ = scripted.warmed(repetitions_of(asked, 2, 20, None))
    assert number == asked
    assert sum(scripted.runs) == warmed


@given(numbers, numbers, st.integers(1, 10**9))
def test_a_warm_up_keeps_to_its_limit(asked: int, limit: int, each: int) -> None:
    share = repetitions_of(asked, 2, 20, limit)
    scripted = Scripted([each])
    number, _ = scripted.warmed(share)
    assert sum(scripted.runs) + share.repeats * number <= limit


def test_no_warm_up_is_none() -> None:
    scripted = Scripted([500])
    assert scripted.warmed(repetitions_of(None, 2, 20, 1)) == (1, False)
    assert scripted.runs == []


@given(st.one_of(st.none(), numbers), numbers, st.integers(0, 50), numbers)
def test_a_limit_holds_and_is_used(asked: int | None, repeats: int, most: int, limit: int) -> None:
    share = repetitions_of(asked, repeats, most, limit)
    assert share.number is not None
    assert share.number >= 1
    assert share.repeats * share.number + share.warm <= limit
    assert share.repeats == min(repeats, limit)
    assert not share.rehearsed
