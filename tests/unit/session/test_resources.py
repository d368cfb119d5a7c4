"""What a session records of its process's resources, and when."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.model.session import ChildUsage
from profkit.process import procfs
from profkit.process.background import RUNNING, BackgroundThread
from profkit.session.resources import ResourceMeter, resources_of
from profkit.store.spool import create_folder
from tests.support.proc_folders import ProcFolder

OWN = 10


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProcFolder:
    folder = ProcFolder(tmp_path / "proc")
    monkeypatch.setattr(procfs, "PROC", str(folder.path))
    folder.add(OWN, cpu_s=1.5)
    return folder


def meter(tmp_path: Path, clock: ManualClock) -> ResourceMeter:
    return ResourceMeter(OWN, create_folder(tmp_path / "spool", "20251121T114903-10-aa"), clock)


def test_a_point_has_the_process_and_its_children(proc: ProcFolder, tmp_path: Path) -> None:
    clock = ManualClock()
    measured = meter(tmp_path, clock)
    point = measured.point()
    assert point is not None
    assert (point.cpu_s, point.threads, point.children) == (1.5, 1, None)
    assert point.rss_bytes == procfs.resident_bytes(OWN) > 0
    proc.add(11, OWN, 2.0)
    clock.sleep(1.0)
    point = measured.point()
    assert point is not None
    assert point.children == ChildUsage(2.0, 2.0, 1)
    proc.end(OWN)
    assert measured.point() is None
    assert resources_of(OWN, clock) is None


def test_children_with_sessions_of_their_own_are_recorded(proc: ProcFolder, tmp_path: Path) -> None:
    measured = meter(tmp_path, ManualClock())
    measured.point()
    create_folder(tmp_path / "spool", "20251121T114902-12-bb")
    create_folder(tmp_path / "spool", "20251121T114903-11-bb")
    proc.add(11, OWN, 2.0)
    proc.add(12, OWN, 1.0)
    point = measured.point(is_last=True)
    assert point is not None
    assert point.children == ChildUsage(3.0, 1.0, 1)


def test_children_are_looked_at_less_often_if_that_takes_long(
    proc: ProcFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, looks = ManualClock(), []
    measured = meter(tmp_path, clock)

    def look(*_: object) -> None:
        looks.append(clock.monotonic_s())
        clock.sleep(0.05)

    monkeypatch.setattr(measured._descendants, "look", look)
    for _ in range(6):
        measured.point()
        clock.sleep(1.0)
    assert len(looks) == 2, "once in five seconds"
    measured.point(is_last=True)
    assert len(looks) == 3


def test_profkits_own_threads_do_not_count() -> None:
    before = resources_of(os.getpid(), ManualClock())
    RUNNING.add(thread := BackgroundThread(lambda: None))
    try:
        after = resources_of(os.getpid(), ManualClock())
    finally:
        RUNNING.discard(thread)
    assert before is not None
    assert after is not None
    assert after.threads == before.threads - 1
