"""`profkit run --each` below real launchers, and jobs of several ranks in one store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import environment, profkit, reported, run_program

pytestmark = [pytest.mark.sampler, pytest.mark.slow]

RANKS = """
import time
import torch
import torch.distributed as dist

def work(cpu_s):
    until = time.process_time() + cpu_s
    while time.process_time() < until:
        sum(range(1000))

dist.init_process_group("gloo")
work(0.6 if dist.get_rank() == 1 else 0.1)
dist.all_reduce(torch.ones(1))
dist.destroy_process_group()
"""
WORK = "import time\nuntil = time.process_time() + 0.3\nwhile time.process_time() < until: sum(range(1000))\n"
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "ranks.py"]


def each(folder: Path, *command: str, code: int = 0, **variables: str) -> Any:
    """Run a command with --each, and return the report that follows it."""
    options = ["--each", "-o", "shown.json", "--", *command]
    run_program(folder, ["-m", "profkit", "run", *options], environ=environment(**variables), code=code)
    return json.loads((folder / "shown.json").read_text("utf-8"))


def jobs(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(profkit(folder, "list", "--jobs", "--json").stdout)["jobs"]
    return found


def ranks_of(report: dict[str, Any]) -> list[tuple[str, int]]:
    return sorted((run["job"], run["rank"]) for run in report["merged"]["runs"])


@pytest.mark.torch
def test_two_jobs_of_torchrun_in_one_store(tmp_path: Path) -> None:
    (tmp_path / "ranks.py").write_text(RANKS)
    given = {"OMP_NUM_THREADS": "1"}
    first = each(tmp_path, *TORCHRUN, **given)
    second = each(tmp_path, *TORCHRUN, **given)
    newer, older = jobs(tmp_path)
    assert newer["job"] != older["job"]
    for report, job in ((first, older), (second, newer)):
        assert ranks_of(report) == [(job["job"], 0), (job["job"], 1)]
        assert (job["ranks"], job["world_size"], job["labels"]) == ([0, 1], 2, ["ranks.py"])
        assert report["run"]["label"] == "ranks.py"
        assert "RANK" not in report["run"]["env"]
    assert ranks_of(reported(tmp_path)) == ranks_of(second)
    assert ranks_of(reported(tmp_path, "ranks.py")) == ranks_of(second)
    assert ranks_of(reported(tmp_path, "--job", older["job"])) == ranks_of(first)
    together = reported(tmp_path, "ranks.py", "--all")
    assert [note["figures"] for note in together["run"]["notes"] if note["code"] == "jobs-merged"] == [
        {"jobs": 2}
    ]
    assert profkit(tmp_path, "compare", "--job", older["job"], newer["job"]).stdout


@pytest.mark.torch
def test_ranks_that_only_their_process_group_knows(tmp_path: Path) -> None:
    """A session begins with the program, and the group later."""
    (tmp_path / "ranks.py").write_text(
        "import os, sys, time, torch.distributed as dist\n"
        "rank = int(sys.argv[1])\n"
        "dist.init_process_group('gloo', 'file://' + os.path.abspath('group'), rank=rank, world_size=2)\n"
        "until = time.monotonic() + 3\nwhile time.monotonic() < until: sum(range(1000))\n"
        "dist.barrier()\ndist.destroy_process_group()\n"
    )
    start = '"$0" ranks.py 0 & "$0" ranks.py 1; wait'
    report = each(tmp_path, "sh", "-c", start, sys.executable, OMP_NUM_THREADS="1", PROFKIT_JOB="files")
    assert ranks_of(report) == [("files", 0), ("files", 1)]


def test_programs_of_a_script_without_ranks(tmp_path: Path) -> None:
    """Those with one label are merged, and the other one is named."""
    for name in ("work.py", "other.py"):
        (tmp_path / name).write_text(WORK)
    script = '"$0" other.py & "$0" work.py & "$0" work.py; wait; exit 3'
    done = run_program(
        tmp_path, ["-m", "profkit", "run", "--each", "--", "sh", "-c", script, sys.executable],
        environ=environment(), code=3,
    )  # fmt: skip
    assert "2 runs, merged" in done.stderr
    assert "also profiled: other.py" in done.stderr
    assert jobs_said(tmp_path) == 6


def jobs_said(folder: Path) -> int:
    """Return the exit code of `profkit list --jobs`."""
    return run_program(folder, ["-m", "profkit", "list", "--jobs"], environ=environment()).returncode


@pytest.mark.parametrize("depth", [1, 3])
def test_the_switch_survives_shells_and_programs(tmp_path: Path, depth: int) -> None:
    """Also a Python that starts another one with a changed environment."""
    (tmp_path / "work.py").write_text(WORK)
    (tmp_path / "start.py").write_text(
        "import os, subprocess, sys\n"
        "command = ['sh', '-c', 'exec \"$0\" work.py', sys.executable]\n"
        "subprocess.run(command, env={**os.environ, 'OTHER': '1'}, check=True)\n"
    )
    command = [sys.executable, "start.py"]
    for _ in range(depth):
        command = ["sh", "-c", '"$@"; exit $?', "sh", *command]
    each(tmp_path, *command)
    kept = json.loads(profkit(tmp_path, "list", "--json").stdout)["runs"]
    assert sorted(run["label"] for run in kept) == ["start.py", "work.py"]
    assert len({run["process"]["launch"] for run in kept}) == 1


def test_a_launcher_in_python_without_each(tmp_path: Path) -> None:
    """It is the first Python, which removes the switch: a note says how to profile what it starts."""
    launcher = tmp_path / "torchrun"
    launcher.write_text(f"#!{sys.executable}\n{WORK}")
    launcher.chmod(0o755)
    done = profkit(tmp_path, "run", "--", "./torchrun")
    assert "only torchrun itself was profiled; `profkit run --each` profiles what it starts" in done.stderr
    assert "itself was profiled" not in profkit(tmp_path, "run", "--each", "--", "./torchrun").stderr


def test_a_program_alone_has_its_report_as_without_each(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WORK)
    report = each(tmp_path, sys.executable, "work.py")
    assert report["merged"] is None
    assert report["run"]["label"] == "work.py"


def test_attached_sessions_have_the_place_of_their_process(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(
        "import os\nprint(os.getpid(), flush=True)\n" + WORK.replace("0.3", "300")
    )
    variables = environment() | {"RANK": "3", "WORLD_SIZE": "4", "MASTER_ADDR": "job-7", "MASTER_PORT": "1"}
    with subprocess.Popen(
        [sys.executable, "work.py"], cwd=tmp_path, env=variables, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        pid = program.stdout.readline().strip()
        profkit(tmp_path, "attach", pid, "--duration", "1")
        program.kill()
    (job,) = jobs(tmp_path)
    assert (job["job"], job["ranks"], job["world_size"]) == ("job-7:1", [3], 4)


@pytest.mark.neighbours
def test_memory_of_several_programs(tmp_path: Path) -> None:
    """Peaks do not add up, so the longest program is shown."""
    (tmp_path / "work.py").write_text(WORK + "kept = bytearray(5_000_000)\n")
    script = '"$0" work.py & "$0" work.py; wait'
    options = ["--mode", "memory", "--each", "-o", "shown.json", "--", "sh", "-c", script, sys.executable]
    run_program(tmp_path, ["-m", "profkit", "run", *options], environ=environment(), code=0)
    report = json.loads((tmp_path / "shown.json").read_text("utf-8"))
    assert report["merged"] is None
    assert os.path.basename(report["run"]["file"]) == "work.py"
