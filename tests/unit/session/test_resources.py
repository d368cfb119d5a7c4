"""What a session records of its process: resources, and names of threads that a sampler may not see."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from profkit.clock import ManualClock
from profkit.model.session import ChildUsage, ThreadName
from profkit.process import procfs
from profkit.process.background import RUNNING, BackgroundThread
from profkit.session.resources import (
    KERNEL_BYTES,
    LONGEST,
    ResourceMeter,
    ThreadNames,
    kernel_name,
    no_name,
    resources_of,
)
from profkit.store.spool import create_folder
from tests.support.proc_folders import ProcFolder

OWN = 10
LONG = "connection-pool-worker-3"


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


@contextmanager
def waiting(*names: str) -> Iterator[list[threading.Thread]]:
    """Threads of these names that wait meanwhile."""
    done = threading.Event()
    threads = [threading.Thread(target=done.wait, name=name, daemon=True) for name in names]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        done.set()
        for thread in threads:
            thread.join()


def new(names: ThreadNames, threads: list[threading.Thread]) -> list[ThreadName]:
    """What is new of these threads."""
    own = {thread.native_id for thread in threads}
    return [name for name in names.new() if name.tid in own]


def test_a_name_is_found_once_and_again_if_it_changes() -> None:
    names = ThreadNames(kernel_name)
    with waiting(LONG, "short") as threads:
        tid = threads[0].native_id
        assert tid is not None
        assert new(names, threads) == [ThreadName(tid, "connection-pool", LONG)]
        assert new(names, threads) == []
        threads[0].name = f"{LONG}0"
        assert new(names, threads) == [ThreadName(tid, "connection-pool", f"{LONG}0")]
        threads[0].name = "short"
        assert new(names, threads) == []
    names.new()
    assert tid not in names._recorded, "of threads that have ended, nothing is kept"


def test_py_spy_may_have_none() -> None:
    with waiting(LONG, "short") as threads:
        found = new(ThreadNames(no_name), threads)
    assert [(name.seen, name.name) for name in found] == [("", LONG), ("", "short")]


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("x" * KERNEL_BYTES, "x" * KERNEL_BYTES),
        ("x" * 16, "x" * 15),
        ("Rückübergrößenträger", "Rückübergrö\N{REPLACEMENT CHARACTER}"),
        ("日本語のスレッド", "日本語のス"),
        ("🧵" * 4, "🧵" * 3 + "\N{REPLACEMENT CHARACTER}"),
        ("lone \udc80 surrogate", "lone ? surrogat"),
        ("nul\0after", "nul"),
        ("line\n", "line"),
        ("", ""),
    ],
)
def test_what_the_kernel_has(name: str, seen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: "utf-8")
    assert kernel_name(name) == seen


def test_a_very_long_name_is_cut() -> None:
    with waiting("y" * 10_000) as threads:
        (found,) = new(ThreadNames(kernel_name), threads)
    assert found.name == "y" * LONGEST


@pytest.mark.reader
def test_the_kernel_has_them_indeed() -> None:
    given = [LONG, "Rückübergrößenträger", "日本語のスレッド", "lone \udc80 surrogate", "short"]
    with waiting(*given) as threads:
        for thread in threads:
            with open(f"/proc/self/task/{thread.native_id}/comm", "rb") as file:
                comm = file.read().rstrip(b"\n").decode("utf-8", "replace")
            assert comm == kernel_name(thread.name)


def test_no_code_of_the_program_runs() -> None:
    class Odd(threading.Thread):
        @property
        def name(self) -> str:
            raise AssertionError("called")

        native_id = name  # type: ignore[assignment]

    done = threading.Event()
    odd = Odd(target=done.wait, daemon=True)
    odd._name = LONG  # type: ignore[attr-defined]
    odd.start()
    try:
        found = {name.tid: name.name for name in ThreadNames(kernel_name).new()}
        assert found[odd._native_id] == LONG  # type: ignore[attr-defined]
    finally:
        done.set()
        odd.join()


def test_a_program_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "threading")
    assert ThreadNames(kernel_name).new() == ()
    assert "threading" not in sys.modules
    pairs = ((None, LONG), (3, 4), (os.getpid(), LONG))
    for odd in (object(), *(SimpleNamespace(_native_id=tid, _name=name) for tid, name in pairs)):
        monkeypatch.setitem(sys.modules, "threading", SimpleNamespace(_active={1: odd}))  # type: ignore[arg-type]
        assert ThreadNames(kernel_name).new() == ()
    monkeypatch.setitem(sys.modules, "threading", SimpleNamespace())  # type: ignore[arg-type]
    assert ThreadNames(kernel_name).new() == ()
