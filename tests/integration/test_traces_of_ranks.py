"""What torch itself records of the ranks of a job: traces of its profiler, dumps of its flight recorder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.integration.harness import PROGRAMS, environment, profkit, reported, run_program

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.timeout(600)]

RANKS, STEPS = 3, 12


def torchrun(folder: Path, program: str, *arguments: str) -> None:
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}"]
    given = [*launcher, str(PROGRAMS / program), *arguments]
    run_program(folder, given, environ=environment(OMP_NUM_THREADS="1"), code=0)


@pytest.mark.parametrize(("late", "stacks"), [(1, "stacks"), (2, "none")])
def test_traces_of_the_profiler(tmp_path: Path, late: int, stacks: str) -> None:
    torchrun(tmp_path, "traced_ranks.py", str(late), stacks)
    profkit(tmp_path, "import", *(f"rank{rank}.json" for rank in range(RANKS)))
    report = reported(tmp_path)
    assert sorted(run["rank"] for run in report["merged"]["runs"]) == [*range(RANKS)]
    assert len({run["job"] for run in report["merged"]["runs"]}) == 1
    first, *_ = report["summary"]
    assert first.startswith(f"Rank {late} made the others wait "), first
    counted = re.search(r"it was the last in (\d+) of (\d+) collectives \(all_reduce\)", first)
    assert counted is not None, first
    # The first one is left out.
    assert int(counted[2]) == STEPS - 1
    assert int(counted[1]) > STEPS // 2, first
    where = "in slow_step (" if stacks == "stacks" else "no function alone explains it"
    assert where in first


def test_dumps_of_the_flight_recorder(tmp_path: Path) -> None:
    torchrun(tmp_path, "hanging_ranks.py", "1")
    names = [f"dump_rank_{rank}" for rank in range(RANKS)]
    said = "Rank 1 has not entered all_reduce #6 (group default_pg); ranks 0 and 2 wait in it."
    from_json = profkit(tmp_path, "dump", *(f"{name}.json" for name in names)).stdout
    from_pickles = profkit(tmp_path, "dump", *names).stdout
    assert from_json.splitlines()[1] == from_pickles.splitlines()[1] == said
    # Only pickles have stacks.
    assert "main (" in from_pickles
    assert "hanging_ranks.py:" in from_pickles
    found = json.loads(profkit(tmp_path, "dump", *names, "--json").stdout)
    (collective,) = found["collectives"]
    assert (collective["number"], collective["absent"]) == (6, [1])
