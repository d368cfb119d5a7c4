"""Report of the stacks of a process at one moment: the newest sample of each thread."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass
from typing import TypeAlias

from profkit.model.profile import Frame, Profile, Thread
from profkit.model.run import Run
from profkit.render.document import Cell, Document, Lines, Remark
from profkit.render.escape import short
from profkit.render.formatting import Tone, count, moment, place
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.source import infos_of, source_of
from profkit.transforms.simplify import fold_addresses
from profkit.transforms.waiting import waiting_stacks

_MAIN = "MainThread"

_Function: TypeAlias = tuple[str, str]
"""Name and file."""


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


def stacks(run: Run, _options: ReportOptions = DEFAULTS) -> Document:
    """Yield the newest stack of each thread, innermost frame first."""
    process, found = run.info.process, newest_stacks(run)
    python = f" · Python {process.python}" if process.python else ""
    yield Remark(f"process {process.pid}{python} · {' '.join(process.argv)}", Tone.STRONG)
    yield Remark(f"{moment(run.info.started_ns)} · {count(len(found), 'thread')}")
    for stack in found:
        lines = [_line(line, process.cwd) for line in stack.lines]
        yield Lines(_title(stack, process.pid), lines, gap=True, whole=True)


def _title(stack: ThreadStack, pid: int) -> str:
    thread = stack.thread
    of_child = f" of process {thread.pid}" if thread.pid not in (0, pid) else ""
    return f"thread {short(thread.name)} ({thread.tid}){of_child}: {stack.state.value}"


def _line(line: StackLine, cwd: str) -> Cell:
    where = place(line.frame.file, line.frame.line, cwd)
    return Cell(f"  {short(line.frame.name)}{f' ({where})' if where else ''}", more=line.source or "")


def newest_stacks(run: Run) -> tuple[ThreadStack, ...]:
    """Return the last whole stack of each thread of a run; the main thread first, then by id."""
    profile = fold_addresses(run.profile or Profile())
    source = source_of(infos_of([run]))
    waiting = waiting_stacks(profile, source.line)
    found = []
    for thread, stack in _newest_whole(profile).items():
        frames = [profile.frames[number] for number in reversed(profile.stacks[stack])]
        lines = tuple(StackLine(frame, source.line(frame.file, frame.line)) for frame in frames)
        state = ThreadState.WAITING if stack in waiting else ThreadState.WORKING
        found.append(ThreadStack(profile.threads[thread], state, lines))
    return tuple(sorted(found, key=_main_thread_first))


def _newest_whole(profile: Profile) -> dict[int, int]:
    """Return the last stack of each thread that is not torn; of a thread with torn ones only, the last."""
    torn = _torn(profile)
    samples = [(thread, stack) for stack, thread, weight in profile.samples if weight]
    return dict(samples) | dict(sample for sample in samples if sample not in torn)


def _torn(profile: Profile) -> set[tuple[int, int]]:
    """Return the samples, as thread and stack, whose outermost function usually has a caller in their thread.

    A sampler sees no callers while the interpreter is about to link a new frame to its caller.
    """
    outermost: Counter[tuple[int, _Function]] = Counter()
    called: Counter[tuple[int, _Function]] = Counter()
    begins: dict[tuple[int, int], tuple[int, _Function]] = {}
    for stack, thread, weight in profile.samples:
        functions = [_function(profile.frames[number]) for number in profile.stacks[stack]]
        if not functions:
            continue
        begin = begins[thread, stack] = thread, functions[0]
        outermost[begin] += weight
        called.update({(thread, function): weight for function in {*functions} - {functions[0]}})
    return {sample for sample, begin in begins.items() if called[begin] > outermost[begin]}


def _function(frame: Frame) -> _Function:
    return frame.name, frame.file


def _main_thread_first(stack: ThreadStack) -> tuple[int, bool, int]:
    return stack.thread.pid, stack.thread.name != _MAIN, stack.thread.tid
