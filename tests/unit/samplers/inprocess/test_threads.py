"""Numbers of threads, also in programs that patch `threading`, and subinterpreters of the program."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.samplers.inprocess import frames
from profkit.samplers.inprocess.frames import Threads, ThreadWay, main_ident
from profkit.samplers.inprocess.timer import TimerWay
from profkit.samplers.inprocess.ways import Request, WayFailed, check_frames, has_other_interpreters
from tests.integration.harness import environment


def test_the_main_thread_has_the_number_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """gevent lists it by the number of a greenlet."""
    monkeypatch.setattr(threading, "_active", {77: threading.main_thread()})
    known = Threads(os.getpid())
    ident = threading.get_ident()
    assert known.tid(ident) == os.getpid()
    assert known.name(os.getpid(), os.getpid()) == "MainThread"
    with ThreadPoolExecutor(1) as others:
        assert others.submit(lambda: Threads(os.getpid()).tid(ident)).result() == os.getpid()


def test_the_main_thread_is_known_if_another_one_asks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_MAIN", {})
    with ThreadPoolExecutor(1) as others:
        assert others.submit(main_ident).result() == threading.get_ident()


def test_other_threads_have_their_own_numbers_and_names(monkeypatch: pytest.MonkeyPatch) -> None:
    class Named(threading.Thread):
        @property
        def name(self) -> str:  # type: ignore[override]
            raise AssertionError("the program's code runs")

    thread = Named()
    thread.__dict__.update(_native_id=12, _name="worker")
    active = {5: thread, 6: SimpleNamespace(_native_id=None, _name="greenlet")}
    monkeypatch.setattr(threading, "_active", active)
    known = Threads(os.getpid())
    assert [known.tid(ident) for ident in (5, 6, 7)] == [12, 6, 7]
    assert known.name(os.getpid(), 12) == "worker"


BESIDE_AN_INTERPRETER = """
import importlib, sys
from profkit.samplers.inprocess.ways import has_other_interpreters
from profkit.samplers.inprocess.ways import WayFailed
from tests.unit.samplers.inprocess.test_threads import WAYS, request_in, sample_until_failure

make, request = WAYS[sys.argv[1]], request_in(sys.argv[2])
name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
interpreters = importlib.import_module(name)
assert not has_other_interpreters()
way = make(request)
way.start()
number = interpreters.create()
failures = []
for work in (lambda: make(request).start(), lambda: sample_until_failure(way)):
    try:
        work()
    except WayFailed as failure:
        failures.append("has subinterpreters" in str(failure))
assert has_other_interpreters()
way.stop()
way.await_end()
interpreters.destroy(number)
assert not has_other_interpreters()
assert failures == [True, True], failures
"""
WAYS: dict[str, type[TimerWay | ThreadWay]] = {"timer": TimerWay, "thread": ThreadWay}


def request_in(folder: str) -> Request:
    path = Path(folder)
    return Request(os.getpid(), path / "output", path / "log", 100.0, True, 60.0, SYSTEM_CLOCK)


@pytest.mark.parametrize("way", WAYS)
def test_frames_are_not_listed_beside_subinterpreters(tmp_path: Path, way: str) -> None:
    """CPython 3.12 and later may crash then. In a process of its own: others stop checking the GIL."""
    if sys.version_info < (3, 12):
        assert not has_other_interpreters()
        return
    done = subprocess.run(
        [sys.executable, "-c", BESIDE_AN_INTERPRETER, way, str(tmp_path)], env=environment(),
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_frames_of_3_13_are_not_read_without_a_gil(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them can crash there, which 3.14 fixed."""
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    monkeypatch.setattr(sys, "version_info", (3, 14))
    check_frames()
    monkeypatch.setattr(sys, "version_info", (3, 13))
    with pytest.raises(WayFailed, match="cannot read the frames of other threads"):
        check_frames()


def sample_until_failure(way: TimerWay | ThreadWay) -> None:
    until_s = SYSTEM_CLOCK.monotonic_s() + 30
    while SYSTEM_CLOCK.monotonic_s() < until_s:
        way.is_running()
        SYSTEM_CLOCK.sleep(0.001)
