"""Real recordings by py-spy of a program whose regions are known, read back as runs."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from profkit.ingest.keep import ingest
from profkit.ingest.read import FolderRuns, read_runs
from profkit.model.profile import Frame
from profkit.model.run import Run
from profkit.model.session import SessionState
from profkit.store.runs import open_store
from profkit.store.spool import session_folders
from profkit.transforms.origin import OWN_CODE
from profkit.transforms.tables import thread_rows
from tests.integration import marked_program
from tests.support.waiting import until

PROGRAM = marked_program.__file__
ROUNDS = marked_program.ROUNDS

pytestmark = [pytest.mark.sampler, pytest.mark.gil]


def record(spool: Path, blocking: str, end: str = "ends") -> FolderRuns:
    program = [sys.executable, "-m", "tests.integration.marked_program", str(spool), blocking, end]
    done = subprocess.run(program, cwd=Path(PROGRAM).parents[2], check=False, timeout=120)
    assert done.returncode == (-signal.SIGKILL if end == "killed" else 0)
    (folder,) = session_folders(spool)
    return read_when_written(folder)


def read_when_written(folder: Path) -> FolderRuns:
    """py-spy writes its file when its target has died, and it may take a moment."""
    until(lambda: not read_runs(folder).live)
    return read_runs(folder)


def by_name(found: FolderRuns) -> dict[str, Run]:
    assert found.damaged == ()
    return {run.info.label: run for run in found.runs}


def stacks(run: Run) -> dict[tuple[Frame, ...], int]:
    assert run.profile is not None
    weights: dict[tuple[Frame, ...], int] = {}
    for stack, _, weight in run.profile.samples:
        key = tuple(run.profile.frames[index] for index in run.profile.stacks[stack])
        weights[key] = weights.get(key, 0) + weight
    return weights


def strange(run: Run, functions: set[str]) -> int:
    """The weight of stacks with a function that the region never calls."""
    return sum(weight for stack, weight in stacks(run).items() if {frame.name for frame in stack} - functions)


CALLED = {
    "train": {"train", "spin", "step"},
    "load": {"load", "spin", "step"},
    "outer": {"outer", "load", "spin", "step"},
    "block": {"block", "load", "spin", "step"},
}


@pytest.mark.parametrize("blocking", ["blocking", "nonblocking"])
def test_samples_are_those_of_their_regions(tmp_path: Path, blocking: str) -> None:
    found = record(tmp_path, blocking)
    runs = by_name(found)
    assert list(runs) == list(CALLED)
    for label, run in runs.items():
        info = run.info
        assert info.state is SessionState.SUCCESS
        assert info.calls == (3 * ROUNDS if label == "load" else ROUNDS)
        assert {stack[0].name for stack in stacks(run)} == {label}
        assert not any(OWN_CODE.holds(frame.file) for stack in stacks(run) for frame in stack)
        # Calls are 10 ms and longer: nonblocking may mix neighbours into a few stacks.
        allowed = 0 if blocking == "blocking" else 0.02 * info.samples + 2
        assert strange(run, CALLED[label]) <= allowed
        assert info.torn <= allowed


@pytest.mark.full  # on a busy machine, the sampler keeps no rate
def test_samples_are_as_many_as_the_time_of_their_regions(tmp_path: Path) -> None:
    for label, run in by_name(record(tmp_path, "nonblocking")).items():
        info = run.info
        assert info.achieved_hz == pytest.approx(info.plan.rate_hz, rel=0.25)
        wanted = info.wall_s * info.achieved_hz
        assert abs(info.samples - wanted) <= max(0.15 * wanted, 4 * math.sqrt(wanted)), label


def test_a_block_has_the_lines_of_its_body_alone(tmp_path: Path) -> None:
    run = by_name(record(tmp_path, "blocking"))["block"]
    assert {stack[0].line for stack in stacks(run)} == set(marked_program.BLOCK.body)


def test_a_region_has_the_threads_that_called_it(tmp_path: Path) -> None:
    runs = by_name(record(tmp_path, "blocking"))
    profile, pid = runs["load"].profile, runs["load"].info.process.pid
    assert profile is not None
    assert {row.thread.name for row in thread_rows(profile)} == {"MainThread", "helper"}
    assert {row.thread.pid for row in thread_rows(profile)} == {pid}
    assert runs["outer"].profile is not None
    assert {row.thread.name for row in thread_rows(runs["outer"].profile)} == {"MainThread"}


def test_a_killed_process_is_kept_with_its_samples(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    runs = by_name(record(spool, "nonblocking", "killed"))
    assert min(run.info.samples for run in runs.values()) > 0
    for run in runs.values():
        assert (run.info.state, run.info.calls) == (SessionState.ENDED_EARLY, 0)
    with open_store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        added = {info.id: info.samples for info in ingest(spool, store).added}
        assert added == {run.info.id: run.info.samples for run in runs.values()}
        assert {info.id for info in store.runs()} == set(added)
    assert session_folders(spool) == ()
