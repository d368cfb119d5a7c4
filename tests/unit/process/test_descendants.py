"""CPU time of descendants: of which processes it is, and that it never falls."""

from __future__ import annotations

import os
from collections.abc import Set as AbstractSet
from pathlib import Path

import pytest

from profkit.model.session import ChildUsage
from profkit.process import descendants, procfs
from profkit.process.descendants import Descendants, children_of, times_of
from tests.support.proc_folders import ProcFolder

OWN = 10


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProcFolder:
    monkeypatch.setattr(procfs, "PROC", str(tmp_path))
    folder = ProcFolder(tmp_path)
    folder.add(OWN)
    return folder


def nobody() -> AbstractSet[int]:
    return set()


def begun(waited_s: float = 0.0) -> Descendants:
    watched = Descendants(OWN)
    assert watched.look(waited_s, nobody) is None
    return watched


def test_times_of_this_process() -> None:
    times = times_of(os.getpid())
    assert times is not None
    assert times.start_ticks == procfs.start_ticks(os.getpid())
    assert times.threads >= 1
    assert 0 < times.cpu_s <= sum(os.times()[:2]) + 0.001
    assert times_of(2**22 + 1) is None


def test_children_of_any_thread(proc: ProcFolder) -> None:
    proc.add(11, OWN)
    other = proc.path / str(OWN) / "task" / "99"
    other.mkdir()
    (other / "children").write_text("12 13 ")
    assert sorted(children_of(OWN)) == [11, 12, 13]
    assert children_of(77) == []


def test_living_descendants_and_those_waited_for_count(proc: ProcFolder) -> None:
    watched = begun()
    proc.add(11, OWN, 2.0, 0.5)
    proc.add(12, 11, 1.0)
    assert watched.look(0.25, nobody) == ChildUsage(3.75, 3.75, 2)
    proc.end(12)
    proc.add(11, OWN, 2.0, 1.75)
    assert watched.look(0.25, nobody) == ChildUsage(4.0, 4.0, 2)
    proc.end(11)
    assert watched.look(4.5, nobody) == ChildUsage(4.5, 4.5, 2)


def test_time_before_the_session_does_not_count(proc: ProcFolder) -> None:
    proc.add(11, OWN, 5.0)
    watched = begun(100.0)
    assert watched.look(100.0, nobody) is None
    proc.add(11, OWN, 5.5)
    assert watched.look(100.0, nobody) == ChildUsage(0.5, 0.5, 1)


def test_the_time_of_a_child_that_nobody_waits_for_stays(proc: ProcFolder) -> None:
    watched = begun()
    proc.add(11, OWN, 2.0)
    watched.look(0.0, nobody)
    proc.end(11)
    assert watched.look(0.0, nobody) == ChildUsage(2.0, 2.0, 1)
    proc.add(11, OWN, 0.5, start=8)
    assert watched.look(0.0, nobody) == ChildUsage(2.5, 2.5, 2)


def test_the_number_of_many_short_children_is_not_known(proc: ProcFolder) -> None:
    watched = begun()
    proc.add(11, OWN, 0.1)
    assert watched.look(3.0, nobody) == ChildUsage(3.1, 3.1, 0)


def test_processes_that_used_little_are_not_counted(proc: ProcFolder) -> None:
    watched = begun()
    for pid, cpu_s in ((11, 2.0), (12, 1.5), (13, 0.02)):
        proc.add(pid, OWN, cpu_s)
    assert watched.look(0.0, nobody) == ChildUsage(3.52, 3.52, 2)


def test_recorded_children_are_not_missing(proc: ProcFolder) -> None:
    watched = begun()
    proc.add(11, OWN, 2.0)
    proc.add(12, OWN, 1.0)
    assert watched.look(0.0, lambda: {11}) == ChildUsage(3.0, 1.0, 1)
    proc.end(11)
    proc.end(12)
    assert watched.look(4.0, lambda: {11}) == ChildUsage(4.0, 1.0, 1), "which one used the rest is unknown"


def test_helpers_of_profkit_do_not_count(proc: ProcFolder) -> None:
    watchdog = f"python3 -I -S {Path(descendants.__file__).parent / 'watchdog.py'} py-spy record"
    watched = begun()
    proc.add(11, OWN, 0.1, command=watchdog)
    proc.add(12, 11, 2.0, command="py-spy record")
    assert watched.look(0.0, nobody) is None
    proc.end(12)
    proc.end(11)
    assert watched.look(2.1, nobody) is None, "the program has waited for it"
    assert watched.look(2.6, nobody) == ChildUsage(0.5, 0.5, 0)


def test_a_long_session_keeps_few_ended_processes(proc: ProcFolder) -> None:
    watched = begun()
    for number in range(150):
        proc.add(11, OWN, 0.5, start=number)
        usage = watched.look(0.5 * number, nobody)
    assert usage == ChildUsage(75.0, 75.0, 0)
    assert len(watched._ended) == 100


def test_a_process_and_its_children_that_cannot_be_read(proc: ProcFolder) -> None:
    watched = begun()
    proc.add(11, OWN, 1.0)
    (proc.path / "11" / "stat").unlink()
    assert watched.look(0.0, nobody) is None
