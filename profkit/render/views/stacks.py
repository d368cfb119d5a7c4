"""Reports of the stacks of a process, or of a job's processes, at one moment.

Those of a job are folded into trees with sets of ranks.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, TypeAlias

from profkit.model.job_stacks import FrameItems, JobStacks, OneStack, ProcessStacks
from profkit.model.profile import Frame, Profile, Thread
from profkit.model.run import Run
from profkit.model.session import ProcessInfo
from profkit.render.document import (
    Block,
    Call,
    Cell,
    Column,
    Document,
    Lines,
    Remark,
    Role,
    Section,
    Sentences,
    Table,
    cells,
    more_than,
)
from profkit.render.escape import short
from profkit.render.formatting import Tone, count, moment, place
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.jobs import ranks_text
from profkit.render.views.source import infos_of, source_of
from profkit.transforms.origin import is_library_file, package_of
from profkit.transforms.simplify import fold_addresses
from profkit.transforms.waiting import OTHER_RANKS, SLEEP, has_ranks, wait_label, waiting_stacks

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


_MOST_PLACES = 4
"""Most places that the first sentences name."""
_ROWS = 40
"""Most rows of a tree by default."""


def process_stacks(run: Run) -> ProcessStacks:
    """Return the newest stacks of a run's process; those that wait say for what, if it is known."""
    source = source_of(infos_of([run]))
    distributed = has_ranks(run.profile.frames if run.profile is not None else ())
    threads = []
    for stack in newest_stacks(run):
        frames = tuple(line.frame for line in reversed(stack.lines))
        own = _innermost_own(frames)
        waits, label = stack.state is ThreadState.WAITING, ""
        if waits:
            line = source.line(frames[own].file, frames[own].line) if own >= 0 else None
            label = wait_label(frames[own + 1 :], line, is_distributed=distributed)
        threads.append(OneStack(stack.thread.name, stack.thread.tid, frames, waits, label))
    return ProcessStacks(run.info.process, run.info.started_ns, tuple(threads))


def job_stacks(stacks: JobStacks, options: ReportOptions = DEFAULTS) -> Document:
    """Yield where the processes are, those that differ first, then their stacks as trees."""
    found = stacks.processes
    yield Remark(_head(stacks), Tone.STRONG)
    yield Sentences([*_of_collectives(stacks), *_sentences(found)])
    for one in stacks.unread:
        yield Remark(f"{_named([one.process])}: {one.reason}", Tone.WARN)
    if stacks.missing:
        yield Remark(f"not read: {ranks_text(stacks.missing)}", Tone.WARN)
    yield from _tree_blocks("Main threads", found, lambda one: one.threads[:1], options)
    yield from _tree_blocks("Other threads", found, lambda one: one.threads[1:], options)


def _head(stacks: JobStacks) -> str:
    found = stacks.processes
    size = max((one.process.member.world_size or 0 for one in found), default=0)
    number = f"{len(found):,} of {count(size, 'rank')}" if size else count(len(found), "process")
    hosts = count(len({one.process.host for one in found}), "host")
    where = "in dumps of the flight recorder" if stacks.is_recorded else f"on {hosts}"
    at = moment(max((one.at_ns for one in found), default=0))
    return " · ".join([*([f"job {short(stacks.job)}"] if stacks.job else []), f"{number} {where}", at])


class _Place(NamedTuple):
    """Where a thread is, as far as processes are compared."""

    own: Frame | None
    """Innermost frame of the program's own code."""
    library: str
    """Innermost library function that this calls; empty if it calls none."""
    is_waiting: bool
    waits_for: str

    @classmethod
    def of(cls, stack: OneStack) -> _Place:
        own = _innermost_own(stack.frames)
        library = stack.frames[-1][0] if own < len(stack.frames) - 1 else ""
        frame = Frame(*stack.frames[own]) if own >= 0 else None
        return cls(frame, library, stack.is_waiting, stack.waits_for)

    @property
    def waits_for_ranks(self) -> bool:
        return self.waits_for == OTHER_RANKS

    def words(self, cwd: str, *, several: bool) -> str:
        """Say it, after a name of several processes or of one."""
        asleep = self.waits_for == SLEEP
        verb = "sleep" if asleep else "wait" if self.is_waiting else "work"
        waited = f" for {self.waits_for}" if self.waits_for and not asleep else ""
        does = f"{verb}{'' if several else 's'}{waited}"
        if self.own is None:
            return f"{does} in {short(self.library)}" if self.library else f"{does} outside Python code"
        at = place(self.own.file, self.own.line, cwd)
        own = f"{short(self.own.name)} ({at})" if at else short(self.own.name)
        return f"{does} in {short(self.library)}, called by {own}" if self.library else f"{does} in {own}"


def _of_collectives(stacks: JobStacks) -> Iterator[str]:
    """Yield for each collective that has not ended which ranks wait in it, and for which."""
    for one in stacks.collectives:
        named = f"{short(one.name)} #{one.number} (group {short(one.group)})"
        waiting = f"{ranks_text(one.inside)} {'wait' if len(one.inside) > 1 else 'waits'} in it"
        if one.absent:
            yield _begun(f"{ranks_text(one.absent)} {_have(one.absent)} not entered {named}; {waiting}.")
        for rank, name, sizes in one.others[:_MOST_PLACES]:
            instead = (
                f"{short(name)} of {sizes or 'no input'}, not {short(one.name)} of {one.sizes or 'no input'}"
            )
            yield f"Rank {rank} has called {instead}, as #{one.number} (group {short(one.group)}); {waiting}."
        if not one.absent and not one.others:
            yield _begun(
                f"{ranks_text(one.inside)} {_have(one.inside)} entered {named}, and it has not ended."
            )
    if stacks.is_recorded and not stacks.collectives:
        yield "All collectives in the dumps have ended."


def _have(ranks: Sequence[int]) -> str:
    return "have" if len(ranks) > 1 else "has"


def _begun(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _innermost_own(frames: Sequence[FrameItems]) -> int:
    """Return the index of the innermost frame of the program's own code, -1 if there is none."""
    return max((n for n, (_, file, _) in enumerate(frames) if not is_library_file(file)), default=-1)


def _sentences(found: Sequence[ProcessStacks]) -> Iterator[str]:
    """Yield where the main threads are; if all are at one place, also which other threads are elsewhere."""
    mains: dict[_Place, list[ProcessStacks]] = {}
    for one in found:
        for stack in one.threads[:1]:
            mains.setdefault(_Place.of(stack), []).append(one)
    yield from _of_places(mains)
    if len(mains) == 1 and len(found) > 1:
        others: dict[_Place, list[ProcessStacks]] = {}
        for one in found:
            for at in dict.fromkeys(map(_Place.of, one.threads[1:])):
                if at.own is not None:
                    others.setdefault(at, []).append(one)
        odd = {at: ones for at, ones in others.items() if 2 * len(ones) <= len(found)}
        yield from _of_places(odd, "in another thread, ")


def _of_places(places: dict[_Place, list[ProcessStacks]], where: str = "") -> Iterator[str]:
    """Yield a sentence for each place: those first that the others may wait for."""
    order = sorted(places, key=lambda at: (at.waits_for_ranks, len(places[at])))
    for at in order[:_MOST_PLACES]:
        ones = [one.process for one in places[at]]
        yield _begun(f"{where}{_named(ones)} {at.words(ones[0].cwd, several=len(ones) > 1)}.")
    if len(order) > _MOST_PLACES:
        left = sum(len(places[at]) for at in order[_MOST_PLACES:])
        yield f"{count(left, 'other')} are at {count(len(order) - _MOST_PLACES, 'more place')}."


def _named(processes: Sequence[ProcessInfo]) -> str:
    """Return `rank 7`, `ranks 0–6`, or the workers or pids of processes without ranks."""
    ranks = [process.member.rank for process in processes]
    numbers = [rank for rank in ranks if rank is not None]
    if len(numbers) == len(ranks):
        return ranks_text(numbers)
    noun = "process" if len(processes) == 1 else "processes"
    return f"{noun} {', '.join(process.member.worker or str(process.pid) for process in processes)}"


@dataclass(slots=True)
class _Node:
    """A call in a tree of stacks, with the processes whose stacks have it."""

    frame: Frame
    inner: Frame
    """The innermost of library calls that are one row; else the frame."""
    processes: dict[int, None] = field(default_factory=dict)
    children: dict[tuple[Frame, Frame], _Node] = field(default_factory=dict)


def _tree_blocks(
    title: str,
    found: Sequence[ProcessStacks],
    threads: Callable[[ProcessStacks], Iterable[OneStack]],
    options: ReportOptions,
) -> Iterator[Block]:
    root = _Node(Frame("", ""), Frame("", ""))
    for number, one in enumerate(found):
        for stack in threads(one):
            _add(root, number, [Frame(*frame) for frame in stack.frames], whole=options.show_all)
    rows = list(_rows(root))
    if not rows:
        return
    shown = rows[: options.rows(_ROWS, _ROWS)]
    sets = [_set(node, found) for node, _, _ in shown]
    cwd = found[0].process.cwd
    calls = [_call(node, depth, last, cwd, whole=options.show_all) for node, depth, last in shown]
    ranked = found[0].process.member.rank is not None
    yield Section(title)
    yield Table(
        [
            Column("ranks" if ranked else "processes", cells(sets), Role.WORDS),
            Column("call", calls, Role.CALL),
        ]
    )
    yield from more_than(len(shown), len(rows), "call")


def _add(root: _Node, number: int, frames: Sequence[Frame], *, whole: bool) -> None:
    """Add a stack to the tree; calls of libraries in a row are one call unless the `whole` stack is shown."""
    node = root
    for is_library, group in groupby(frames, lambda frame: is_library_file(frame.file)):
        calls = list(group)
        pairs = [(calls[0], calls[-1])] if is_library and not whole else [(frame, frame) for frame in calls]
        for outer, inner in pairs:
            node = node.children.setdefault((outer, inner), _Node(outer, inner))
            node.processes[number] = None


def _rows(root: _Node) -> Iterator[tuple[_Node, int, bool]]:
    """Yield calls with their depth, parents before children, those of most processes first."""
    pending = _children(root, 0)
    while pending:
        node, depth, last = pending.pop()
        yield node, depth, last
        pending += _children(node, depth + 1)


def _children(node: _Node, depth: int) -> list[tuple[_Node, int, bool]]:
    """Return the calls below a node in reverse: those of most processes last."""
    children = sorted(node.children.values(), key=lambda child: len(child.processes))
    return [(child, depth, position == 0) for position, child in enumerate(children)]


def _set(node: _Node, found: Sequence[ProcessStacks]) -> str:
    return _named([found[number].process for number in node.processes]).partition(" ")[2]


def _call(node: _Node, depth: int, last: bool, cwd: str, *, whole: bool) -> Call:
    frame, inner = node.frame, node.inner
    if whole or not is_library_file(frame.file):
        return Call(frame.name, place(frame.file, frame.line, cwd), depth, last)
    name = frame.name if inner == frame else f"{frame.name} → {inner.name}"
    return Call(name, f"[{package_of(inner.file)}]", depth, last, Tone.ASIDE)
