"""The fault campaign as a program: it injects, counts, and fails if a fault could not be injected."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from benchmarks.faults.programs.calling import BAD
from tests.integration.harness import environment, run_program

pytestmark = pytest.mark.sampler

TWO_DISKS = """
import subprocess, sys
from benchmarks.faults.sandbox import sandbox

def locked_in(folder, box, kind):
    path = folder / "file"
    with path.open("w+") as opened:
        code = f"import fcntl; fcntl.{kind}({opened.fileno()}, fcntl.LOCK_EX); print(flush=True); input()"
        argv = [sys.executable, "-c", code]
        with subprocess.Popen(argv, pass_fds=[opened.fileno()], stdin=-1, stdout=-1) as child:
            child.stdout.readline()
            held = box.held_locks()
            child.stdin.close()
    return path.lstat().st_ino, [str(path.relative_to(box.root)) for path in held]

with sandbox() as box:
    other = box.root.with_name(box.root.name + "-other")
    other.mkdir()
    try:
        for folder in (box.work, other):
            subprocess.run(["mount", "-t", "tmpfs", "none", str(folder)], check=True)
        print([locked_in(folder, box, kind) for folder in (box.work, other) for kind in ("flock", "lockf")])
    finally:
        for folder in (box.work, other):
            subprocess.run(["umount", "--lazy", str(folder)], check=False)
        other.rmdir()
"""
"""Locks of a file in a sandbox, and of one on another disk that has the same inode."""
COUNTS = ("processes_left", "files_left", "locks_left", "changed")


@pytest.mark.outside
def test_a_fault_is_injected_and_counted(tmp_path: Path) -> None:
    table, outcomes = tmp_path / "table.json", tmp_path / "outcomes.jsonl"
    arguments = ["-m", "benchmarks.faults", "--only", "target-kills", "--seed", "1", "--iterations", "0"]
    arguments += ["--json", str(table), "--resume", str(outcomes)]
    done = run_program(tmp_path, arguments, code=0)
    (row,) = json.loads(table.read_text("utf-8"))["faults"]
    assert (row["injected"], row["verdict"], row["recovered"]) == (1, "held", row["taken"])
    assert [row[name] for name in COUNTS] == [0, 0, 0, 0]
    assert "target-kills" in done.stdout
    again = run_program(tmp_path, arguments)
    assert (again.returncode, again.stderr) == (0, ""), "what is in the file is not injected again"
    assert len(outcomes.read_text("utf-8").splitlines()) == 1


@pytest.mark.slow
def test_every_future_of_isolated_calls_ends(tmp_path: Path) -> None:
    numbers = [
        str(list(BAD).index(variant)) for variant in ("crash", "kill-zygote", "stop-supervisor", "cancel")
    ]
    table = tmp_path / "table.json"
    arguments = ["-m", "benchmarks.faults", "--only", "pool", "--iterations", *numbers, "--json", str(table)]
    run_program(tmp_path, arguments, code=0)
    (row,) = json.loads(table.read_text("utf-8"))["faults"]
    assert (row["injected"], row["verdict"]) == (4, "held")
    assert row["recovered"] == row["taken"] == 4 * 25
    assert [row[name] for name in COUNTS] == [0, 0, 0, 0]


def test_a_fault_that_cannot_be_injected_is_a_failure(tmp_path: Path) -> None:
    environ = environment(PATH=str(tmp_path))  # without unshare
    arguments = ["-m", "benchmarks.faults", "--only", "disks", "--iterations", "0"]
    done = run_program(tmp_path, arguments, environ=environ, code=1)
    assert "not run" in done.stdout
    assert "--only disks --seed 4 --iterations 0" in done.stdout


def test_locks_are_those_of_the_sandbox(tmp_path: Path) -> None:
    unshared = ["unshare", "--mount", "--propagation", "private"]
    done = run_program(tmp_path, ["-c", TWO_DISKS], launcher=unshared, code=0)
    flocked, locked, *others = ast.literal_eval(done.stdout)
    assert flocked[0] == locked[0] == others[0][0], "the files have one inode"
    assert flocked[1] == locked[1] == ["work/file"]
    assert [held for _, held in others] == [[], []]


def test_an_unknown_fault_is_refused(tmp_path: Path) -> None:
    done = run_program(tmp_path, ["-m", "benchmarks.faults", "--only", "earthquakes"], code=2)
    assert "sampler-kills" in done.stderr
