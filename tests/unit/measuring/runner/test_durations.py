"""Durations are wall times of what they name: of an order's processes, of a batch from start to end."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace

import pytest

from profkit.clock import ManualClock
from profkit.errors import WorkerDied
from profkit.measuring.orders import work_order
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Job
from profkit.measuring.runner import counting
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.outcomes import BatchResults
from profkit.measuring.runner.progress import ProgressLine
from profkit.measuring.runner.run import run_tasks
from profkit.model.measurement import InstructionCounts, MeasuredRun
from profkit.render.registry import MEASURED
from tests.support.example_measured_runs import TIMING as TIMES
from tests.support.example_measurements import COUNTS, both
from tests.unit.measuring.runner.test_run import ScriptedPool, times


def ledger_of(clock: ManualClock, *modes: str) -> tuple[BatchResults, list[MeasuredRun]]:
    runs: list[MeasuredRun] = []
    tasks = [Task(work_order(str(place), mode=mode)) for place, mode in enumerate(modes)]
    return BatchResults(tasks, "batch", 1, clock, lambda outcome: runs.append(outcome.run)), runs


def test_an_order_took_what_its_own_processes_took() -> None:
    clock = ManualClock()
    results, runs = ledger_of(clock, "timer+callgrind", "timer+callgrind", "timer+callgrind")
    start_ns = clock.unix_ns()
    for one in results.orders:
        with results.working_on([one]):
            clock.advance(2.0)
            results.counted(one, COUNTS)
    for one in results.orders:
        with results.working_on([one]):
            clock.advance(5.0)
            results.timed(one, TIMES)
    assert [run.info.duration_s for run in runs] == pytest.approx([7.0] * 3)
    assert [run.info.started_ns - start_ns for run in runs] == [0, 2_000_000_000, 4_000_000_000]
    assert runs[-1].info.last_ns - start_ns == 21_000_000_000


def test_orders_of_the_same_processes_took_as_long_as_these() -> None:
    clock = ManualClock()
    results, runs = ledger_of(clock, "timer", "timer")
    with results.working_on(results.orders):
        clock.advance(3.0)
        for one in results.orders:
            results.timed(one, TIMES)
    assert [run.info.duration_s for run in runs] == pytest.approx([3.0, 3.0])


def test_a_failure_took_its_time_too() -> None:
    clock = ManualClock()
    results, runs = ledger_of(clock, "timer+callgrind", "timer")
    first, second = results.orders
    with results.working_on([first]):
        clock.advance(1.5)
        raise WorkerDied("0", "exited")
    clock.advance(100)
    results.fail(second, WorkerDied("1", "was never started"))
    assert [run.info.duration_s for run in runs] == pytest.approx([1.5, 0.0])


def test_a_batch_took_from_its_first_start_to_its_last_end() -> None:
    first = both()
    second = replace(first.info, id="b" * 10, started_ns=first.info.started_ns + 10**9, duration_s=4.0)
    ended = replace(second, ended_ns=second.started_ns + 20 * 10**9)
    for info, took in ((second, "5.00 s"), (ended, "21.0 s")):
        text = MEASURED.text(
            [replace(first, info=replace(first.info, duration_s=4.0)), replace(first, info=info)]
        )
        assert f"took {took}" in text


class TimedPool(ScriptedPool):
    """Whose processes take time: counting a second, the first one of a zygote under Valgrind a minute."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(self.answer)
        self.clock = clock
        self.started: set[ZygoteKind] = set()

    def answer(self, kind: ZygoteKind, job: Job) -> Mapping[str, object] | BaseException:
        counting = job.message["mode"] == "callgrind"
        self.clock.advance(
            (1.0 if counting else 0.2) + (59.0 if kind not in self.started and counting else 0.0)
        )
        self.started.add(kind)
        return WorkerDied(job.label, "exited") if counting else times(kind, job)


def test_durations_of_a_batch_are_no_longer_than_the_batch() -> None:
    clock = ManualClock()
    context = BatchContext(TimedPool(clock), ProgressLine(None), clock=clock)  # type: ignore[arg-type]
    orders = [work_order(str(n), mode=mode) for n, mode in enumerate(["timer", "callgrind"] * 20)]
    start_s = clock.monotonic_s()
    outcomes = run_tasks([Task(order) for order in orders], context, lambda _: None)
    took_s = clock.monotonic_s() - start_s
    assert sum(outcome.run.info.duration_s for outcome in outcomes) == pytest.approx(took_s)


class Steps(ProgressLine):
    """Progress that is not shown; `seen` has the number done and the total at each step."""

    def __init__(self) -> None:
        super().__init__(None)
        self.total, self.seen = 0, list[tuple[int, int]]()

    def begin(self, total: int, kind: str = "", least_s: float = 0.0) -> None:
        self.total += total

    def done(self, label: str, kind: str = "") -> None:
        self.seen.append((len(self.seen) + 1, self.total))


@pytest.mark.parametrize("broken", ["callgrind", "timer", ""])
def test_steps_of_orders_that_failed_are_not_waited_for(broken: str) -> None:
    steps, timed = Steps(), 0

    def answer(kind: ZygoteKind, job: Job) -> Mapping[str, object] | BaseException:
        nonlocal timed
        timed += job.message["mode"] == "timer"
        fails = job.message["mode"] == broken and (broken == "callgrind" or timed == 7)
        return WorkerDied(job.label, "exited") if fails else times(kind, job)

    context = BatchContext(ScriptedPool(answer), steps, clock=ManualClock())  # type: ignore[arg-type]
    mode = "timer+callgrind" if broken == "callgrind" else "timer"
    run_tasks([Task(work_order(str(n), mode=mode)) for n in range(3)], context, lambda _: None)
    assert len(steps.seen) == steps.total == {"callgrind": 3, "timer": 26, "": 30}[broken]


def test_an_order_that_several_processes_count_is_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, stripped = Steps(), itertools.count(1000.0, 10.0)

    def count_once(*_: object) -> InstructionCounts:
        return replace(COUNTS, stripped=next(stripped))

    monkeypatch.setattr(counting, "_count_once", count_once)
    context = BatchContext(ScriptedPool(times), steps, clock=ManualClock())  # type: ignore[arg-type]
    run_tasks([Task(work_order(str(n), mode="callgrind")) for n in range(3)], context, lambda _: None)
    assert next(stripped) == 1000.0 + 10.0 * 3 * 4
    assert steps.seen == [(1, 3), (2, 3), (3, 3)]
