"""Measuring on the workers of real engines: Dask, loky, MPI and Ray."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.neighbours.harness import environ, program
from tests.neighbours.servers import free_port
from tests.support.waiting import until

pytestmark = [pytest.mark.neighbours, pytest.mark.slow, pytest.mark.timeout(900)]

MPI = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3"]
MEASURE = [sys.executable, "-m", "profkit", "measure"]
CHANGES = {"RAY_AUTH_MODE": "disabled", "RAY_worker_niceness": "0"}


@pytest.fixture
def mark() -> str:
    """The value of a variable by which the processes of a test are found."""
    return uuid4().hex


def left(mark: str) -> list[str]:
    """Return the commands of profkit's measuring processes that a test has left running."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:  # it has ended
            continue
        if mark.encode() in environment and "profkit/measuring/worker" in command:
            found.append(command)
    return found


def measured(folder: Path, mark: str, *arguments: str, launcher: Sequence[str] = ()) -> dict[str, Any]:
    mpi4py = ["-m", "mpi4py.futures"] if launcher else []
    argv = [*launcher, sys.executable, *mpi4py, *program("fleet_measured.py", *arguments)]
    done = subprocess.run(
        argv, cwd=folder, env=environ(FLEET=mark, **CHANGES), timeout=800, capture_output=True, text=True,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.valgrind
@pytest.mark.parametrize("engine", ["dask", "loky", "mpi", pytest.param("ray", marks=pytest.mark.full)])
def test_counts_are_those_of_this_machine_and_nothing_is_left_running(
    engine: str, tmp_path: Path, mark: str
) -> None:
    found = measured(tmp_path, mark, engine, launcher=MPI if engine == "mpi" else ())
    there, here = found["there"], found["here"]
    assert [(label, count) for label, count, *_ in there] == [(label, count) for label, count, *_ in here]
    assert [label for label, *_ in there] == ["sort", "doubled", "add"]
    assert [error for _, _, error, _, _ in there] == [None] * 3
    assert found["pid"] not in {pid for _, _, _, pid, _ in there}
    assert {machine for *_, machine in there} == {machine for *_, machine in here} != {""}
    assert left(mark) == []


def test_orders_of_a_killed_worker_of_dask_are_measured_again_and_a_deadly_one_is_named(
    tmp_path: Path, mark: str
) -> None:
    found = measured(tmp_path, mark, "dask", "losses")
    errors = {label: error for label, _, error, _, _ in found["there"]}
    assert errors["calm"] is None
    assert errors["once"] is None
    assert "the executor lost the workers that measured 'deadly', twice (KilledWorker: " in errors["deadly"]
    until(lambda: left(mark) == [], "ends of the killed workers' processes")


@contextmanager
def cluster(folder: Path, mark: str) -> Iterator[str]:
    """Run a scheduler and a worker of Dask, as their users start them; yield the address."""
    address = f"tcp://127.0.0.1:{free_port()}"
    scheduler = ["distributed.cli.dask_scheduler", "--port", address.rpartition(":")[2], "--no-dashboard"]
    worker = ["distributed.cli.dask_worker", address, "--nthreads", "2", "--no-dashboard"]
    started = [
        subprocess.Popen(
            [sys.executable, "-m", *argv], cwd=folder, env=environ(FLEET=mark), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for argv in (scheduler, worker)
    ]  # fmt: skip
    try:
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(60)


def commanded(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MEASURE, *arguments], cwd=folder, env=environ(), timeout=300, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def test_an_interrupt_of_the_command_ends_its_job_on_the_worker(tmp_path: Path, mark: str) -> None:
    begun = tmp_path / "begun"
    slow = f"open({str(begun)!r}, 'w').close(); import time; time.sleep(600)"
    with cluster(tmp_path, mark) as address:
        done = commanded(tmp_path, "1 + 1", "--quick", "--json", "--dask", address)
        assert done.returncode == 0, done.stderr
        (order,) = json.loads(done.stdout)["orders"]
        assert order["median_s"] > 0
        assert any("multiprocessing" in word for word in order["process"]["argv"]), "not the worker's process"
        argv = [*MEASURE, slow, "--runs", "1", "--dask", address]
        process = subprocess.Popen(argv, cwd=tmp_path, env=environ())
        until(begun.exists, "the beginning of the measurement")
        assert left(mark) != []
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130
        until(lambda: left(mark) == [], "the end of the job on the worker")
        assert commanded(tmp_path, "1 + 1", "--quick", "--dask", address).returncode == 0


def test_an_address_without_a_scheduler_is_an_error_of_usage(tmp_path: Path) -> None:
    done = commanded(tmp_path, "pass", "--dask", f"tcp://127.0.0.1:{free_port()}")
    assert done.returncode == 2
    assert "give the address that `dask scheduler` prints" in done.stderr
