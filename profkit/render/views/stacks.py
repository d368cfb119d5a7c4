"""Stacks of a process at one moment: the newest sample of each thread."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from profkit.model.profile import Frame, Profile, Thread
from profkit.model.run import Run
from profkit.render.views.source import infos_of, source_of
from profkit.transforms.simplify import fold_addresses
from profkit.transforms.waiting import waiting_stacks

_MAIN = "MainThread"


class ThreadState(enum.Enum):
    """What a thread did; the value is the word in reports."""

    WORKING = "working"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class StackLine:
    """A frame with its line of source, if that can be shown."""

    frame: Frame
    source: str | None


@dataclass(frozen=True, slots=True)
class ThreadStack:
    """The stack of a thread, innermost frame first."""

    thread: Thread
    state: ThreadState
    lines: tuple[StackLine, ...]


def newest_stacks(run: Run) -> tuple[ThreadStack, ...]:
    """Return the stacks of a run's threads as they were sampled last; the main thread first, then by id."""
    profile = fold_addresses(run.profile or Profile())
    source = source_of(infos_of([run]))
    waiting = waiting_stacks(profile, source.line)
    newest = {thread: stack for stack, thread, weight in profile.samples if weight}
    found = []
    for thread, stack in newest.items():
        frames = [profile.frames[number] for number in reversed(profile.stacks[stack])]
        lines = tuple(StackLine(frame, source.line(frame.file, frame.line)) for frame in frames)
        state = ThreadState.WAITING if stack in waiting else ThreadState.WORKING
        found.append(ThreadStack(profile.threads[thread], state, lines))
    return tuple(sorted(found, key=_main_thread_first))


def _main_thread_first(stack: ThreadStack) -> tuple[int, bool, int]:
    return stack.thread.pid, stack.thread.name != _MAIN, stack.thread.tid
