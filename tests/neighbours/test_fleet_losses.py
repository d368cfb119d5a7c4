"""A suite on three workers of Dask that have machines of their own; a worker and the scheduler are killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.neighbours.dask_machines import ADDRESS, HOSTS, killed, machines
from tests.neighbours.harness import environ
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


def measure(folder: Path, *arguments: str, launcher: Sequence[str] = ()) -> subprocess.Popen[str]:
    argv = [*launcher, sys.executable, "-m", "profkit", "measure", "orders.py", "--json", *arguments]
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
    (tmp_path / "orders.py").write_text(ORDERS)
    here = counts(orders_of(measure(tmp_path, "--no-keep")))
    with (
        machines(tmp_path) as fleet,
        fleet.scheduler() as scheduler,
        fleet.worker(HOSTS[0]) as unlucky,
        fleet.worker(HOSTS[1]) as second,
        fleet.worker(HOSTS[2]) as third,
    ):
        fleet.await_workers(3)
        process = measure(tmp_path, "--dask", ADDRESS, launcher=fleet.on_hub())
        until(lambda: kept(tmp_path), "the first runs", limit_s=300)
        if lost == "worker":
            killed(unlucky)
            found = orders_of(process)
        else:
            for one in (scheduler, unlucky, second, third):
                killed(one)
            time.sleep(15)  # longer than a first connection may take
            with fleet.scheduler(), fleet.worker(HOSTS[0]), fleet.worker(HOSTS[1]):
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
