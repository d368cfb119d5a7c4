"""Orders through an executor: which go to one machine as a job, when jobs are repeated, and their runs.

What is compared is measured on one machine: orders of one label are one group, and an interleaved batch is
one group as a whole. Groups are sent in jobs, at most as many at a time as there are machines.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TextIO
from uuid import uuid4

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import InvalidOption
from profkit.measuring.batches import prepared, progress_display
from profkit.measuring.errors import OrdersLost, WorkersDiffer
from profkit.measuring.fleet.job import Reply, Request, perform, versions
from profkit.measuring.packed_orders import packed_object
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.outcomes import failed, order_info, run_info
from profkit.measuring.runner.progress import Progress
from profkit.measuring.transfer.payload import Payload
from profkit.measuring.worker.protocol import content_of
from profkit.model.measurement import Design, MeasuredRun
from profkit.process.manifest import process_info
from profkit.store.measured import SCHEMA
from profkit.store.records import parse_document

_PROBES = 256
"""Maximum number of probes; executors that do not say how many workers they have get `_FEW`."""
_FEW = 8
_JOBS_LEFT = 2
"""Number of jobs per machine that the remaining groups would make: jobs become smaller towards the end."""
_TRIES = 3
"""Number of times that a job looks for a free machine before it waits for one."""
_CHECK_S = 1.0
"""Time between checks whether the executor is still connected."""
_GRACE_S = 2.0
"""Time for other probes to report different versions, too."""


@dataclass(eq=False, slots=True)
class _Job:
    """Tasks that are measured together, with their indexes."""

    tasks: dict[int, Task]
    tries: int = 0
    is_second: bool = False
    """True if the worker that had the tasks was lost."""


@dataclass(slots=True)
class _Batch:
    """Jobs of a batch: those that wait and those that run, and the runs so far."""

    executor: Executor
    workers: int
    design: Design
    progress: Progress
    keep: Callable[[MeasuredRun], None] | None
    groups: deque[dict[int, Task]]
    id: str
    again: deque[_Job] = field(default_factory=deque)
    running: dict[Future[Reply], _Job] = field(default_factory=dict)
    machines: set[str] = field(default_factory=set)
    runs: dict[int, MeasuredRun] = field(default_factory=dict)


def measure_on(
    executor: Executor,
    given: Sequence[Task],
    workers: int = 1,
    design: Design = Design.SEPARATE,
    progress: TextIO | Progress | None = None,
    keep: Callable[[MeasuredRun], None] | None = None,
) -> tuple[MeasuredRun, ...]:
    """Measure a batch as `measured` does, on the machines of an executor's workers.

    Raises `WorkersDiffer` if workers lack profkit or have other versions, and KeyboardInterrupt after
    it has cancelled all jobs.
    """
    if not callable(getattr(executor, "submit", None)):
        raise InvalidOption("executor", executor, "give a concurrent.futures.Executor")
    with ExitStack() as stack:
        tasks = prepared(given, workers, design, stack)
        display = progress_display(progress)
        groups, number = deque(_groups(dict(enumerate(tasks)), design)), design.batch(uuid4().hex[:12])
        batch = _Batch(executor, workers, design, display, keep, groups, number)
        display.begin(len(tasks))
        try:
            _find_machines(batch)
            _measure(batch)
        finally:
            for future in batch.running:
                future.cancel()
            display.end()
        return tuple(batch.runs[index] for index in range(len(tasks)))


def _groups(tasks: Mapping[int, Task], design: Design) -> Iterator[dict[int, Task]]:
    """Yield the tasks that are measured on one machine, by their indexes."""
    groups: dict[str, dict[int, Task]] = {}
    for index, task in tasks.items():
        label = task.order.label if design is Design.SEPARATE else ""
        groups.setdefault(label, {})[index] = task
    yield from groups.values()


def _find_machines(batch: _Batch) -> None:
    """Find out how many machines there are, and refuse those with other versions."""
    for _ in range(min(_slots(batch.executor), _PROBES)):
        _submit(batch, _Job({}))
    different: dict[str, list[str]] = {}
    while batch.running:
        patience_s = _GRACE_S if different else _CHECK_S
        done, _ = wait(batch.running, patience_s, ALL_COMPLETED if different else FIRST_COMPLETED)
        for future in done:
            del batch.running[future]
            reply = _reply(future)
            if isinstance(reply, Exception):
                continue  # a job will meet the same error
            batch.machines.add(reply["machine"])
            if reply["differing"]:
                different[reply["host"]] = reply["differing"]
        if not done and (different or _is_closed(batch.executor)):
            break
    if different:
        raise WorkersDiffer(
            "; ".join(f"{host} has {', '.join(names)}" for host, names in sorted(different.items()))
        )


def _slots(executor: Executor) -> int:
    """Return how many jobs the workers of an executor run at once; `_FEW` if it does not say so."""
    client = getattr(executor, "_client", None)  # Dask's
    if client is not None:
        return max(1, int(sum(client.nthreads().values())))
    return int(getattr(executor, "_max_workers", 0)) or _FEW  # also loky's and mpi4py's


def _measure(batch: _Batch) -> None:
    while batch.groups or batch.again or batch.running:
        while (batch.groups or batch.again) and len(batch.running) < max(1, len(batch.machines)):
            _submit(batch, batch.again.popleft() if batch.again else _next_job(batch))
        done, _ = wait(batch.running, _CHECK_S, FIRST_COMPLETED)
        for future in done:
            _take(batch, batch.running.pop(future), _reply(future))
        if not done and _is_closed(batch.executor):
            lost = list(batch.running.values())
            batch.running.clear()
            for job in lost:
                _take(batch, job, ConnectionError("the connection to the scheduler was lost"))


def _is_closed(executor: Executor) -> bool:
    """Return whether an executor's futures never end: Dask's client gives up a scheduler that stays away."""
    return getattr(getattr(executor, "_client", None), "status", "") == "closed"


def _next_job(batch: _Batch) -> _Job:
    size = -(-len(batch.groups) // (_JOBS_LEFT * max(1, len(batch.machines))))
    return _Job({index: task for _ in range(size) for index, task in batch.groups.popleft().items()})


def _submit(batch: _Batch, job: _Job) -> None:
    job.tries += 1
    try:
        future = batch.executor.submit(perform, _request(batch, job))
    except Exception as error:  # noqa: BLE001 - a broken executor: the same as if the worker were lost
        future = Future()
        future.set_exception(error)
    batch.running[future] = job
    for task in job.tasks.values():
        batch.progress.at_work(task.order.label)


def _request(batch: _Batch, job: _Job) -> Request:
    payloads: list[Payload] = []
    orders = [packed_object(task, payloads) for task in job.tasks.values()]
    return {
        "key": uuid4().hex,
        "versions": versions(),
        "orders": orders,
        "payloads": [bytes(content_of(payload.fd)) for payload in payloads],
        "path": list(_folders(job.tasks.values())),
        "workers": batch.workers,
        "design": batch.design.value,
        "wait": job.tries > _TRIES,
    }


def _folders(tasks: Collection[Task]) -> dict[str, None]:
    """Return the folders of the orders, and those on the path that are not part of this environment."""
    own = [os.path.abspath(entry) for entry in sys.path]
    outside = [entry for entry in own if not entry.startswith((sys.prefix, sys.base_prefix))]
    return dict.fromkeys([*(folder for task in tasks for folder in task.order.path), *outside])


def _reply(future: Future[Reply]) -> Reply | Exception:
    """Return a job's reply, or why there is none; raises `WorkersDiffer` for a worker without profkit."""
    try:
        error = future.exception()
    except CancelledError as cancelled:
        return cancelled
    if error is None:
        return future.result()
    if isinstance(error, ImportError) and (error.name or "").startswith("profkit"):
        raise WorkersDiffer(f"a worker cannot import profkit ({error})") from error
    if not isinstance(error, Exception):
        raise error
    return error


def _take(batch: _Batch, job: _Job, reply: Reply | Exception) -> None:
    """Take the runs of a job; put it back if its machine was busy, or if its worker was lost, once.

    Then its groups have jobs of their own: if an order ends its worker, the others have results.
    """
    if isinstance(reply, Exception):
        if job.is_second:
            _give_up(batch, job, reply)
        else:
            batch.again.extend(_Job(group, is_second=True) for group in _groups(job.tasks, batch.design))
        return
    batch.machines.add(reply["machine"])
    if reply["differing"]:
        raise WorkersDiffer(f"{reply['host']} has {', '.join(reply['differing'])}")
    if "runs" not in reply:
        batch.again.append(job)
        return
    here = process_info()
    for index, document in zip(job.tasks, reply["runs"], strict=True):
        run = parse_document(document, SCHEMA, MeasuredRun)
        process = replace(run.info.process, git_commit=here.git_commit, torch=here.torch)
        _record(batch, index, replace(run, info=replace(run.info, batch=batch.id, process=process)))


def _give_up(batch: _Batch, job: _Job, reason: Exception) -> None:
    labels = list(dict.fromkeys(task.order.label for task in job.tasks.values()))
    error = OrdersLost(labels, f"{type(reason).__name__}: {reason}")
    for index, task in job.tasks.items():
        info = run_info(order_info(task), SYSTEM_CLOCK.unix_ns(), 0.0)
        _record(batch, index, failed(replace(info, batch=batch.id), error).run)


def _record(batch: _Batch, index: int, run: MeasuredRun) -> None:
    batch.runs[index] = run
    if batch.keep is not None:
        batch.keep(run)
    batch.progress.done(run.info.label)
