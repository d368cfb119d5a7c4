"""What the runner asks of a pool, in which order, and what it makes of the answers: a scripted pool."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.errors import CompileFailed, WorkerDied, WorkerFailed, WorkerTimeout
from profkit.measuring.orders import work_order
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.pool.jobs import Job, Reply, ZygoteFacts
from profkit.measuring.runner.context import BatchContext
from profkit.measuring.runner.jobs import Task, counting_job, processes_of
from profkit.measuring.runner.outcomes import Outcome, duplicates
from profkit.measuring.runner.progress import ProgressLine
from profkit.measuring.runner.run import run_tasks
from profkit.measuring.worker.protocol import SHARED
from profkit.model.measurement import Design, MeasuredRun, Timing, Tool
from profkit.model.workorder import WorkOrder

Script = Callable[[ZygoteKind, Job], Mapping[str, object] | BaseException]


class ScriptedPool:
    """Answers at once, by a script, and remembers what it was asked."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.asked: list[tuple[ZygoteKind, Job]] = []
        self.warmed: list[ZygoteKind] = []
        self.retired: list[ZygoteKind] = []
        self.dropped: list[Future[Reply]] = []

    def warm(self, kinds: Iterable[ZygoteKind]) -> None:
        self.warmed += kinds

    def retire(self, kinds: Iterable[ZygoteKind]) -> None:
        self.retired += kinds

    def drop(self, future: Future[Reply]) -> None:
        self.dropped.append(future)

    def zygotes(self) -> tuple[()]:
        return ()

    def submit(self, kind: ZygoteKind, job: Job) -> Future[Reply]:
        self.asked.append((kind, job))
        answer, future = self._script(kind, job), Future[Reply]()
        if isinstance(answer, BaseException):
            future.set_exception(answer)
        else:
            future.set_result(Reply(answer, "", ZygoteFacts(len({k for k, _ in self.asked}), "3.11", ())))
        return future


TIMED = {
    "number": 7,
    "times_s": [0.001, 0.002],
    "cpu_s": 0.003,
    "wall_s": 0.003,
    "involuntary": 0,
    "loop_s": 0.0,
    "loop_spread_s": 0.0,
    "fresh": SHARED,
}


def times(_kind: ZygoteKind, job: Job) -> Mapping[str, object]:
    if job.message["mode"] == "canary":
        return {"ok": True, "versions": {}}
    cases = job.message["cases"]
    return {"ok": True, "cases": [TIMED for _ in cases]}


def run(
    orders: Sequence[WorkOrder | Task],
    script: Script = times,
    design: Design = Design.SEPARATE,
    pool: ScriptedPool | None = None,
) -> tuple[tuple[Outcome, ...], ScriptedPool]:
    pool = pool or ScriptedPool(script)
    context = BatchContext(pool, ProgressLine(None), clock=ManualClock(), design=design)  # type: ignore[arg-type]
    tasks = [order if isinstance(order, Task) else Task(order) for order in orders]
    return run_tasks(tasks, context, lambda _: None), pool


def modes(pool: ScriptedPool) -> list[object]:
    return [job.message["mode"] for _, job in pool.asked]


def jobs(pool: ScriptedPool) -> list[Job]:
    """Return the jobs that timed."""
    return [job for _, job in pool.asked if job.message["mode"] == "timer"]


def timing_in(run: MeasuredRun) -> Timing:
    assert run.measurement is not None
    assert run.measurement.timing is not None
    return run.measurement.timing


def test_a_serious_order_has_ten_processes_in_five_fresh_zygotes_that_were_tried_before() -> None:
    (outcome,), pool = run([work_order("1")])
    assert modes(pool) == ["canary"] * 5 + ["timer"] * 10
    assert len({kind.draw for kind, _ in pool.asked}) == 5
    assert len(pool.retired) == 5
    assert outcome.run.info.min_s == 0.001


def test_all_processes_have_the_number_that_the_first_one_chose() -> None:
    _, pool = run([work_order("1")])
    assert [job.message["number"] for job in jobs(pool)] == [[None], *[[7]] * 9]
    _, pool = run([work_order("1", number=3, quick=True)], times)
    assert pool.asked[-1][1].message["number"] == [7]


def test_a_quick_order_has_one_zygote_that_stays() -> None:
    _, pool = run([work_order("1", quick=True)])
    assert modes(pool) == ["canary", "timer", "timer", "timer"]
    assert {kind.draw for kind, _ in pool.asked} == {""}
    assert pool.retired == []


def test_orders_of_one_kind_share_their_fresh_zygotes() -> None:
    _, pool = run([work_order("1"), work_order("2"), work_order("3", num_threads=2)])
    assert modes(pool).count("canary") == 10
    assert len(pool.retired) == 10


def test_only_time_outs_are_tried_again() -> None:
    late = WorkerTimeout("1", 1.0, 1, "printed")
    (outcome,), pool = run([work_order("1", retries=2)], lambda _kind, _job: late)
    assert len(pool.asked) == 3
    assert isinstance(outcome.error, WorkerTimeout)
    assert (outcome.error.tries, outcome.error.output) == (3, "printed")
    for error in (WorkerDied("1", "exited"), WorkerFailed("1", "trace")):
        (outcome,), pool = run([work_order("1", retries=2)], lambda _kind, _job, error=error: error)
        assert len(pool.asked) == 1
        assert outcome.error is error


def test_a_failed_order_leaves_the_others_alone() -> None:
    def script(kind: ZygoteKind, job: Job) -> Mapping[str, object] | BaseException:
        return WorkerFailed(job.label, "x") if job.label == "2" else times(kind, job)

    outcomes, _ = run([work_order("1"), work_order("2"), work_order("3")], script)
    assert [outcome.error is None for outcome in outcomes] == [True, False, True]
    assert [outcome.run.info.label for outcome in outcomes] == ["1", "2", "3"]
    assert len({outcome.run.info.batch for outcome in outcomes}) == 1


def test_what_is_known_to_be_broken_is_not_tried() -> None:
    error = CompileFailed("1", "error")
    outcomes, pool = run([Task(work_order("1"), error=error), Task(work_order("2", quick=True))])
    assert outcomes[0].error is error
    assert {job.label for _, job in pool.asked} == {"2"}


def test_an_interrupt_ends_the_job_and_the_zygotes_and_is_passed_on() -> None:
    finished: list[str] = []

    def script(kind: ZygoteKind, job: Job) -> Mapping[str, object] | BaseException:
        return (
            KeyboardInterrupt() if job.label == "2" and job.message["mode"] == "timer" else times(kind, job)
        )

    pool = ScriptedPool(script)
    tasks = [Task(work_order(name)) for name in ("1", "2", "3")]
    with pytest.raises(KeyboardInterrupt):
        run_tasks(
            tasks,
            BatchContext(pool, ProgressLine(None)),
            lambda outcome: finished.append(outcome.run.info.label),
        )  # type: ignore[arg-type]
    assert finished == ["1"]
    assert len(pool.dropped) == 1
    assert len(pool.retired) == 5


def test_interleaved_orders_of_one_environment_are_arms_of_the_same_jobs() -> None:
    orders = [work_order("1"), work_order("2"), work_order("3", num_threads=2)]
    outcomes, pool = run(orders, design=Design.INTERLEAVED)
    assert [len(job.message["cases"]) for job in jobs(pool)] == [2] * 10 + [1] * 10
    assert [outcome.run.info.label for outcome in outcomes] == ["1", "2", "3"]
    assert len({job.message["seed"] for job in jobs(pool)}) > 10


def test_orders_that_want_other_processes_are_not_arms_of_the_same_jobs() -> None:
    orders = [work_order("1"), work_order("2", env={"A": "1"}), work_order("3", runs=500), work_order("4")]
    _, pool = run(orders, design=Design.INTERLEAVED)
    assert [len(job.message["cases"]) for job in jobs(pool)] == [2] * 10 + [1] * 20
    assert [job.message["env"].get("A") for job in jobs(pool)] == [None] * 10 + ["1"] * 10 + [None] * 10
    assert modes(pool).count("canary") == 5, "they share their zygotes all the same"


def test_counting_goes_before_timing_and_failing_there_ends_an_order() -> None:
    died = WorkerDied("1", "exited")
    order = work_order("1", mode="timer+callgrind", quick=True)
    (outcome, _), pool = run(
        [order, work_order("2")], lambda k, j: died if k.tool is Tool.VALGRIND else times(k, j)
    )
    assert outcome.error is died
    assert modes(pool)[0] == "callgrind"
    assert next(kind.tool for kind in pool.warmed) is Tool.VALGRIND
    assert "1" not in {job.label for job in jobs(pool)}


@pytest.mark.parametrize(("runs", "processes"), [(None, 10), (1, 1), (7, 7), (100, 10)])
def test_a_limit_of_executions_limits_processes(runs: int | None, processes: int) -> None:
    assert processes_of(work_order("1", runs=runs)) == processes


def test_duplicates_are_reported_by_everything_that_distinguishes_orders() -> None:
    same = Task(work_order("1"))
    others = [Task(replace(same.order, num_threads=2)), Task(replace(same.order, labels=(("a", "b"),)))]
    assert duplicates([same, *others]) == ()
    assert duplicates([same, *others, same]) == ("1",)


def test_a_job_of_callgrind_says_what_the_order_asks_for() -> None:
    order = work_order("f();", language="c++", mode="callgrind", number=5, repeats=4, runs=60)
    message = counting_job(Task(order, library=Path("/x.so")), SHARED).message
    assert (message["number"], message["repeats"], message["runs"]) == ([5], 4, 60)
    assert message["cases"][0]["library"] == "/x.so"
    assert message["cases"][0]["language"] == "c++"


def test_what_shares_a_process_is_blamed_together() -> None:
    def label_of_last(*labels: str) -> str:
        orders = [work_order("pass", label=label, quick=True) for label in labels]
        return run(orders, design=Design.INTERLEAVED)[1].asked[-1][1].label

    assert label_of_last("a") == "a"
    assert label_of_last("a", "b") == "a or b"
    assert label_of_last("a", "b", "c") == "a or one of 2 interleaved with it"


@pytest.mark.parametrize("design", list(Design))
def test_random_numbers_of_the_program_stay_the_same(design: Design) -> None:
    before = random.getstate()
    run([work_order("1"), work_order("2")], design=design)
    assert random.getstate() == before
