"""Starts of py-spy that fail: what is said, and what is tried again."""

from __future__ import annotations

import os
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from profkit.samplers.pyspy import PySpySampler
from tests.integration.harness import await_samplers_end, environment, listed, run_program

BUSY = "nonblocking-busy"
"""Note of a run on a busy machine."""

pytestmark = [pytest.mark.sampler, pytest.mark.timeout(120), pytest.mark.gil, pytest.mark.alone]

PROGRAM = """
from profkit import profile
from tests.integration.programs.spinning import spin
@profile(rate=100, sampler="pyspy")
def work():
    spin(0.3)
work()
print("done")
"""
FAILING = """#!/bin/sh
echo tried >> {folder}/tries
if [ $(wc -l < {folder}/tries) -le {failures} ]; then
    echo "thread 'main' panicked at somewhere"
    {end}
fi
exec {real} "$@"
"""


def run_with(folder: Path, *, failures: int, end: str) -> CompletedProcess[str]:
    """Run a profiled program with a py-spy that fails so many times."""
    programs = folder / "bin"
    programs.mkdir()
    text = FAILING.format(folder=folder, failures=failures, end=end, real=PySpySampler().find())
    (programs / "py-spy").write_text(text)
    (programs / "py-spy").chmod(0o755)
    (folder / "program.py").write_text(PROGRAM)
    environ = environment(PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    done = run_program(folder, ["program.py"], environ=environ)
    await_samplers_end(folder)
    assert (done.stdout, done.returncode) == ("done\n", 0)
    return done


def tries(folder: Path) -> int:
    return len((folder / "tries").read_text().splitlines())


@pytest.mark.parametrize("end", ["exit 101", "kill -SEGV $$", "exit 0"])
@pytest.mark.slow
def test_a_start_that_fails_once_is_repeated(tmp_path: Path, end: str) -> None:
    done = run_with(tmp_path, failures=1, end=end)
    assert done.stderr == ""
    assert tries(tmp_path) == 2
    (run,) = listed(tmp_path)
    assert run["samples"] > 10
    (note,) = [note for note in run["notes"] if note["code"] != BUSY]
    assert note["code"] == "started-twice"
    assert "panicked" in note["figures"]["detail"]


@pytest.mark.parametrize(
    ("end", "how"), [("exit 101", "with exit status 101"), ("kill -SEGV $$", "by signal 11 (SIGSEGV)")]
)
def test_a_start_that_fails_again_is_explained(tmp_path: Path, end: str, how: str) -> None:
    done = run_with(tmp_path, failures=9, end=end)
    (line,) = done.stderr.splitlines()
    assert (
        f"it ended without its output, {how}, after printing \"thread 'main' panicked at somewhere\"" in line
    )
    assert "second of two tries" in line
    assert f"the command was `{tmp_path}/bin/py-spy record -p " in line
    assert tries(tmp_path) == 2


@pytest.mark.slow
def test_a_script_that_starts_py_spy_after_a_while_is_no_sampler_yet(tmp_path: Path) -> None:
    done = run_with(tmp_path, failures=1, end=f'trap : INT; sleep 0.5; exec {PySpySampler().find()} "$@"')
    assert done.stderr == ""
    assert tries(tmp_path) == 1
    (run,) = listed(tmp_path)
    assert (run["error"], [note for note in run["notes"] if note["code"] != BUSY]) == (None, [])


def test_a_py_spy_that_cannot_be_executed(tmp_path: Path) -> None:
    done = run_with(tmp_path, failures=9, end="exit 1")
    (tmp_path / "bin" / "py-spy").write_bytes(b"\x7fELF is no program")
    done = run_program(tmp_path, ["program.py"], environ=environment(PATH=str(tmp_path / "bin")))
    (line,) = done.stderr.splitlines()
    assert "Exec format error" in line
    assert f"make sure that {tmp_path}/bin/py-spy is executable" in line
