"""The switch by environment below real launchers: the program does the same, and each Python keeps a run."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from profkit.model.run import Run
from tests.integration.harness import await_samplers_end, listed
from tests.neighbours.harness import both, environ, program, runs_in, shown
from tests.neighbours.servers import Answer, Server, free_port, running
from tests.support.waiting import until

pytestmark = [pytest.mark.neighbours, pytest.mark.sampler, pytest.mark.timeout(600)]

FILES = {
    "working.py": (
        "import time\ndef crunch(seconds):\n    until = time.process_time() + seconds\n"
        "    while time.process_time() < until:\n        sum(range(1000))\n"
    ),
    # Rank 1 fails when rank 0 has worked, too, and rank 0 then works until the launcher ends it.
    "rank.py": (
        "import os, sys, time\nfrom pathlib import Path\nfrom working import crunch\n"
        "rank, fails = os.environ.get(sys.argv[1], sys.argv[1]), 'fails' in sys.argv\n"
        "sys.stdout.write(f'rank {rank} is process {os.getpid()}\\n')\nsys.stdout.flush()\ncrunch(0.5)\n"
        "Path(f'worked.{rank}').touch()\n"
        "if fails and rank == '0':\n    crunch(300)\n"
        "while fails and not Path('worked.0').exists():\n    time.sleep(0.01)\n"
        "sys.exit(3 if fails else 0)\n"
    ),
    "serving.py": "from working import crunch\nfor _ in range(60):\n    crunch(0.1)\n",
    "web.py": (
        "import os\nfrom working import crunch\ndef app(environ, start_response):\n    crunch(0.03)\n"
        "    start_response('200 OK', [('X-Pid', str(os.getpid()))])\n    return [b'done']\n"
    ),
    "job.sh": (
        '"$1" rank.py 0 &\n"$1" rank.py 2\nwait $!\necho "the one in the background: $?"\n'
        'exec "$1" rank.py 1 fails\n'
    ),
}


class Launcher(NamedTuple):
    """A command that starts `rank.py` twice."""

    command: Sequence[str]
    runs: Sequence[str] = ()
    """Labels of runs of its own: that of a launcher in Python."""


TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "2", sys.executable]
SRUN = ["srun", "--quiet", "--ntasks=2", "--kill-on-bad-exit=1", sys.executable]
LAUNCHERS = {
    "torchrun": Launcher([*TORCHRUN, "rank.py", "RANK"], ["torch.distributed.run"]),
    "mpirun": Launcher([*MPIRUN, "rank.py", "OMPI_COMM_WORLD_RANK"]),
    "srun": Launcher([*SRUN, "rank.py", "SLURM_PROCID"]),
}
SLURM = """
ClusterName=tests
SlurmctldHost=localhost
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/node.pid
SlurmdParameters=config_overrides
NodeName=localhost CPUs=2
PartitionName=all Nodes=localhost Default=YES
"""
TIMEOUT_S = 240
_VARIES = re.compile(r"0x[0-9a-f]+|\d+")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a cluster of one node; return the path of its configuration."""
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    configuration = folder / "slurm.conf"
    ports = {"controller": free_port(), "node": free_port()}
    configuration.write_text(SLURM.format(**ports, user=getpass.getuser(), folder=folder))
    with daemon(folder, "slurmctld"), daemon(folder, "slurmd", "-N", "localhost"):
        await_idle(folder)
        yield str(configuration)


@contextlib.contextmanager
def daemon(folder: Path, name: str, *options: str) -> Iterator[None]:
    """Run a daemon of Slurm until the block ends; it logs to a file in the folder."""
    program = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") or name
    with (folder / f"{name}.log").open("w") as log:
        command = [program, "-D", "-f", str(folder / "slurm.conf"), *options]
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            yield
        finally:
            process.terminate()
            process.wait(TIMEOUT_S)


def await_idle(folder: Path) -> None:
    """Wait until the cluster's node accepts jobs."""

    def state() -> str:
        return subprocess.run(
            ["sinfo", "--noheader", "--format=%T"], env=environ(SLURM_CONF=str(folder / "slurm.conf")),
            timeout=TIMEOUT_S, capture_output=True, text=True, check=False,
        ).stdout.strip()  # fmt: skip

    until(lambda: state() == "idle", lambda: "\n".join(log.read_text() for log in folder.glob("*.log")))


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Write the programs to two folders; return the environment without the switch."""
    for place in ("bare", "profiled"):
        (tmp_path / place).mkdir()
        for name, text in FILES.items():
            (tmp_path / place / name).write_text(text)
    return environ(OMP_NUM_THREADS="1")


@pytest.fixture(params=[pytest.param("torchrun", marks=pytest.mark.torch), "mpirun", "srun"])
def launcher(request: pytest.FixtureRequest, variables: dict[str, str]) -> Launcher:
    """Return a launcher; add what it needs to the environment."""
    if request.param == "srun":
        variables["SLURM_CONF"] = request.getfixturevalue("slurm")
    return LAUNCHERS[request.param]


def switched(variables: dict[str, str], *options: str) -> dict[str, str]:
    """Return the environment of a shell after it has evaluated what `profkit run` prints."""
    script = 'eval "$("$0" -m profkit run --print-environment "$@")" && env -0'
    printed = subprocess.run(
        ["sh", "-c", script, sys.executable, *options], env=variables, timeout=TIMEOUT_S,
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return dict(line.split("=", 1) for line in printed.split("\0") if line)


def launch(folder: Path, command: Sequence[str], variables: dict[str, str]) -> list[str]:
    """Run a launcher to its end; return its lines in an order of their own, and its exit code."""
    done = subprocess.run(
        command, cwd=folder, env=variables, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, start_new_session=True,
    )  # fmt: skip
    (folder / "output").write_text(done.stdout)
    lines = [*done.stdout.splitlines(), *(f"stderr: {line}" for line in done.stderr.splitlines())]
    return [*sorted(lines), f"exit code: {done.returncode}"]


def launch_both(tmp_path: Path, command: Sequence[str], variables: dict[str, str]) -> list[str]:
    """Run a launcher without and with the switch, check that it does the same, and return what."""
    bare = launch(tmp_path / "bare", command, variables)
    profiled = launch(tmp_path / "profiled", command, switched(variables))
    await_samplers_end(tmp_path)
    assert without_ids(profiled[:-1]) == without_ids(bare[:-1])
    assert profiled[-1] == bare[-1]
    return profiled


def without_ids(lines: Sequence[str]) -> list[str]:
    """Return sorted lines without what differs each time: ids of processes and jobs, times, ports."""
    return sorted(_VARIES.sub("N", re.sub(r"/(bare|profiled)\b", "/FOLDER", line)) for line in lines)


def check_runs(folder: Path, others: Sequence[str] = (), ranks: int = 2) -> None:
    """Check that each process that printed its id keeps a run with its work, and who else keeps one."""
    printed = {int(pid) for pid in re.findall(r"is process (\d+)", (folder / "output").read_text())}
    assert len(printed) == ranks
    runs = runs_in(folder)
    assert sorted(run.info.label for run in runs) == sorted([*["rank.py"] * ranks, *others])
    assert [working_processes(run) for run in runs if run.info.label != "rank.py"] == [set() for _ in others]
    worked = {run.info.process.pid: working_processes(run) for run in runs if run.info.label == "rank.py"}
    assert worked == {pid: {pid} for pid in printed}
    kept = listed(folder)
    assert sorted(run["id"] for run in kept) == sorted(run.info.id for run in runs)


def serve(folder: Path, variables: dict[str, str]) -> tuple[Server, list[Answer]]:
    """Run gunicorn until both workers have worked for a while; return what it answered."""
    options = ["-w", "2", "--no-control-socket", "web:app"]
    with running(folder, lambda port: ["gunicorn", "-b", f"127.0.0.1:{port}", *options], variables) as server:
        answers = server.ask_all(["/"] * 8)
        for _ in range(5):
            server.reach(2, "/reach")
        return server, answers


def working_processes(run: Run) -> set[int]:
    """Return the ids of the processes that work in a run's samples."""
    assert run.profile is not None
    stacks, threads = run.profile.stacks, run.profile.threads
    works = {place for place, frame in enumerate(run.profile.frames) if frame.name == "crunch"}
    return {threads[one.thread].pid for one in run.profile.samples if works & set(stacks[one.stack])}


def test_each_rank_keeps_a_run(tmp_path: Path, variables: dict[str, str], launcher: Launcher) -> None:
    did = launch_both(tmp_path, launcher.command, variables)
    assert did[-1] == "exit code: 0", did
    check_runs(tmp_path / "profiled", launcher.runs)


def test_all_ranks_are_in_one_report(tmp_path: Path, variables: dict[str, str], launcher: Launcher) -> None:
    """Of one job, with the ranks that the launcher gave its processes, and never those of another job."""
    folder, names = tmp_path / "profiled", []
    for _ in range(2):
        command = [sys.executable, "-m", "profkit", "run", "--each", "-o", "report.json", "--"]
        did = launch(folder, [*command, *launcher.command], variables)
        assert did[-1] == "exit code: 0", did
        report = json.loads((folder / "report.json").read_text())
        ranks = {run["rank"]: run["job"] for run in report["merged"]["runs"]}
        assert sorted(ranks) == [0, 1], did
        names += set(ranks.values())
        assert report["run"]["label"] == "rank.py"
    first, second = names
    assert first != second
    kept = [run for run in listed(folder) if run["label"] == "rank.py"]
    places = sorted((run["process"]["member"]["job"], run["process"]["member"]["rank"]) for run in kept)
    assert places == sorted((name, rank) for name in names for rank in (0, 1))
    assert {run["process"]["member"]["world_size"] for run in kept} == {2}


@pytest.mark.torch
@pytest.mark.parametrize("options", [["--windows", "2s"], []], ids=["by an option", "by a variable"])
def test_windows_of_ranks_are_merged_by_rank(
    tmp_path: Path, variables: dict[str, str], options: Sequence[str]
) -> None:
    folder = tmp_path / "profiled"
    if not options:
        variables["PROFKIT_WINDOWS"] = "2s"
    profkit = [sys.executable, "-m", "profkit"]
    command = [*profkit, "run", "--each", *options, "-o", "report.json", "--", *TORCHRUN, "serving.py"]
    did = launch(folder, command, variables)
    assert did[-1] == "exit code: 0", did
    did = launch(folder, [*profkit, "report", "--job", "-o", "again.json"], variables)
    assert did[-1] == "exit code: 0", did
    for name in ("report.json", "again.json"):
        report = json.loads((folder / name).read_text())
        assert report["run"]["label"] == "serving.py"
        ranks = [run["rank"] for run in report["merged"]["runs"]]
        assert set(ranks) == {0, 1}
        assert min(map(ranks.count, ranks)) >= 3, "windows of each"
        assert sorted(process["runs"] for process in report["merged"]["processes"]) == sorted(
            map(ranks.count, (0, 1))
        )
        assert report["run"]["calls"] == 2
    kept = [run for run in listed(folder) if run["label"] == "serving.py"]
    assert len(kept) == len(ranks)
    assert len({run["process"]["member"]["job"] for run in kept}) == 1
    lines = [line for line in launch(folder, [*profkit, "list"], variables) if "serving.py" in line]
    assert len(lines) == 2, "a row for each rank"


def test_ranks_that_fail_keep_runs(tmp_path: Path, variables: dict[str, str], launcher: Launcher) -> None:
    """One exits with 3, and the launcher then ends the other one."""
    did = launch_both(tmp_path, [*launcher.command, "fails"], variables)
    assert did[-1] != "exit code: 0", did
    check_runs(tmp_path / "profiled", launcher.runs)


def test_each_python_of_a_shell_script_keeps_a_run(tmp_path: Path, variables: dict[str, str]) -> None:
    did = launch_both(tmp_path, ["sh", "job.sh", sys.executable], variables)
    assert "the one in the background: 0" in did
    assert did[-1] == "exit code: 3", did
    check_runs(tmp_path / "profiled", ranks=3)


@pytest.mark.parametrize("options", [(), ("--subprocesses",)], ids=["without workers", "with workers"])
def test_gunicorn(tmp_path: Path, variables: dict[str, str], options: Sequence[str]) -> None:
    """Its workers are forks, which are sampled as child processes: in its own run."""
    bare, expected = serve(tmp_path / "bare", variables)
    profiled, answers = serve(tmp_path / "profiled", switched(variables, *options))
    await_samplers_end(tmp_path)
    assert answers == expected
    assert without_ids(profiled.log.splitlines()) == without_ids(bare.log.splitlines())
    assert profiled.code == bare.code == 0
    (run,) = runs_in(tmp_path / "profiled")
    assert (run.info.label, run.info.error) == ("gunicorn", None)
    assert working_processes(run) == (profiled.pids if options else set())


@pytest.mark.torch
@pytest.mark.full
def test_both_ranks(tmp_path: Path) -> None:
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    pair = both(tmp_path, [*torchrun, *program("torch_ranks.py")], OMP_NUM_THREADS="1")
    # What two ranks write at once may come in any order: a line and its end are two writes.
    bare, profiled = (
        sorted(shown(done).replace("rank", " rank").split()) for done in (pair.bare, pair.profiled)
    )
    assert profiled == bare
    assert pair.profiled.returncode == 0
    runs = [run for run in runs_in(pair.folder) if run.info.label == "step"]
    assert len({run.info.process.pid for run in runs}) == 2
    assert len({run.info.region.id for run in runs}) == 1
    colours = []
    for run in runs:
        assert run.info.calls == 10
        assert run.profile is not None
        colours.append({frame.name for frame in run.profile.frames} & {"red", "green"})
    assert sorted(map(sorted, colours)) == [["green"], ["red"]]
