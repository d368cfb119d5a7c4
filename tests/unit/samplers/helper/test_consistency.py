"""Stacks that are of two moments, and those that only look so."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from profkit.samplers.helper import consistency
from profkit.samplers.helper.consistency import Check, inconsistencies, without_marks
from profkit.samplers.helper.reader import ALL_THREADS, Changing, Process
from tests.unit.samplers.helper.remote_processes import MARK, FakeReader, frame, interpreter

ROOT = frame("root", 7, "CALL")
INLINED = frame("inlined", 8, "UNPACK_SEQUENCE")
"""Stands for a call that runs a Python function without C code between."""


@pytest.fixture(autouse=True)
def inlined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consistency, "_PYTHON_CALLS", frozenset([INLINED.opcode]))


def inconsistent(*stack: SimpleNamespace) -> list[str]:
    return [name for name, _, _ in sorted(inconsistencies(list(stack)))]


@pytest.mark.parametrize("instruction", ["RETURN_VALUE", "LOAD_FAST", "STORE_FAST", "POP_TOP"])
def test_a_caller_is_at_an_instruction_that_can_call(instruction: str) -> None:
    caller = frame("caller", 3, instruction)
    assert inconsistent(frame("leaf"), caller, ROOT) == ["caller"]
    assert inconsistent(frame("leaf"), MARK, caller, ROOT) == ["caller"]
    assert inconsistent(caller, ROOT) == [], "a leaf may be anywhere"


def test_there_is_no_c_code_between_inlined_calls() -> None:
    assert inconsistent(frame("leaf"), MARK, INLINED, ROOT) == ["inlined"]
    assert inconsistent(frame("leaf"), INLINED, ROOT) == []
    assert inconsistent(frame("leaf"), MARK, ROOT, MARK) == []
    assert inconsistent(MARK, INLINED) == [], "it has called C code, not Python"


def test_a_function_is_at_one_of_its_lines() -> None:
    assert inconsistent(frame("leaf", -1), ROOT) == ["leaf"]
    assert inconsistent(frame("leaf", None), ROOT) == []


def test_marks_are_removed() -> None:
    assert without_marks([frame("leaf"), MARK, ROOT, MARK]) == [frame("leaf"), ROOT]


def test_a_stack_of_two_moments_is_not_accepted() -> None:
    check = Check()
    assert check.consistent([frame("one", -1), ROOT]) is None
    assert check.consistent([frame("other", -1), ROOT]) is None
    assert check.consistent([frame("leaf"), MARK, ROOT, MARK]) == [frame("leaf"), ROOT]
    assert check.consistent([frame("other", -1), ROOT]) is None, "the reads were not one after the other"


def test_what_is_read_twice_is_accepted_and_goes_on() -> None:
    check = Check()
    assert check.consistent([frame("leaf"), MARK, INLINED, ROOT]) is None
    for name in ("one", "other"):
        assert check.consistent([frame(name), MARK, INLINED, ROOT]) == [frame(name), INLINED, ROOT]
    assert check.consistent([frame("begun", -1), MARK, INLINED, ROOT]) is None
    assert check.consistent([frame("begun", 2), MARK, INLINED, ROOT]) is not None


def test_a_stack_that_stays_is_checked_once() -> None:
    check = Check()
    first = check.consistent([frame("leaf"), MARK, ROOT])
    assert check.consistent([frame("leaf"), MARK, ROOT]) is first


def test_all_threads_are_checked_before_another_read(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeReader(monkeypatch)
    stack = [frame("leaf"), MARK, INLINED, ROOT]
    threads = [SimpleNamespace(thread_id=tid, status=3, frame_info=stack) for tid in range(20)]
    fake.read = lambda: [interpreter(0, *threads)]
    process = Process(7, ALL_THREADS)
    with pytest.raises(Changing, match="two moments"):
        process.threads()
    assert len(process.threads()) == 20


def test_the_first_read_may_need_more(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeReader(monkeypatch)
    stacks = iter([[frame("one", -1)], [frame("other", -1)], [ROOT]])
    fake.read = lambda: [interpreter(0, SimpleNamespace(thread_id=7, status=3, frame_info=next(stacks)))]
    Process(7, ALL_THREADS).try_to_read()
    stacks = iter([[frame(str(number), -1)] for number in range(100)])
    with pytest.raises(Changing):
        Process(7, ALL_THREADS).try_to_read()
