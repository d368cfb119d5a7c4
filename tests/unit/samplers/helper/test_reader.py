"""Answers of CPython's reader, and its errors."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from profkit.samplers.helper import reader
from profkit.samplers.helper.journal import GIL as GIL_AWAITED
from profkit.samplers.helper.journal import WAITING, WORKING
from profkit.samplers.helper.reader import (
    ALL_THREADS,
    HOLDS_GIL,
    ON_CPU,
    Changing,
    Denied,
    Ended,
    Frameless,
    Process,
    TooDeep,
    Unexpected,
    frames_of,
)
from profkit.samplers.helper.thread_states import STOPPED, ThreadStates
from tests.unit.samplers.helper.remote_processes import FakeReader, frame, interpreter, old_frame, thread

PID = os.getpid()
GIL, CPU, BOTH, WAITS, UNKNOWN, REQUESTS = 1, 2, 3, 0, 4, 8


def raising(error: Exception) -> Any:
    def read() -> None:
        raise error

    return read


def names_by_thread(process: Process) -> dict[int, list[str]]:
    return {tid: [name for name, _, _ in frames_of(found)] for tid, found in process.threads().items()}


def test_how_the_reader_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeReader(monkeypatch)
    for only in (ALL_THREADS, ON_CPU, HOLDS_GIL):
        Process(PID, only)
    assert [made.pop("mode") for made in fake.arguments] == [0, 3, 3]
    rest = {"all_threads": True, "skip_non_matching_threads": False, "cache_frames": False}
    rest |= {"native": True, "opcodes": True}
    assert fake.arguments == [{"pid": PID, **rest}] * 3
    fake = FakeReader(monkeypatch, has_states=False)
    Process(PID, ALL_THREADS)
    assert fake.arguments == [{"pid": PID, "all_threads": True}]


def test_threads_of_3_14(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeReader(monkeypatch, has_states=False)
    found = thread(7, [])
    found.frame_info = [old_frame("leaf", 3), old_frame("root")]
    fake.read = lambda: [found]
    (frames,) = Process(PID, ALL_THREADS).threads().values()
    assert frames_of(frames) == [("leaf", "leaf.py", 3), ("root", "root.py", 1)]


def test_frames_without_a_line_and_names_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeReader(monkeypatch)
    found = frames_of([frame("<native>", None), frame("root")])
    assert found == [("<native>", "<native>.py", 0), ("root", "root.py", 1)]
    FakeReader(monkeypatch, has_states=False)
    unreadable = old_frame("\0\0")
    unreadable.filename = "/\0\0\0"
    assert frames_of([old_frame("f"), unreadable]) == [("f", "f.py", 1), ("<unreadable>", "<unreadable>", 1)]


@pytest.mark.parametrize(
    ("only", "tids"), [(ALL_THREADS, {1, 2, 3, 4}), (ON_CPU, {1, 2, 3}), (HOLDS_GIL, {1, 3})]
)
def test_threads_by_their_state(only: str, tids: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeReader(monkeypatch)
    threads = [thread(tid, "a", status) for tid, status in ((1, BOTH), (2, CPU), (3, GIL), (4, WAITS))]
    fake.read = lambda: [interpreter(0, *threads)]
    assert Process(PID, only).threads().keys() == tids


@pytest.mark.parametrize(
    ("state", "states"), [(WAITING, "zyyzz"), (WORKING, "kkkkk")], ids=["waiting", "working"]
)
def test_a_thread_that_waits_does_so_for_the_gil_if_it_wants_it(
    state: str, states: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeReader(monkeypatch)
    monkeypatch.setattr(ThreadStates, "state", lambda states, tid: state)
    statuses = {1: GIL, 2: REQUESTS, 3: REQUESTS, 4: WAITS | UNKNOWN, 5: CPU}
    fake.read = lambda: [
        interpreter(0, *(thread(tid, "a", status) for tid, status in statuses.items())),
        interpreter(3, thread(3, "b", GIL)),
    ]
    process = Process(PID, ALL_THREADS)
    process.threads()
    assert "".join(map(process.state, statuses)) == states


@pytest.mark.parametrize("state", [WORKING, WAITING, GIL_AWAITED, STOPPED])
def test_states_of_3_14_are_those_of_the_kernel(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeReader(monkeypatch, has_states=False)
    monkeypatch.setattr(ThreadStates, "state", lambda states, tid: state)
    found = thread(7, [], WAITS)
    found.frame_info = [old_frame("leaf")]
    fake.read = lambda: [found]
    process = Process(PID, ALL_THREADS)
    process.threads()
    assert process.state(7) == state
    assert process.is_stopped is (state == STOPPED)


def test_a_thread_that_runs_several_interpreters_has_their_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeReader(monkeypatch)
    fake.read = lambda: [
        interpreter(0, thread(1, ["exec", "root"]), thread(2, ["other"])),
        interpreter(5, thread(1, ["leaf", "top"])),
    ]
    assert names_by_thread(Process(PID, ALL_THREADS)) == {1: ["leaf", "top", "exec", "root"], 2: ["other"]}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (PermissionError(1, "Operation not permitted"), Denied),
        (ProcessLookupError(3, "No such process"), Ended),
        (RuntimeError("Failed to parse initial frame in chain"), Frameless),
        (RuntimeError("Failed to read thread state"), Changing),
        (RuntimeError("Too many stack frames (possible infinite loop)"), TooDeep),
        (OSError(14, "Bad address"), Changing),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), Changing),
        (MemoryError(), Changing),
        (SystemError("error return without exception set"), Changing),
    ],
)
def test_errors_of_a_read(error: Exception, kind: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeReader(monkeypatch)
    process = Process(PID, ALL_THREADS)
    fake.read = raising(error)
    with pytest.raises(kind) as raised:
        process.threads()
    assert raised.type is kind


def test_threads_in_a_state_are_read_by_another_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeReader(monkeypatch)
    process = Process(PID, HOLDS_GIL)
    fake.read = lambda: [interpreter(0, thread(1, "a", CPU), thread(2, "b", BOTH))]
    for state in (ON_CPU, HOLDS_GIL) * 2:
        assert process.threads_in(state).keys() == {2}
    asked = [(made["mode"], made["skip_non_matching_threads"]) for made in fake.arguments]
    assert asked == [(3, False), (1, True), (2, True)]


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        (PermissionError(1, "Operation not permitted"), Denied),
        (ProcessLookupError(3, "No such process"), Ended),
        (RuntimeError("Failed to find the PyRuntime section"), Unexpected),
        (TypeError("unexpected keyword argument 'mode'"), Unexpected),
    ],
)
def test_errors_of_a_start(
    refusal: Exception, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    FakeReader(monkeypatch).refusal = refusal
    with pytest.raises(kind):
        Process(PID, ALL_THREADS)


def test_another_reader_is_unexpected(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeReader(monkeypatch)
    process = Process(PID, ALL_THREADS)
    fake.read = lambda: [object()]
    with pytest.raises(Unexpected, match="interpreter_id"):
        process.threads()
    with pytest.raises(Unexpected, match="funcname"):
        frames_of([object()])
    del fake.module.RemoteUnwinder  # type: ignore[attr-defined]
    with pytest.raises(Unexpected, match="ImportError"):
        Process(PID, ALL_THREADS)
    monkeypatch.setitem(sys.modules, "_remote_debugging", None)  # type: ignore[arg-type]
    with pytest.raises(Unexpected, match="ModuleNotFoundError"):
        Process(PID, ALL_THREADS)


def test_a_process_is_the_one_that_started_then(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeReader(monkeypatch)
    process = Process(PID, ALL_THREADS)
    assert process.is_running()
    monkeypatch.setattr(reader.proc_files, "start_ticks", lambda pid: b"1")
    assert not process.is_running()
    monkeypatch.setattr(reader.proc_files, "start_ticks", lambda pid: None)
    assert not process.is_running()
    assert not Process(PID, ALL_THREADS).is_running(), "it had ended before"
