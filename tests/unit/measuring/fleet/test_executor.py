"""Orders on an executor's workers: groups, machines, lost workers, other versions, interrupts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from profkit.errors import InvalidOption, UsageError
from profkit.measuring.errors import WorkersDiffer
from profkit.measuring.fleet.executor import measure_on
from profkit.measuring.fleet.job import Reply, Request
from profkit.measuring.orders import work_order
from profkit.measuring.runner.jobs import Task
from profkit.model.measurement import Design, MeasuredRun
from profkit.store.measured import SCHEMA
from profkit.store.records import document_bytes
from tests.support.example_measured_runs import measured_run

Answer = Reply | Exception


def labels(request: Request) -> list[str]:
    return [cast("dict[str, str]", one["order"])["label"] for one in request["orders"]]


def replied(request: Request, machine: str = "a") -> Reply:
    """The reply of a machine that has measured what was asked for."""
    about: Reply = {"host": f"host-{machine}", "machine": machine, "differing": []}
    runs = [document_bytes(SCHEMA, measured_run(label)) for label in labels(request)]
    return {**about, "runs": runs} if runs else about


@dataclass
class Answering(Executor):
    """Executor of one worker, which answers at once; `answer` gets requests with orders."""

    answer: Callable[[Request], Answer] = replied
    probe: Callable[[Request], Answer] = replied
    jobs: list[Request] = field(default_factory=list)
    futures: list[Future[Any]] = field(default_factory=list)
    _max_workers: int = 1

    def submit(self, _function: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        (request,) = args
        future: Future[Any] = Future()
        self.futures.append(future)
        if request["orders"]:
            self.jobs.append(request)
        answer = (self.answer if request["orders"] else self.probe)(request)
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future


def measured(executor: Executor, *names: str, **options: Any) -> tuple[MeasuredRun, ...]:
    tasks = [
        Task(work_order("pass", label=name, labels={"number": str(number)}))
        for number, name in enumerate(names)
    ]
    return measure_on(executor, tasks, **options)


def test_runs_come_in_the_sequence_of_their_orders_and_share_a_batch() -> None:
    kept: list[MeasuredRun] = []
    runs = measured(Answering(), "x", "y", "x", "z", keep=kept.append)
    assert [run.info.label for run in runs] == ["x", "y", "x", "z"]
    assert len({run.info.batch for run in runs}) == 1
    assert sorted(run.info.label for run in kept) == ["x", "x", "y", "z"]


def test_orders_of_one_label_are_in_one_job() -> None:
    executor = Answering()
    measured(executor, "x", "y", "x", "z", "x")
    assert [labels(job) for job in executor.jobs] == [["x", "x", "x", "y"], ["z"]]
    assert [job["wait"] for job in executor.jobs] == [False, False]


def test_an_interleaved_batch_is_one_job() -> None:
    executor = Answering()
    (first, *_) = measured(executor, "x", "y", "z", design=Design.INTERLEAVED)
    assert [labels(job) for job in executor.jobs] == [["x", "y", "z"]]
    assert first.info.design is Design.INTERLEAVED


def test_jobs_become_smaller_towards_the_end() -> None:
    executor = Answering()
    measured(executor, *map(str, range(20)))
    assert [len(job["orders"]) for job in executor.jobs] == [10, 5, 3, 1, 1]


class Machines(ThreadPoolExecutor):
    """Executor of so many workers on two machines; two jobs must be at work at the same time."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.lock, self.both = threading.Lock(), threading.Barrier(2, timeout=60)
        self.probes, self.at_once, self.most = 0, 0, 0

    def submit(self, _function: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        return super().submit(self.answer, *args)

    def answer(self, request: Request) -> Reply:
        with self.lock:
            if not request["orders"]:
                self.probes += 1
                return replied(request, "ab"[self.probes % 2])
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        self.both.wait()
        with self.lock:
            self.at_once -= 1
        return replied(request)


def test_as_many_jobs_at_once_as_there_are_machines_however_many_workers() -> None:
    with Machines(workers=6) as executor:
        runs = measured(executor, *"abcd")
    assert (len(runs), executor.probes, executor.most) == (4, 6, 2)


def test_a_busy_machine_is_tried_again_and_at_last_waited_for() -> None:
    def answer(request: Request) -> Reply:
        return replied(request) if request["wait"] else {"host": "h", "machine": "a", "differing": []}

    executor = Answering(answer)
    (run,) = measured(executor, "x")
    assert run.info.label == "x"
    assert [job["wait"] for job in executor.jobs] == [False, False, False, True]
    assert len({job["key"] for job in executor.jobs}) == 4


@pytest.mark.parametrize("loss", [BrokenExecutor("gone"), CancelledError(), RuntimeError("KilledWorker")])
def test_orders_of_a_lost_worker_are_submitted_again(loss: Exception) -> None:
    losses = [loss]
    executor = Answering(lambda request: losses.pop() if losses else replied(request))
    runs = measured(executor, "x", "y")
    assert [run.info.error for run in runs] == [None, None]
    assert [labels(job) for job in executor.jobs] == [["x"], ["x"], ["y"]]


def test_orders_that_are_lost_twice_have_one_error_that_names_them_and_the_others_go_on() -> None:
    executor = Answering(
        lambda request: BrokenExecutor("worker gone") if "x" in labels(request) else replied(request)
    )
    runs = measured(executor, "w", "x", "x", "y")
    assert [labels(job) for job in executor.jobs] == [["w", "x", "x"], ["w"], ["x", "x"], ["y"]]
    errors = {run.info.error for run in runs if run.info.label == "x"}
    assert errors == {
        "the executor lost the workers that measured 'x', twice (BrokenExecutor: worker gone); see the log "
        "of its workers, or measure these orders on this machine to find out whether one of them ends its "
        "worker"
    }
    assert {run.info.error for run in runs if run.info.label != "x"} == {None}
    assert len({run.info.batch for run in runs}) == 1


def test_an_executor_that_takes_no_more_jobs_is_lost() -> None:
    with ThreadPoolExecutor(1) as executor:
        pass
    (run,) = measured(executor, "x")
    assert run.info.error is not None
    assert "cannot schedule new futures after shutdown" in run.info.error


class Client:
    """Dask's client after it has given up its scheduler: its futures stay as they are."""

    status = "closed"

    def nthreads(self) -> dict[str, int]:
        return {"tcp://worker": 1}


class Abandoned(Executor):
    _client = Client()

    def submit(self, _function: Callable[..., Any], /, *_: Any, **__: Any) -> Future[Any]:
        return Future()


def test_futures_of_a_client_without_a_scheduler_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profkit.measuring.fleet.executor._CHECK_S", 0.01)
    (run,) = measured(Abandoned(), "x")
    assert run.info.error is not None
    assert "the connection to the scheduler was lost" in run.info.error


def test_other_versions_are_refused_with_a_list_before_anything_is_measured() -> None:
    hosts = iter(["a", "b", "c"])

    def probe(request: Request) -> Reply:
        host = next(hosts)
        different = {"a": [], "b": ["torch 2.6 instead of 2.7"], "c": ["Python 3.12.1 instead of 3.11.7"]}
        return {**replied(request, host), "differing": different[host]}

    executor = Answering(probe=probe, _max_workers=3)
    with pytest.raises(WorkersDiffer) as caught:
        measured(executor, "x")
    assert str(caught.value) == (
        "the executor's workers cannot measure for this process: host-b has torch 2.6 instead of 2.7; host-c "
        "has Python 3.12.1 instead of 3.11.7; install the same versions of profkit, Python and torch on both "
        "sides"
    )
    assert executor.jobs == []


def test_a_worker_that_joins_later_with_other_versions_is_refused() -> None:
    executor = Answering(lambda request: {**replied(request), "differing": ["torch 1 instead of 2"]})
    with pytest.raises(WorkersDiffer, match="host-a has torch 1 instead of 2"):
        measured(executor, "x")


def test_workers_without_profkit_are_refused() -> None:
    missing = ModuleNotFoundError("No module named 'profkit'", name="profkit")
    with pytest.raises(WorkersDiffer, match="cannot import profkit"):
        measured(Answering(probe=lambda _: missing), "x")


def test_an_interrupt_cancels_what_has_not_begun() -> None:
    waiting: list[Future[Any]] = []

    class Interrupted(Answering):
        """Two machines: the first job waits, and the user interrupts while the second is submitted."""

        def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
            if not args[0]["orders"]:
                return super().submit(function, *args, **options)
            if waiting:
                raise KeyboardInterrupt
            waiting.append(Future())
            return waiting[0]

    machines = iter("ab")
    executor = Interrupted(probe=lambda request: replied(request, next(machines)), _max_workers=2)
    with pytest.raises(KeyboardInterrupt):
        measured(executor, "x", "y")
    assert waiting[0].cancelled()


def test_what_is_no_executor_is_refused() -> None:
    with pytest.raises(InvalidOption, match=r"give a concurrent\.futures\.Executor"):
        measured(cast(Executor, "tcp://host"), "x")


def test_invalid_orders_are_refused_before_anything_is_submitted() -> None:
    executor = Answering()
    with pytest.raises(UsageError, match="occur twice"):
        measure_on(executor, [Task(work_order("pass"))] * 2)
    assert executor.futures == []
