"""Stacks of running asyncio tasks, continued by the tasks that await them.

CPython's reader returns for each thread the task that runs and those that await it, directly or not. It finds
the frames of the running task by its code: if another task runs by then, they extend to the thread's first
frame (parse_async_frame_chain in Modules/_remote_debugging/asyncio.c). So they show whether the answers are
of one moment.
"""

from __future__ import annotations

from .journal import TASK

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    Read: TypeAlias = Any
    """What the reader returns."""
    Tasks: TypeAlias = dict[int, list[Read]]
    """Tasks of each thread that runs one: the running task first, then those that await it."""

_LOOP = {
    "events.py": ("Handle._run",),
    "base_events.py": (
        "BaseEventLoop._run_once", "BaseEventLoop.run_forever", "BaseEventLoop.run_until_complete",
    ),
    "runners.py": ("Runner.run",),
}  # fmt: skip
"""Functions of asyncio that run tasks, by file; an event loop of another library has some of them, too."""
_UNNAMED = "Task-"


class TaskFrame:
    """Frame above which those of a task begin; has the attributes of the reader's frames."""

    __slots__ = ("filename", "funcname", "location")

    def __init__(self, name: str) -> None:
        # With their numbers, tasks without a name would each be a branch of every tree.
        unnamed = name.startswith(_UNNAMED) and name[len(_UNNAMED) :].isdigit()
        self.funcname = TASK if unnamed else f"{TASK} {name}"
        self.filename, self.location = "", None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TaskFrame) and other.funcname == self.funcname

    def __hash__(self) -> int:
        return hash(self.funcname)


def running(found: Iterable[Read]) -> Tasks:
    """Return the tasks of the threads that run one."""
    return {thread.thread_id: thread.awaited_by for thread in found if thread.awaited_by}


def with_tasks(threads: dict[int, list[Read]], before: Tasks, after: Tasks) -> dict[int, list[Read]] | None:
    """Return the stacks of threads with the tasks that await the running ones; None if another task runs.

    `before` and `after` were read before and after the threads. Raises AttributeError or IndexError if an
    answer is not as expected.
    """
    if _ids(before) != _ids(after):
        return None
    found = dict(threads)
    for tid, tasks in before.items():
        stack = threads.get(tid)
        if stack is not None:
            own = _own_frames(stack, tasks[0], after[tid][0])
            if not own:
                return None
            found[tid] = [*stack[:own], *_awaiting(tasks), *stack[own:]]
    return found


def _own_frames(stack: list[Read], before: Read, after: Read) -> int:
    """Return the number of frames of a stack that are the running task's, 0 if they may be another's."""
    first, again = (_function(task.coroutine_stack[0].call_stack) for task in (before, after))
    if first is None or first != again or not stack or first == _function(stack):
        return 0
    for number in range(_before_loop(stack), 0, -1):
        if _function(stack[:number]) == first:
            return number
    return 0


def _awaiting(tasks: list[Read]) -> list[Read]:
    """Return the frame of the running task, and the frames of those that await it, leaf first.

    If several tasks await one, the first that is found counts.
    """
    left = {task.task_id: task for task in tasks}
    task, frames = tasks[0], list[object]()
    while True:
        frames.append(TaskFrame(task.task_name))
        del left[task.task_id]
        task = next((left[one.task_name] for one in task.awaited_by if one.task_name in left), None)
        if task is None:
            return frames
        for coroutine in task.coroutine_stack:
            frames += coroutine.call_stack


def _function(stack: list[Read]) -> tuple[str, str] | None:
    """Return the name and file of the outermost function of a stack, None for an empty one."""
    return (stack[-1].funcname, stack[-1].filename) if stack else None


def _before_loop(stack: list[Read]) -> int:
    """Return the number of frames at the leaf end of a stack that are not the event loop's."""
    for number, frame in enumerate(stack):
        folder, _, file = frame.filename.rpartition("/")
        if frame.funcname in _LOOP.get(file, ()) and folder.endswith("asyncio"):
            return number
    return len(stack)


def _ids(tasks: Tasks) -> dict[int, list[int]]:
    return {tid: [task.task_id for task in found] for tid, found in tasks.items()}
