"""Orders that are measured to be compared are counted with equal numbers of executions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.errors import WorkerDied
from profkit.measuring.orders import work_order
from profkit.measuring.runner import run as runner
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.outcomes import Outcome
from profkit.model.measurement import InstructionCounts, Manner
from tests.unit.made_measured import COUNTS
from tests.unit.test_measuring_run import run

NUMBERS = {"short": 10, "other": 10, "long": 2}


class Counter:
    """Counts as a worker chooses: short statements often, unless the order gives a number."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int | None]] = []
        self.dies = False

    def count(self, task: Task, *_: object) -> InstructionCounts:
        order = task.order
        self.asked.append((order.label, order.number))
        if self.dies and order.number is not None:
            raise WorkerDied(order.label, "exited")
        return replace(COUNTS, number=order.number or NUMBERS[order.label])


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Counter:
    made = Counter()
    monkeypatch.setattr(runner, "count", made.count)
    return made


def counted(manner: Manner, *labels: str) -> tuple[Outcome, ...]:
    orders = [work_order("1", label=label, mode="callgrind") for label in labels]
    return run(orders, manner=manner)[0]


def numbers(outcomes: tuple[Outcome, ...]) -> list[int | None]:
    found = [outcome.run.measurement for outcome in outcomes]
    return [one.instructions.number if one and one.instructions else None for one in found]


@pytest.mark.parametrize("manner", [Manner.INTERLEAVED, Manner.IN_TURNS])
def test_the_smaller_number_holds_for_all(counter: Counter, manner: Manner) -> None:
    assert numbers(counted(manner, "short", "long", "other")) == [2, 2, 2]
    assert counter.asked == [("short", None), ("long", None), ("other", None), ("short", 2), ("other", 2)]


@pytest.mark.parametrize("manner", list(Manner))
def test_equal_numbers_are_left_alone(counter: Counter, manner: Manner) -> None:
    assert numbers(counted(manner, "short", "other")) == [10, 10]
    assert len(counter.asked) == 2


def test_orders_that_are_not_to_be_compared_have_numbers_of_their_own(counter: Counter) -> None:
    assert numbers(counted(Manner.APART, "short", "long")) == [10, 2]


def test_a_failure_is_that_of_its_order(counter: Counter) -> None:
    counter.dies = True
    short, long = counted(Manner.IN_TURNS, "short", "long")
    assert isinstance(short.error, WorkerDied)
    assert numbers((long,)) == [2]
