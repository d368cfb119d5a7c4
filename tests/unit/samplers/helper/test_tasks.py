"""Stacks that are continued by awaiting tasks, and answers that are not of one moment."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from profkit.samplers.helper import reader
from profkit.samplers.helper.reader import ALL_THREADS, Changing, Process, Unexpected, frames_of
from profkit.samplers.helper.tasks import TaskFrame
from tests.unit.samplers.helper.remote_processes import FakeReader, frame, interpreter, running, task, thread

LOOP = [
    ("Handle._run", "events.py"),
    ("BaseEventLoop._run_once", "base_events.py"),
    ("Runner.run", "runners.py"),
]
LEAF = task(1, "worker", ["spin", "leaf"], [2])
MIDDLE = task(2, "Task-7", ["_aexit", "middle"], [3])
OUTER = task(3, "main", ["outer"])


def in_loop(names: list[str], tid: int = 7) -> SimpleNamespace:
    """A thread whose event loop runs functions."""
    made = thread(tid, [*names, *(name for name, _ in LOOP), "<module>"])
    for number, (_, file) in enumerate(LOOP):
        made.frame_info[len(names) + number].filename = f"/usr/lib/python3.15/asyncio/{file}"
    return made


class Target:
    """A process of which a test gives the threads and the tasks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fake = FakeReader(monkeypatch)
        monkeypatch.setattr(reader.proc_files, "start_ticks", lambda pid: b"1")

    def names(self, found: SimpleNamespace, *tasks: Any) -> dict[int, list[str]]:
        """Read once; `tasks` are those before, and after if they differ."""
        answers: Iterator[Any] = iter([tasks[0], tasks[-1]])
        self.fake.read = lambda: [interpreter(0, found, thread(9, ["wait", "run"]))]
        self.fake.read_tasks = lambda: next(answers)
        threads = Process(7, ALL_THREADS, with_tasks=True).threads()
        return {tid: [name for name, _, _ in frames_of(frames)] for tid, frames in threads.items()}


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch) -> Target:
    return Target(monkeypatch)


END = [*(name for name, _ in LOOP), "<module>"]


EAGER = task(1, "eager", ["leaf"], [2])
FIRST_OF_SEVERAL = task(1, "worker", ["leaf"], [99, 3, 2])
CIRCLE = [task(1, "a", ["leaf"], [2]), task(2, "b", ["outer"], [1])]
CHAIN = ["spin", "leaf", "task worker", "_aexit", "middle", "task", "outer", "task main"]


@pytest.mark.parametrize(
    ("names", "tasks", "found"),
    [
        (["spin", "leaf"], [running(7, LEAF, MIDDLE, OUTER)], CHAIN),
        (["select"], [], ["select"]),
        (["select"], [running(7)], ["select"]),
        (["select"], [running(0)], ["select"]),
        (["select"], [running(55, LEAF)], ["select"]),
        # The reader cuts a recursion at its innermost call, as it looks for the code of the task.
        (["leaf"] * 3, [running(7, task(1, "worker", ["leaf"]))], [*["leaf"] * 3, "task worker"]),
        (
            ["leaf", "create_task", "main"], [running(7, EAGER)],
            ["leaf", "task eager", "create_task", "main"],
        ),
        (
            ["leaf"], [running(7, FIRST_OF_SEVERAL, MIDDLE, OUTER)],
            ["leaf", "task worker", "outer", "task main"],
        ),
        (["leaf"], [running(7, *CIRCLE)], ["leaf", "task a", "outer", "task b"]),
    ],
    ids=[
        "those that await it", "no tasks", "no running task", "no thread", "another thread", "recursion",
        "begun inside another", "the first of several waiting ones", "a circle",
    ],
)  # fmt: skip
def test_a_stack_is_continued_by_tasks(
    names: list[str], tasks: Any, found: list[str], target: Target
) -> None:
    assert target.names(in_loop(names), tasks) == {7: [*found, *END], 9: ["wait", "run"]}


def test_another_event_loop(target: Target) -> None:
    found = target.names(thread(7, ["spin", "leaf", "run", "<module>"]), [running(7, LEAF)])
    assert found[7] == ["spin", "leaf", "task worker", "run", "<module>"]


@pytest.mark.parametrize(
    ("names", "before", "after"),
    [
        (["spin", "leaf"], [running(7, LEAF)], [running(7, task(8, "other", ["leaf"]))]),
        (["spin", "leaf"], [running(7, LEAF)], []),
        (["select"], [], [running(7, LEAF)]),
        (["spin", "leaf"], [running(7, LEAF)], [running(7, task(1, "worker", ["spin", "other"]))]),
        (["spin", "other"], [running(7, LEAF)], [running(7, LEAF)]),
        (["spin", "leaf"], *[[running(7, task(1, "worker", ["spin", "other", *END]))]] * 2),
        (["spin", "leaf"], *[[running(7, task(1, "worker", []))]] * 2),
        ([], [running(7, LEAF)], [running(7, LEAF)]),
    ],
    ids=[
        "other task", "no task", "a task", "other frames", "other stack", "frames to the end", "no frames",
        "loop",
    ],
)  # fmt: skip
def test_answers_that_are_not_of_one_moment(
    names: list[str], before: Any, after: Any, target: Target
) -> None:
    with pytest.raises(Changing, match="another task runs"):
        target.names(in_loop(names), before, after)


@pytest.mark.parametrize("tasks", [[object()], [running(7, SimpleNamespace(task_id=1))]])
def test_an_unexpected_answer(tasks: Any, target: Target) -> None:
    with pytest.raises(Unexpected):
        target.names(in_loop(["leaf"]), tasks)
    empty = task(1, "worker", ["leaf"])
    empty.coroutine_stack = []
    with pytest.raises(Unexpected):
        target.names(in_loop(["leaf"]), [running(7, empty)])


@pytest.mark.parametrize(
    ("name", "shown"),
    [("Task-1", "task"), ("Task-1234", "task"), ("Task-x", "task Task-x"), ("Task-", "task Task-"),
     ("a", "task a")],
)  # fmt: skip
def test_names_of_tasks(name: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FakeReader(monkeypatch)
    made = TaskFrame(name)
    assert frames_of([made]) == [(shown, "", 0)]
    assert made == TaskFrame(name)
    assert hash(made) == hash(TaskFrame(name))
    assert made not in (TaskFrame("b"), frame(shown))
