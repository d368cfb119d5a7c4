"""Children of real programs: their CPU time is in the run, and a note says so if they were not sampled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.harness import (
    PROGRAMS,
    ROOT,
    await_samplers_end,
    environment,
    listed,
    profkit,
    reported,
    run_program,
)

pytestmark = pytest.mark.sampler

SPIN = """
import os, subprocess, sys, time
def spin(cpu_s):
    end_s = time.process_time() + cpu_s
    while time.process_time() < end_s:
        sum(range(1000))
"""
FORKED = f"""{SPIN}
reading, writing = os.pipe()
ended, parent = os.pipe()
for _ in range(2):
    if os.fork() == 0:
        os.close(parent)
        spin(0.3)
        os.write(writing, b"x")
        os.read(ended, 1)  # returns when the parent has ended
        os._exit(0)
assert os.read(reading, 1) + os.read(reading, 1) == b"xx"
"""
"""Two forked children that live longer than the program."""
WAITED = f"{SPIN}\nsubprocess.run([sys.executable, '-c', {SPIN + 'spin(0.3)'!r}], check=True)\n"
"""A child that the program has waited for."""
EXITING = f"""{FORKED}
from pathlib import Path
while not any("unrecorded" in path.read_text() for path in Path(".profkit/spool").glob("*/resources.jsonl")):
    time.sleep(0.01)
os._exit(0)
"""
"""A program without exit handlers, which ends after the ticker has seen the children."""


def profiled(folder: Path, program: str, *options: str) -> dict[str, Any]:
    """The report of a program under `profkit run`, as JSON."""
    (folder / "app.py").write_text(program)
    profkit(folder, "run", "-q", *options, "app.py")
    await_samplers_end(folder)
    return reported(folder)


def figures(report: dict[str, Any]) -> dict[str, float] | None:
    """The figures of the note on children that were not sampled."""
    found = [note["figures"] for note in report["run"]["notes"] if note["code"] == "children-unsampled"]
    return found[0] if found else None


@pytest.mark.parametrize(("program", "processes", "least_s"), [(FORKED, 2, 0.6), (WAITED, None, 0.3)])
def test_cpu_time_of_children_is_noted(
    tmp_path: Path, program: str, processes: int | None, least_s: float
) -> None:
    noted = figures(profiled(tmp_path, program))
    assert noted is not None
    assert noted["cpu_s"] >= least_s - 0.03, "the kernel counts in ticks"
    if processes is not None:
        assert noted["processes"] == processes


def test_cpu_time_of_children_is_noted_if_the_program_ends_early(tmp_path: Path) -> None:
    report = profiled(tmp_path, EXITING)
    assert report["run"]["state"] == "ENDED_EARLY"
    assert figures(report) is not None


def test_sampled_children_are_not_noted(tmp_path: Path) -> None:
    report = profiled(tmp_path, FORKED, "--subprocesses")
    assert figures(report) is None
    assert report["resources"]["cpu_share"] > 0


def test_children_with_runs_of_their_own_are_not_noted(tmp_path: Path) -> None:
    run_program(tmp_path, [str(PROGRAMS / "family.py"), "os.fork"], environ=environment(), code=0)
    await_samplers_end(tmp_path)
    runs = listed(tmp_path)
    assert len(runs) == 2
    assert not [note for run in runs for note in run["notes"] if note["code"] == "children-unsampled"]


SLOW_HOOKS = """
import os, time
from profkit.process.fork_hooks import HOOKS, Hooks
def pause():
    time.sleep(0.15)
HOOKS.add(Hooks(pause, pause, pause))
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
"""


def test_profkits_work_at_forks_is_not_named(tmp_path: Path) -> None:
    report = profiled(tmp_path, SLOW_HOOKS)
    named = {function["name"]: function["file"] for function in report["functions"]}
    assert named["pause"].endswith("app.py")
    own = str(ROOT / "profkit")
    assert not [name for name, file in named.items() if file.startswith(own)]
