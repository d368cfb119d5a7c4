"""Durations are wall times of what they name: of an order's processes, of a batch from start to end."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.clock import ManualClock
from profkit.errors import WorkerDied
from profkit.measuring.orders import work_order
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Job
from profkit.measuring.runner import counting
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.outcomes import BatchResults
from profkit.measuring.runner.progress import COUNTING, TIMING, Pace, ProgressLine, Silent
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
    for place in range(3):
        with results.working_on([place]):
            clock.advance(2.0)
            results.counted(place, COUNTS)
    for place in range(3):
        with results.working_on([place]):
            clock.advance(5.0)
            results.timed(place, TIMES)
    assert [run.info.duration_s for run in runs] == pytest.approx([7.0] * 3)
    assert [run.info.started_ns - start_ns for run in runs] == [0, 2_000_000_000, 4_000_000_000]
    assert runs[-1].info.last_ns - start_ns == 21_000_000_000


def test_orders_of_the_same_processes_took_as_long_as_these() -> None:
    clock = ManualClock()
    results, runs = ledger_of(clock, "timer", "timer")
    with results.working_on([0, 1]):
        clock.advance(3.0)
        results.timed(0, TIMES)
        results.timed(1, TIMES)
    assert [run.info.duration_s for run in runs] == pytest.approx([3.0, 3.0])


def test_a_failure_took_its_time_too() -> None:
    clock = ManualClock()
    results, runs = ledger_of(clock, "timer+callgrind", "timer")
    with results.working_on([0]):
        clock.advance(1.5)
        raise WorkerDied("0", "exited")
    clock.advance(100)
    results.fail(1, WorkerDied("1", "was never started"))
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
    context = BatchContext(TimedPool(clock), Silent(), clock=clock)  # type: ignore[arg-type]
    orders = [work_order(str(n), mode=mode) for n, mode in enumerate(["timer", "callgrind"] * 20)]
    start_s = clock.monotonic_s()
    outcomes = run_tasks([Task(order) for order in orders], context, lambda _: None)
    took_s = clock.monotonic_s() - start_s
    assert sum(outcome.run.info.duration_s for outcome in outcomes) == pytest.approx(took_s)


@pytest.mark.parametrize("broken", ["callgrind", "timer", ""])
def test_steps_of_orders_that_failed_are_not_waited_for(broken: str) -> None:
    clock, pace, timed = ManualClock(), Pace(), 0

    class Steps(Silent):
        def begin(self, total: int, kind: str = "", least_s: float = 0.0) -> None:
            pace.add(total, kind, least_s)

        def done(self, label: str, kind: str = "") -> None:
            pace.step(kind, clock.monotonic_s())

    def answer(kind: ZygoteKind, job: Job) -> Mapping[str, object] | BaseException:
        nonlocal timed
        timed += job.message["mode"] == "timer"
        fails = job.message["mode"] == broken and (broken == "callgrind" or timed == 7)
        return WorkerDied(job.label, "exited") if fails else times(kind, job)

    context = BatchContext(ScriptedPool(answer), Steps(), clock=clock)  # type: ignore[arg-type]
    mode = "timer+callgrind" if broken == "callgrind" else "timer"
    run_tasks([Task(work_order(str(n), mode=mode)) for n in range(3)], context, lambda _: None)
    assert pace.done == pace.total == {"callgrind": 3, "timer": 26, "": 30}[broken]


def test_an_order_that_several_processes_count_is_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    pace, shown, stripped = Pace(), list[tuple[int, int]](), itertools.count(1000.0, 10.0)

    class Steps(Silent):
        def begin(self, total: int, kind: str = "", least_s: float = 0.0) -> None:
            pace.add(total, kind, least_s)

        def done(self, label: str, kind: str = "") -> None:
            pace.step(kind, 0.0)
            shown.append((pace.done, pace.total))

    def count_once(*_: object) -> InstructionCounts:
        return replace(COUNTS, stripped=next(stripped))

    monkeypatch.setattr(counting, "_count_once", count_once)
    context = BatchContext(ScriptedPool(times), Steps(), clock=ManualClock())  # type: ignore[arg-type]
    run_tasks([Task(work_order(str(n), mode="callgrind")) for n in range(3)], context, lambda _: None)
    assert next(stripped) == 1000.0 + 10.0 * 3 * 4
    assert shown == [(1, 3), (2, 3), (3, 3)]


ETA = re.compile(r"ETA (≥ )?([\d.]+) (ms|s|min|h)")
SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def etas(stream: io.StringIO) -> list[tuple[float, bool] | None]:
    found = [ETA.search(line) for line in stream.getvalue().splitlines()]
    return [(float(eta[2]) * SECONDS[eta[3]], bool(eta[1])) if eta else None for eta in found]


def test_the_first_step_of_many_says_nothing_of_the_others() -> None:
    """A zygote under Valgrind starts within 13 s, and then counts an order each half second."""
    clock, stream = ManualClock(), io.StringIO()
    line = ProgressLine(stream, clock)
    line.begin(112, COUNTING)
    line.begin(1120, TIMING)
    shown: list[tuple[float, float, bool]] = []
    whole_s = 13 + 0.5 * 111 + 2 + 0.9 * 1119
    for kind, steps, first_s, each_s in ((COUNTING, 112, 13.0, 0.5), (TIMING, 1120, 2.0, 0.9)):
        for step in range(steps):
            clock.advance(each_s if step else first_s)
            line.done("order", kind)
            if (found := etas(stream)[-1]) is not None:
                shown.append((found[0], whole_s - clock.monotonic_s(), found[1]))
    assert len(shown) > 100
    # Lines are written each five seconds.
    assert all(eta_s <= left_s + 6 for eta_s, left_s, at_least in shown if at_least)
    assert all(
        eta_s == pytest.approx(left_s, rel=0.05, abs=6) for eta_s, left_s, at_least in shown if not at_least
    )


@given(st.integers(2, 50), st.integers(2, 50), st.floats(0.01, 10), st.floats(0.01, 10), st.floats(0, 1000))
def test_steady_steps_are_foreseen_exactly(
    counted: int, timed: int, count_s: float, time_s: float, start_s: float
) -> None:
    pace, now_s = Pace(), 0.0
    pace.add(counted, COUNTING)
    pace.add(timed, TIMING)
    left_s = (counted - 1) * count_s + timed * time_s + count_s
    for kind, steps, each_s in ((COUNTING, counted, count_s), (TIMING, timed, time_s)):
        for step in range(steps):
            now_s += each_s + (start_s if step == 0 else 0.0)
            left_s -= each_s
            pace.step(kind, now_s)
            left = pace.left(now_s)
            if left is not None and left.at_least:
                assert left.seconds <= left_s + 1e-6
            elif left is not None:
                assert left.seconds == pytest.approx(left_s, abs=1e-6)
    assert pace.left(now_s) is None
    assert pace.done == pace.total == counted + timed


def test_nothing_is_said_before_there_is_a_basis() -> None:
    pace = Pace()
    pace.add(1000, TIMING)
    for step in range(1, 21):
        pace.step(TIMING, float(step))
        assert (pace.left(float(step)) is None) == (step < 20)
    left = pace.left(20.0)
    assert left is not None
    assert (left.seconds, left.at_least) == (980.0, False)
    assert pace.left(20.5).seconds == 979.5  # type: ignore[union-attr]
    assert pace.left(500.0).seconds == 979.0  # type: ignore[union-attr]


def test_what_is_not_known_yet_takes_its_least_time() -> None:
    pace = Pace()
    pace.add(4, COUNTING)
    pace.add(10, TIMING, 20.0)
    pace.add(-5, TIMING)
    for step in range(1, 4):
        pace.step(COUNTING, float(step))
    left = pace.left(3.0)
    assert left is not None
    assert (left.seconds, left.at_least) == (1.0 + 5 * 2.0, True)
