"""A job where it is measured: versions, the machine's lock, and the end of its pool."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from profkit.measuring.fleet import job
from profkit.measuring.fleet.job import Request, alone_on_machine, differing, machine_id, perform, versions
from profkit.measuring.orders import work_order
from profkit.measuring.packed_orders import packed_object
from profkit.measuring.pool.pool import Pool
from profkit.measuring.runner.jobs import Task


@pytest.fixture(autouse=True)
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of the test's own."""
    monkeypatch.setattr(job, "LOCK", tmp_path / "lock")
    return tmp_path / "lock"


@contextmanager
def held(lock: Path) -> Iterator[None]:
    """Hold a machine's lock, as another process does that measures there."""
    descriptor = os.open(lock, os.O_RDONLY | os.O_CREAT, 0o644)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def request(*statements: str, wait: bool = False) -> Request:
    orders = [packed_object(Task(work_order(one, label=one)), []) for one in statements]
    return {
        "key": "1", "versions": versions(), "orders": orders, "payloads": [], "path": [], "workers": 1,
        "design": "separate", "wait": wait,
    }  # fmt: skip


def test_a_probe_says_where_it_is_even_if_a_job_is_measured_there(lock: Path) -> None:
    with held(lock):
        assert perform(request()) == {"host": os.uname().nodename, "machine": machine_id(), "differing": []}


def test_nothing_is_measured_beside_another_job(lock: Path) -> None:
    with held(lock):
        assert "runs" not in perform(request("pass"))


def test_other_versions_are_listed_and_nothing_is_measured() -> None:
    asked = request("pass")
    asked["versions"] = {**asked["versions"], "Python": "2.7.18", "numpy": "1"}
    there = perform(asked)
    assert there["differing"] == [
        f"Python {versions()['Python']} instead of 2.7.18",
        "numpy unknown instead of 1",
    ]
    assert "runs" not in there
    assert differing(versions(), versions()) == []


def test_a_job_waits_for_the_machine_only_as_long_as_it_is_wanted(lock: Path) -> None:
    answers = iter([True, True, False])
    with held(lock), alone_on_machine(wait=True, is_wanted=lambda: next(answers)) as is_alone:
        assert not is_alone
    assert list(answers) == []
    with alone_on_machine(wait=True, is_wanted=lambda: False) as is_alone:
        assert is_alone


def test_two_machines_differ_by_their_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = machine_id()
    assert machine_id() == first
    monkeypatch.setattr(job, "LOCK", tmp_path / "other")
    assert machine_id() != first


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/etc/passwd"), os.mkfifo])
def test_a_lock_that_is_no_regular_file_is_refused(make: object, lock: Path) -> None:
    assert callable(make)
    make(lock)
    with pytest.raises(OSError, match="not a regular file"):
        machine_id()


def test_the_pool_ends_with_the_job_and_when_nobody_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pools: list[Pool] = []

    class Seen(Pool):
        def __init__(self) -> None:
            super().__init__()
            pools.append(self)

    monkeypatch.setattr(job, "Pool", Seen)
    monkeypatch.setattr(job, "_LOOK_EVERY_S", 0.01)
    assert len(perform(request("1 + 1"))["runs"]) == 1
    monkeypatch.setattr(job, "_of_dask_task", lambda: lambda: not pools[1:])
    assert perform(request("import time; time.sleep(600)"))["runs"] == []
    assert [(pool.closed, pool.zygotes()) for pool in pools] == [(True, []), (True, [])]
