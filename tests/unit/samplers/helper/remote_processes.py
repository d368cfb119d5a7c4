"""Stands in for CPython's `_remote_debugging`, with stacks that a test gives."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from opcode import opmap
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from profkit.samplers.helper import reader

Read = Callable[[], Any]
"""Answer to one read."""


class FakeReader:
    """The module, as Python 3.14 or 3.15 has it; `read` answers each read, `refusal` each start."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, has_states: bool = True) -> None:
        self.read: Read = list
        self.read_tasks: Read = list
        self.refusal: Exception | None = None
        self.arguments: list[dict[str, object]] = []
        module = ModuleType("_remote_debugging")
        module.RemoteUnwinder = self._unwinder  # type: ignore[attr-defined]
        self.module = module
        monkeypatch.setitem(sys.modules, "_remote_debugging", module)
        monkeypatch.setattr(reader, "HAS_STATES", has_states)

    def _unwinder(self, pid: int, **arguments: object) -> SimpleNamespace:
        if self.refusal is not None:
            raise self.refusal
        self.arguments.append({"pid": pid, **arguments})
        return SimpleNamespace(
            get_stack_trace=lambda: self.read(), get_async_stack_trace=lambda: self.read_tasks()
        )


def frame(name: str, line: int | None = 1, instruction: str | None = None) -> SimpleNamespace:
    """A frame as 3.15 has it; one without a line is the interpreter's own."""
    location = None if line is None else SimpleNamespace(lineno=line)
    code = None if instruction is None else opmap[instruction]
    return SimpleNamespace(funcname=name, filename=f"{name}.py", location=location, opcode=code)


MARK = SimpleNamespace(funcname="<native>", filename="~", location=None, opcode=None)
"""What 3.15 has where it skipped frames."""


def old_frame(name: str, line: int = 1) -> SimpleNamespace:
    """A frame as 3.14 has it."""
    return SimpleNamespace(funcname=name, filename=f"{name}.py", lineno=line)


def thread(tid: int, names: Iterable[str], status: int = 3) -> SimpleNamespace:
    """A thread with its functions, leaf first."""
    return SimpleNamespace(thread_id=tid, status=status, frame_info=[frame(name) for name in names])


def task(number: int, name: str, names: Iterable[str], awaited_by: Iterable[int] = ()) -> SimpleNamespace:
    """A task with its functions, leaf first, and the numbers of those that await it."""
    stack = SimpleNamespace(call_stack=[frame(function) for function in names], task_name=number)
    return SimpleNamespace(
        task_id=number, task_name=name, coroutine_stack=[stack],
        awaited_by=[SimpleNamespace(call_stack=[], task_name=waiter) for waiter in awaited_by],
    )  # fmt: skip


def running(tid: int, *tasks: SimpleNamespace) -> SimpleNamespace:
    """The tasks of a thread, the running one first."""
    return SimpleNamespace(thread_id=tid, awaited_by=list(tasks))


def interpreter(number: int, *threads: SimpleNamespace) -> SimpleNamespace:
    """An interpreter as 3.15 has it."""
    return SimpleNamespace(interpreter_id=number, threads=list(threads))
