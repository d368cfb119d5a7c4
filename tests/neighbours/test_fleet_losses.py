"""A suite on three workers of Dask that have machines of their own, as far as namespaces can make them.

Each has its own host name and lock. A worker and the scheduler are killed while the suite is measured.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from profkit.measuring.fleet.job import machine_id
from tests.neighbours.harness import environ
from tests.neighbours.servers import free_port
from tests.support.waiting import until

pytestmark = [pytest.mark.neighbours, pytest.mark.full, pytest.mark.valgrind, pytest.mark.timeout(1800)]

ORDERS = """
from profkit import work_order
FEW = {"quick": True, "processes": 1}
ORDERS = [
    *(work_order("time.sleep(0.3)", setup="import time", label=f"sleep {n}", runs=4, **FEW)
      for n in range(18)),
    *(work_order(f"sum(range({n}))", label=f"sum {n}", mode="callgrind", python_functions=False, **FEW)
      for n in (100, 200, 300)),
]
"""
MACHINE = """
mount --make-rprivate / && mount --bind "$1.lock" /tmp/profkit-measuring.lock && hostname "$1" && shift &&
exec "$@"
"""
HOSTS = ("host-1", "host-2", "host-3")


@contextmanager
def started(folder: Path, *argv: str, launcher: Sequence[str] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program of Dask in a session of its own, which ends with the body."""
    with (folder / "dask.log").open("ab") as log:
        process = subprocess.Popen(
            [*launcher, sys.executable, "-m", *argv, "--no-dashboard"], cwd=folder, env=environ(), stdout=log,
            stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        killed(process)


def killed(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def scheduler(folder: Path, port: int) -> Any:
    return started(folder, "distributed.cli.dask_scheduler", "--port", str(port))


def worker(folder: Path, port: int, host: str) -> Any:
    (folder / f"{host}.lock").touch()
    as_machine = ["unshare", "-m", "-u", "sh", "-c", MACHINE, "sh", host]
    address = f"tcp://127.0.0.1:{port}"
    return started(folder, "distributed.cli.dask_worker", address, "--nthreads", "2", launcher=as_machine)


def measure(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "profkit", "measure", "orders.py", "--json", *arguments]
    with (folder / "progress").open("w") as progress:
        return subprocess.Popen(
            argv, cwd=folder, env=environ(), stdout=subprocess.PIPE, stderr=progress, text=True
        )


def orders_of(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    out, _ = process.communicate(timeout=900)
    assert process.returncode == 0, out
    found: list[dict[str, Any]] = json.loads(out)["orders"]
    return found


def counts(orders: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {one["label"]: one["instructions"]["stripped"] for one in orders if one["instructions"]}


def kept(folder: Path) -> list[Path]:
    return list((folder / ".profkit").rglob("*.measured.json"))


@pytest.mark.parametrize("lost", ["worker", "scheduler"])
def test_a_suite_survives_the_loss_of_a_worker_and_of_the_scheduler(lost: str, tmp_path: Path) -> None:
    machine_id()  # makes the file that each worker replaces
    (tmp_path / "orders.py").write_text(ORDERS)
    here = counts(orders_of(measure(tmp_path, "--no-keep")))
    port = free_port()
    with (
        scheduler(tmp_path, port) as first,
        worker(tmp_path, port, HOSTS[0]) as unlucky,
        worker(tmp_path, port, HOSTS[1]) as second,
        worker(tmp_path, port, HOSTS[2]) as third,
    ):
        until(lambda: (tmp_path / "dask.log").read_text().count("Registered to") >= 3, "workers", limit_s=180)
        process = measure(tmp_path, "--dask", f"tcp://127.0.0.1:{port}")
        until(lambda: kept(tmp_path), "the first runs", limit_s=300)
        if lost == "worker":
            killed(unlucky)
            found = orders_of(process)
        else:
            for one in (first, unlucky, second, third):
                killed(one)
            with (
                scheduler(tmp_path, port),
                worker(tmp_path, port, HOSTS[0]),
                worker(tmp_path, port, HOSTS[1]),
            ):
                found = orders_of(process)
    assert [one["error"] for one in found] == [None] * 21
    assert counts(found) == here
    hosts = {one["process"]["host"] for one in found}
    assert hosts <= set(HOSTS)
    assert len(hosts) > 1
    assert_one_at_a_time(kept(tmp_path))


def assert_one_at_a_time(files: Sequence[Path]) -> None:
    """Check that no machine measured two of these runs at once; two of one job follow one another."""
    infos = [json.loads(file.read_bytes())["info"] for file in files]
    assert len(infos) == 21
    for host in HOSTS:
        spans = sorted(
            (one["started_ns"], one["ended_ns"])
            for one in infos
            if one["process"]["host"] == host and one["order"]["mode"] == "timer"
        )
        assert all(before[1] <= after[0] for before, after in pairwise(spans)), host
