"""A job of an executor's worker: measure orders on its machine, in a pool that ends with the job.

Executors send `perform` by its name. What it takes and returns is plain data: bytes, text, numbers, lists and
dictionaries of them. One job at a time is measured on a machine."""

from __future__ import annotations

import fcntl
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NotRequired, TypedDict

from profkit.clock import SYSTEM_CLOCK
from profkit.measuring.batches import measured
from profkit.measuring.packed_orders import unpacked
from profkit.measuring.pool.pool import Pool
from profkit.measuring.runner.jobs import Task
from profkit.measuring.transfer.payload import payload_file
from profkit.model.measurement import Design
from profkit.regular_files import open_regular
from profkit.store.measured import SCHEMA
from profkit.store.records import document_bytes
from profkit.version import VERSION

LOCK = Path("/tmp/profkit-measuring.lock")
"""File of the lock: one for all users and jobs of a machine, so it does not depend on TMPDIR."""
_TRY_EVERY_S = 0.1


def versions() -> dict[str, str]:
    """Return the versions that must be equal where orders are packed and where they are measured."""
    return {"profkit": VERSION, "Python": sys.version.split()[0], "torch": _torch()}


def differing(here: Mapping[str, str], there: Mapping[str, str]) -> list[str]:
    """Describe the versions that differ between two processes."""
    return [
        f"{name} {there.get(name, 'unknown')} instead of {known}"
        for name, known in here.items()
        if there.get(name) != known
    ]


def _torch() -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version("torch")  # importing it would take seconds
    except PackageNotFoundError:
        return "none"


def machine_id() -> str:
    """Return a name that workers share if, and only if, they share the lock."""
    descriptor = _open_lock()
    status = os.fstat(descriptor)
    os.close(descriptor)
    return f"{os.uname().nodename}:{status.st_dev}:{status.st_ino}"


@contextmanager
def alone_on_machine(*, wait: bool, is_wanted: Callable[[], bool]) -> Iterator[bool]:
    """Hold the machine's lock; yield whether it is held. The system releases it if this process ends.

    Without `wait`, it is not held if another process has it, else only if nobody wants the job any more.
    """
    descriptor = _open_lock()
    try:
        held = _locked(descriptor)
        while not held and wait and is_wanted():
            SYSTEM_CLOCK.sleep(_TRY_EVERY_S)
            held = _locked(descriptor)
        yield held
    finally:
        # Closing is not enough: a child that was forked meanwhile may still hold the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open_lock() -> int:
    """Open the file for reading, which other users may do as well."""
    with suppress(FileExistsError):
        os.close(os.open(LOCK, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
    return open_regular(LOCK, os.O_NOFOLLOW)


_LOOK_EVERY_S = 0.5
_PROBE_S = 0.1
"""Time for which a probe keeps its worker, so that others get the next ones."""


class Request(TypedDict):
    """Orders to measure together; a probe has none, and only asks for the machine."""

    key: str
    """Distinguishes requests: some executors perform equal ones once."""
    versions: dict[str, str]
    orders: list[dict[str, object]]
    payloads: list[bytes]
    path: list[str]
    """Folders from which the orders import first, if they exist on the machine."""
    workers: int
    design: str
    wait: bool
    """Whether to wait while another job is measured on the machine."""


class Reply(TypedDict):
    """Reply of a job: without runs, it was a probe, the versions differ, or another job was running."""

    host: str
    machine: str
    differing: list[str]
    """Versions that differ, in words."""
    runs: NotRequired[list[bytes]]
    """Documents of the orders' runs, in their sequence."""


def perform(request: Request) -> Reply:
    """Measure the orders of a request on this machine, and return their runs."""
    different = differing(request["versions"], versions())
    reply: Reply = {"host": os.uname().nodename, "machine": machine_id(), "differing": different}
    if different:
        return reply
    if not request["orders"]:
        SYSTEM_CLOCK.sleep(_PROBE_S)
        return reply
    is_wanted = _of_dask_task()
    with alone_on_machine(wait=request["wait"], is_wanted=is_wanted) as is_alone:
        return {**reply, "runs": _measured(request, is_wanted)} if is_alone else reply


def _measured(request: Request, is_wanted: Callable[[], bool]) -> list[bytes]:
    pool = Pool()
    try:
        with _ending(pool, is_wanted):
            design = Design(request["design"])
            outcomes = measured(_tasks(request), request["workers"], design, pool=pool)
    except (KeyboardInterrupt, RuntimeError):  # the pool was closed
        if is_wanted():
            raise
        return []
    finally:
        pool.close()
    return [document_bytes(SCHEMA, outcome.run) for outcome in outcomes]


def _tasks(request: Request) -> list[Task]:
    descriptors = (payload_file(content) for content in request["payloads"])
    folders = tuple(folder for folder in request["path"] if os.path.isdir(folder))
    return [
        replace(task, order=replace(task.order, path=folders))
        for task in unpacked(request["orders"], descriptors)
    ]


@contextmanager
def _ending(pool: Pool, is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Close the pool during the body once nobody wants its results any more."""
    is_done = threading.Event()

    def watch() -> None:
        while not is_done.wait(_LOOK_EVERY_S):
            if not is_wanted():
                pool.close()
                return

    thread = threading.Thread(target=watch, name="profkit-fleet", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join()


def _of_dask_task() -> Callable[[], bool]:
    """Return a function that says whether this Dask task is wanted still; other executors have no such thing.

    Dask ends no thread: a cancelled task goes on, and its result is dropped.
    """
    distributed = sys.modules.get("distributed")
    try:
        worker = distributed.get_worker() if distributed is not None else None
    except ValueError:  # not in a task of Dask
        worker = None
    if worker is None:
        return lambda: True
    key: object = worker.get_current_task()
    tasks: Mapping[object, object] = worker.state.tasks

    def is_wanted() -> bool:
        return getattr(tasks.get(key), "state", "") in ("executing", "long-running")

    return is_wanted
