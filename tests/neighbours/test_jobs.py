"""Places in jobs that runtimes know: ranks of mpi4py, workers of Dask, actors of Ray."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import await_samplers_end, listed, profkit, run_program
from tests.neighbours.harness import PROGRAMS, environ
from tests.neighbours.test_launchers import MPIRUN

pytestmark = [pytest.mark.neighbours, pytest.mark.sampler, pytest.mark.timeout(600)]


def members(folder: Path, label: str) -> list[dict[str, Any]]:
    return [run["process"]["member"] for run in listed(folder) if run["label"] == label]


def test_ranks_of_mpi4py(tmp_path: Path) -> None:
    command = [
        "-m",
        "profkit",
        "run",
        "--each",
        "-o",
        "report.json",
        "--",
        *MPIRUN,
        str(PROGRAMS / "mpi_ranks.py"),
    ]
    done = run_program(tmp_path, command, environ=environ(), code=0)
    assert sorted(done.stdout.split("rank ")[1:]) == ["0: 1\n", "1: 1\n"]
    report = json.loads((tmp_path / "report.json").read_text())
    assert sorted(run["rank"] for run in report["merged"]["runs"]) == [0, 1]
    assert len({run["job"] for run in report["merged"]["runs"]}) == 1


@pytest.mark.parametrize("late", [0, 1])
def test_the_late_rank_of_mpi_is_named(tmp_path: Path, late: int) -> None:
    """The others poll in C functions of mpi4py, and seem to work."""
    job = [*MPIRUN, str(PROGRAMS / "mpi_late.py"), str(late), "8"]
    command = ["-m", "profkit", "run", "--each", "-o", "report.json", "--", *job]
    run_program(tmp_path, command, environ=environ(), code=0)
    first, *_ = json.loads((tmp_path / "report.json").read_text())["summary"]
    assert first.startswith(f"Rank {late} made the other one wait "), first
    assert " in slow_share (" in first


@pytest.mark.parametrize("program", ["dask_workers.py", "ray_actors.py"])
def test_workers(tmp_path: Path, program: str) -> None:
    done = run_program(tmp_path, [str(PROGRAMS / program)], environ=environ(), code=0)
    assert done.stdout == "15\n"
    await_samplers_end(tmp_path)
    found = members(tmp_path, "task")
    assert len({member["job"] for member in found}) == 1
    assert found[0]["job"]
    assert len({member["worker"] for member in found}) == 2
    document = json.loads(profkit(tmp_path, "report", "--job", "--json").stdout)
    workers = {process["worker"] for process in document["merged"]["processes"]}
    assert workers == {member["worker"] for member in found}
    # The newest run alone is shown by default: a cluster may outlive many jobs.
    assert json.loads(profkit(tmp_path, "report", "--json").stdout)["merged"] is None
