"""Stacks that are of two moments, and those that only look so."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from profkit.samplers.helper import consistency
from profkit.samplers.helper.consistency import inconsistencies, without_marks
from profkit.samplers.helper.reader import ALL_THREADS, Changing, Process
from tests.unit.samplers.helper.remote_processes import MARK, FakeReader, frame, interpreter

ROOT = frame("root", 7, "CALL")
INLINED = frame("inlined", 8, "UNPACK_SEQUENCE")
"""Stands for a call that runs a Python function without C code between."""


@pytest.fixture(autouse=True)
def inlined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consistency, "_PYTHON_CALLS", frozenset([INLINED.opcode]))


def inconsistent(*stack: SimpleNamespace) -> list[str]:
    return [name for name, _, _ in inconsistencies(list(stack))]


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


class TestProcess:
    """Reads of a process with one thread."""

    @pytest.fixture(autouse=True)
    def process(self, monkeypatch: pytest.MonkeyPatch) -> Process:
        self.fake = FakeReader(monkeypatch)
        self.process = Process(7, ALL_THREADS)
        return self.process

    def read(self, *stack: SimpleNamespace) -> list[str]:
        thread = SimpleNamespace(thread_id=7, status=3, frame_info=list(stack))
        self.fake.read = lambda: [interpreter(0, thread)]
        (found,) = self.process.threads().values()
        return [one.funcname for one in found]  # type: ignore[attr-defined]

    def test_a_stack_of_two_moments_is_not_accepted(self) -> None:
        for name in ("one", "other"):
            with pytest.raises(Changing, match="two moments"):
                self.read(frame(name, -1), ROOT)
        assert self.read(frame("leaf"), MARK, ROOT, MARK) == ["leaf", "root"]

    def test_what_is_read_twice_is_accepted(self) -> None:
        stack = frame("leaf"), MARK, INLINED, ROOT
        with pytest.raises(Changing):
            self.read(*stack)
        assert self.read(frame("another"), MARK, INLINED, ROOT) == ["another", "inlined", "root"]
        assert self.read(frame("another"), MARK, INLINED, ROOT)
        with pytest.raises(Changing):
            self.read(*stack)

    def test_a_thread_that_stays_is_checked_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        first = self.read(frame("leaf"), MARK, ROOT)
        monkeypatch.setattr(
            "profkit.samplers.helper.reader.inconsistencies", lambda stack: pytest.fail("again")
        )
        assert self.read(frame("leaf"), MARK, ROOT) == first
