"""Programs in which profkit cannot do its work run as they would without it, and hear of it once."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import copy

import pytest

from tests.integration.harness import PROGRAMS, await_samplers_end, environment, run_program

pytestmark = pytest.mark.sampler

PROGRAM = "in_odd_places.py"
HIDDEN = [
    "secrets", "glob", "statistics", "bisect", "random", "token", "array", "select", "string", "json",
    "logging", "email", "signal", "shutil", "psutil", "hashlib", "dis",
]  # fmt: skip


def outputs(folder: Path, *argv: str) -> tuple[str, str]:
    """stdout and stderr of the program; its output and exit code are those that it has without profkit."""
    profiled = run_program(folder, [PROGRAM, *argv])
    bare = run_program(folder, [PROGRAM, *argv], environ=environment(PROFKIT_DISABLE="1"))
    assert (profiled.returncode, profiled.stdout) == (bare.returncode, bare.stdout), profiled.stderr
    assert profiled.returncode == 0, profiled.stderr
    await_samplers_end(folder)
    return profiled.stdout, profiled.stderr


def place(folder: Path) -> Path:
    copy(PROGRAMS / PROGRAM, folder)
    return folder


@pytest.mark.parametrize("module", HIDDEN)
def test_a_file_that_hides_a_standard_module(tmp_path: Path, module: str) -> None:
    (place(tmp_path) / f"{module}.py").write_text("VALUE = 1\n")
    said = outputs(tmp_path, "nothing")[1].splitlines()
    assert "Traceback" not in said
    assert len([line for line in said if "profiled" in line or "profkit" in line]) <= 2, said


@pytest.mark.parametrize("module", ["token", "bisect"])
def test_what_is_hidden_is_named_with_the_way_out(tmp_path: Path, module: str) -> None:
    hiding = place(tmp_path) / f"{module}.py"
    hiding.write_text("VALUE = 1\n")
    said = outputs(tmp_path, "nothing")[1]
    assert f"{hiding} hides the standard module {module!r}" in said
    assert said.count("profiled") == 1


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems_run_it_unprofiled_with_one_warning(tmp_path: Path, platform: str) -> None:
    said = outputs(place(tmp_path), f"platform {platform}")[1]
    assert said == f"nothing is profiled: profkit profiles on Linux, and this is {platform}\n"
    assert not (tmp_path / ".profkit").exists()


@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("what", ["chroot", "setuid", "descriptors", "no folder", "closerange"])
def test_what_the_program_does_to_itself_breaks_no_call(tmp_path: Path, what: str, when: str) -> None:
    """Before profkit's first call, and after it."""
    elsewhere = place(tmp_path) / "elsewhere"
    for _ in range(2):  # the program runs twice, and removes it
        elsewhere.mkdir(exist_ok=True)
        said = run_program(tmp_path, [PROGRAM, what, str(elsewhere), when])
        assert (said.returncode, said.stdout.splitlines()[-1]) == (0, "done"), said.stderr
        assert "Traceback" not in said.stderr, said.stderr
        assert len([line for line in said.stderr.splitlines() if "unprofiled" in line]) <= 2, said.stderr


def test_strict_encodings_and_warnings(tmp_path: Path) -> None:
    flags = ["-X", "warn_default_encoding", "-W", "error"]
    done = run_program(place(tmp_path), [*flags, PROGRAM, "nothing"])
    assert (done.returncode, done.stderr) == (0, "")
    assert os.listdir(tmp_path / ".profkit" / "spool")
