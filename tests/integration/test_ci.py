"""The scripts in `.ci`, in a small checkout with programs in place of their suites."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.waiting import until

CI = Path(__file__).parents[2] / ".ci"
PYTHON = """#!/bin/sh
case $1 in
    -c) echo disks; exit {registry} ;;
    -m) echo "$@"; case $2 in *unsteady) exit {unsteady} ;; *.faults) {fault} ;; esac ;;
    *) echo "$@" ;;
esac
"""
PYTHONS = """#!/bin/sh
[ $# -gt 0 ] || {{ echo 3.13; exit; }}
echo "== 1 passed, 2 deselected in 3.00s =="
case "$*" in
    *"--with neighbours"*) exit {neighbours} ;;
    *) exit {suite} ;;
esac
"""


def checkout(
    folder: Path,
    *,
    suite: int = 0,
    neighbours: int = 0,
    registry: int = 0,
    unsteady: int = 0,
    fault: str = "exit 0",
) -> Path:
    """Return a folder with the script, suites with these exit codes, and a fault with these commands."""
    shutil.copytree(CI, folder / ".ci")
    script(
        folder / ".venv" / "bin" / "python", PYTHON.format(registry=registry, unsteady=unsteady, fault=fault)
    )
    script(folder / "tests" / "pythons.sh", PYTHONS.format(suite=suite, neighbours=neighbours))
    (folder / ".gitignore").write_text(".ci-full\n.venv\n")
    git = ("git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "Begin")):
        subprocess.run([*git, *command], check=True)
    return folder


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def full(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([folder / ".ci" / "full", *arguments], cwd=folder, capture_output=True, text=True)


def listed(folder: Path, part: str) -> list[str]:
    lines = full(folder, "--list").stdout.splitlines()
    return next(line.split(maxsplit=2) for line in lines if line.split()[0] == part)


def lines_of(folder: Path, file: str) -> list[str]:
    """Return the lines of a file beside the parts' logs."""
    return next((folder / ".ci-full").glob(f"*/{file}")).read_text().splitlines()


@pytest.mark.parametrize(("suite", "neighbours"), [(1, 0), (0, 1), (1, 1)])
def test_a_part_fails_with_any_of_its_suites(suite: int, neighbours: int, tmp_path: Path) -> None:
    folder = checkout(tmp_path, suite=suite, neighbours=neighbours)
    run = full(folder, "python:3.13")
    assert run.returncode == 1
    assert "not passed: python:3.13 (failed)" in run.stderr
    assert listed(folder, "python:3.13")[1] == "failed"


def test_a_part_that_passed_is_remembered_with_the_numbers_of_its_tests(tmp_path: Path) -> None:
    folder = checkout(tmp_path)
    assert full(folder, "python:3.13").returncode == 0
    tallies = "1 passed, 2 deselected"
    assert listed(folder, "python:3.13") == ["python:3.13", "passed", f"{tallies}; {tallies}"]
    assert listed(folder, "faults:disks") == ["faults:disks"]
    assert "= python:3.13 passed before" in full(folder).stdout.splitlines()


@pytest.mark.parametrize(("status", "verdict", "code"), [(75, "unavailable", 1), (3, "untested", 0)])
def test_what_cannot_be_tested_is_no_failure(status: int, verdict: str, code: int, tmp_path: Path) -> None:
    folder = checkout(tmp_path, suite=status)
    assert full(folder, "python:3.12").returncode == code
    assert listed(folder, "python:3.12")[1] == verdict


def test_a_fault_that_was_killed_goes_on_from_its_last_injection(tmp_path: Path) -> None:
    folder = checkout(tmp_path, fault="echo injected >>$7; kill -KILL $$")
    for injected in (1, 2):
        run = full(folder, "faults:disks")
        assert run.returncode == 1
        assert "not passed: faults:disks (interrupted)" in run.stderr
        assert listed(folder, "faults:disks")[1] == "interrupted"
        assert lines_of(folder, "faults:disks.jsonl") == ["injected"] * injected


@pytest.mark.parametrize(("unsteady", "verdict"), [(0, "passed"), (1, "failed")])
def test_unsteady_tests_are_checked_last_and_again_each_time(
    unsteady: int, verdict: str, tmp_path: Path
) -> None:
    folder = checkout(tmp_path, unsteady=unsteady)
    for _ in range(2):
        run = full(folder)
        assert run.returncode == unsteady
        assert run.stdout.splitlines()[-2:] == ["= unsteady", "-m tests.support.unsteady"]
    assert listed(folder, "unsteady") == ["unsteady", verdict]


def test_without_the_list_of_faults_nothing_is_run(tmp_path: Path) -> None:
    run = full(checkout(tmp_path, registry=1))
    assert (run.returncode, run.stdout) == (1, "")


def test_an_unknown_part_is_refused(tmp_path: Path) -> None:
    run = full(checkout(tmp_path), "python:2.7")
    assert run.returncode == 2
    assert "there is no part python:2.7" in run.stderr


README = """
<!-- tests -->
```console
cp -r programs .venv && .venv/bin/python the suite
```
"""
PROGRAM = """#!/bin/sh
echo "$(basename "$0") $*"
case "$(basename "$0") $*" in {failing}) exit 1 ;; esac
"""
HANGING = "#!/bin/sh\necho $$ >pid\nsleep 600\n"
BESIDE = {"sources": "mypy*", "faults": "python -m benchmarks.faults*", "pythons": "pythons.sh 3.13*"}
AT_ONCE = ["programs.sh ", "python the suite", "pip install*", "python -m pytest*"]


def prepared(folder: Path, failing: str = "nothing") -> Path:
    """Return a folder with the script and with programs, those of this pattern failing."""
    shutil.copytree(CI, folder / ".ci")
    (folder / "README.md").write_text(README)
    program = PROGRAM.format(failing=failing.replace(" ", "\\ "))
    for name in ("python", "pip", "ruff", "mypy", "pyright"):
        script(folder / "programs" / "bin" / name, program)
    for name in ("programs.sh", "pythons.sh"):
        script(folder / "tests" / name, program)
    return folder


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([folder / ".ci" / "run"], capture_output=True, text=True)


def test_a_run_passes_with_all_its_parts(tmp_path: Path) -> None:
    done = run(prepared(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    ended = [line for line in done.stdout.splitlines() if "has ended" in line]
    assert ended == [f"= {part} has ended with exit status 0:" for part in BESIDE]


@pytest.mark.parametrize("part", BESIDE)
def test_a_part_that_fails_beside_the_others_fails_the_run(part: str, tmp_path: Path) -> None:
    done = run(prepared(tmp_path, BESIDE[part]))
    assert (done.returncode, done.stderr) == (1, f"not passed: {part}\n")
    _, output = done.stdout.split(f"= {part} has ended with exit status 1:\n")
    assert BESIDE[part].rstrip("*") in output


@pytest.mark.parametrize("failing", AT_ONCE)
def test_any_other_failure_ends_the_run_and_all_parts(failing: str, tmp_path: Path) -> None:
    folder = prepared(tmp_path, failing)
    script(folder / "tests" / "pythons.sh", HANGING)
    assert run(folder).returncode == 1
    if failing != AT_ONCE[0]:
        pid = int((folder / "pid").read_text())
        until(lambda: not is_alive(pid))


def is_alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)
        return True
    return False
