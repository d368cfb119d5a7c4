"""pdb, debugpy, coverage, cProfile and freezegun around a program with profiled functions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.harness import await_samplers_end
from tests.neighbours.harness import PROGRAMS, assert_same, both, environ, program, seen

COUNTS = {"outer": 1, "inner": 4, "numbers": 1, "block": 1}


def check_counts(folder: Path, times: int = 1) -> None:
    found = seen(folder)
    assert {label: found[label].calls for label in COUNTS} == {
        label: calls * times for label, calls in COUNTS.items()
    }


def debugged(folder: Path, commands: str, disabled: str) -> str:
    """What pdb shows when it is given these commands."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "pdb", *program("debugged.py")], input=commands, cwd=folder, text=True,
        env=environ(PROFKIT_DISABLE=disabled), capture_output=True, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


COMMANDS = {
    "breakpoints": "b inner\nc\np value\nc\np value\nw\nb 1000\ncl 1\nc\nq\n",
    "next": "b main\nc\nn\nn\nn\nn\nc\nq\n",
    "until": "b inner, value == 3\nc\np value\nr\np __return__\nc\nq\n",
}


@pytest.mark.parametrize("commands", COMMANDS)
def test_pdb(tmp_path: Path, commands: str) -> None:
    bare = debugged(tmp_path / "bare", COMMANDS[commands], "1")
    profiled = debugged(tmp_path / "profiled", COMMANDS[commands], "0")
    await_samplers_end(tmp_path)
    assert without_own_frames(profiled) == bare
    check_counts(tmp_path / "profiled", bare.count("The program finished and will be restarted"))


def without_own_frames(text: str) -> str:
    return re.sub(r"^  \S*/profkit/\S+\(\d+\).*\n(-> .*\n)?", "", text, flags=re.MULTILINE)


def test_pdb_of_an_error(tmp_path: Path) -> None:
    """The post-mortem of an error in a profiled function stands where the error was raised."""
    done = subprocess.run(
        [sys.executable, "-m", "pdb", "-c", "c", *program("debugged.py", "fail")],
        input="p value\nw\nq\nq\n", cwd=tmp_path, text=True, env=environ(), capture_output=True, timeout=60,
    )  # fmt: skip
    assert "TypeError: unsupported operand" in done.stderr + done.stdout
    assert 'inner("x" - 1)' in done.stdout


@pytest.mark.full
def test_debugpy(tmp_path: Path) -> None:
    """A program under debugpy's tracing, which patches threads and the start of processes."""
    argv = ["-Xfrozen_modules=off", "-m", "debugpy", "--listen", "127.0.0.1:0", *program("debugged.py")]
    pair = both(tmp_path, argv)
    assert_same(pair)
    check_counts(pair.folder)


def test_coverage(tmp_path: Path) -> None:
    pair = both(tmp_path, ["-m", "coverage", "run", "--include", f"{PROGRAMS}/*", *program("debugged.py")])
    assert_same(pair)
    check_counts(pair.folder)
    reports = [
        subprocess.run(
            [sys.executable, "-m", "coverage", "report", "-m"], cwd=folder, text=True, capture_output=True,
            check=True,
        ).stdout
        for folder in (pair.folder, pair.folder.parent / "bare")
    ]  # fmt: skip
    assert reports[0] == reports[1]


def test_cprofile(tmp_path: Path) -> None:
    pair = both(tmp_path, ["-m", "cProfile", "-o", "profile.pstats", *program("debugged.py")])
    assert_same(pair)
    check_counts(pair.folder)


@pytest.mark.parametrize("when", ["first", "later"])
def test_freezegun(tmp_path: Path, when: str) -> None:
    pair = both(tmp_path, program("frozen_clock.py", when))
    assert_same(pair)
    found = seen(pair.folder)
    assert found["work"].calls == (13 if when == "later" else 12)
    assert found["work"].wall_s > 0.2
    assert found["work"].share("red") > 0.85
