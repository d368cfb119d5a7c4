"""Timelines of a report: main thread or region's calls, other threads; the one that a picture opens on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

from profkit.model.profile import Frame, Profile, Thread, ThreadState
from profkit.model.region import RegionKind
from profkit.model.run import RunInfo
from profkit.render.views.threads import ThreadRow, of_threads, split_threads, thread_groups
from profkit.transforms.tables import thread_rows
from profkit.transforms.trees import weight_of

MAIN_THREAD = "MainThread"


@dataclass(frozen=True)
class Timeline:
    """Threads whose time is summed up together, and their samples."""

    subject: str
    """What they are, such as `The main thread`."""
    of_time: str
    """Their time, such as `the main thread's time`."""
    profile: Profile
    """Their samples; it has the tables of the report's profile."""
    threads: int
    is_main_of_child: bool = False
    """Whether they are main threads of other processes than the recorded one."""

    @cached_property
    def weight(self) -> int:
        """Weight of all samples."""
        return self.profile.total_weight

    @property
    def rounds(self) -> int:
        """The largest weight of a thread: the time that it covers."""
        return max((row.weight for row in thread_rows(self.profile)), default=0)

    def weight_in(self, state: ThreadState) -> int:
        """Return the weight of the samples in a state."""
        # A job has many timelines: the states of all stacks would take a time that is quadratic.
        weights = self.profile.weights_by_stack.items()
        return sum(weight for stack, weight in weights if self.profile.state_of(stack) is state)


Ranks = Mapping[int, int]
"""Ranks of a job's processes by pid."""


def main_timeline(
    profile: Profile, info: RunInfo, ranks: Ranks = MappingProxyType({}), *, is_selected: bool
) -> Timeline:
    """Return the timeline that the user waits for; `is_selected`: the threads were chosen in the report."""
    present = sorted(profile.weights_by_thread)
    if is_selected or len(present) == 1:
        name = profile.threads[present[0]].name if len(present) == 1 else ""
        is_main = name == MAIN_THREAD and info.region.kind is RegionKind.PROGRAM
        if is_main or not is_selected:
            subject = "The main thread" if is_main else "The thread"
            return Timeline(subject, "the time", profile, len(present))
        return Timeline(
            "The thread" if len(present) == 1 else "The threads", "its time", profile, len(present)
        )
    chosen = _main_threads(profile, info, present)
    part = profile if len(chosen) == len(present) else of_threads(profile, chosen)
    if len(chosen) == 1 and profile.threads[chosen[0]].name == MAIN_THREAD:
        if (rank := ranks.get(info.process.pid)) is not None:
            return Timeline(f"Rank {rank}", f"rank {rank}'s time", part, 1)
        return Timeline("The main thread", "the main thread's time", part, 1)
    if len(chosen) == len(present) and info.region.kind is RegionKind.PROGRAM:
        return Timeline("The threads", "the threads' time", part, len(chosen))
    return Timeline(
        "Calls", "the calls' time" if len(chosen) < len(present) else "the time", part, len(chosen)
    )


def _main_threads(profile: Profile, info: RunInfo, present: Sequence[int]) -> list[int]:
    """Return the main thread of a program, or the threads that ran a region; all if there are none."""
    own = [number for number in present if profile.threads[number].pid in (0, info.process.pid)]
    if info.region.kind is RegionKind.PROGRAM or info.imported is not None:
        found = [n for n in own or present if profile.threads[n].name == MAIN_THREAD]
    else:
        found = sorted(
            thread
            for thread, stacks in profile.weights_by_thread.items()
            if _begin_region(profile, stacks, info)
        )
    return found or list(present)


def _begin_region(profile: Profile, stacks: Iterable[int], info: RunInfo) -> bool:
    """Return whether one of these stacks begins in a region."""
    roots = {profile.stacks[stack][:1] for stack in stacks}
    return any(_begins_region(profile.frames[frame], info) for root in roots for frame in root)


def _begins_region(root: Frame, info: RunInfo) -> bool:
    name, file, _ = root
    region = info.region
    expected = region.expected or (region.key.qualname, region.file)
    return file == region.file and (region.kind is RegionKind.BLOCK or (name, file) == expected)


_MOSTLY_WAITS = 0.8
"""Waiting part of the main thread from which on other threads say more of the program."""


def opening_thread(profile: Profile, waiting: Collection[int], info: RunInfo) -> int | None:
    """Return the index of the thread that a picture of all threads should open on, None for all of them.

    It is the main thread if it worked, and there are others.
    """
    main = main_timeline(profile, info, is_selected=False)
    if main.threads != 1 or len(profile.weights_by_thread) < 2:
        return None
    waited = weight_of(waiting, main.profile.weights_by_stack)
    return next(iter(main.profile.weights_by_thread)) if waited < _MOSTLY_WAITS * main.weight else None


def are_all_of_calls(profile: Profile, info: RunInfo) -> bool:
    """Return whether all threads ran a region's calls: none of them is idle."""
    present = sorted(profile.weights_by_thread)
    return info.region.kind is not RegionKind.PROGRAM and len(_main_threads(profile, info, present)) == len(
        present
    )


def other_timelines(
    profile: Profile, info: RunInfo, main: Timeline, ranks: Ranks = MappingProxyType({})
) -> list[Timeline]:
    """Return the timelines of the other threads, in groups of alike ones, the heaviest first."""
    number_of = {thread: number for number, thread in enumerate(profile.threads)}
    of_main = {profile.threads[number] for number in main.profile.weights_by_thread}
    rows = [_row(row.thread, row.weight) for row in thread_rows(profile) if row.thread not in of_main]
    groups = thread_groups(rows)
    members = [[number_of[Thread(row.pid, row.tid, row.name)] for row in one.threads] for one in groups]
    found = []
    for group, part in zip(groups, split_threads(profile, members), strict=True):
        pid = group.threads[0].pid
        is_child = pid not in (0, info.process.pid)
        process = f"rank {ranks[pid]}" if pid in ranks else f"child process {pid}" if is_child else ""
        size = len(group.threads)
        is_main = is_child and group.name == MAIN_THREAD
        found.append(Timeline(_subject(group.name, size, process), "", part, size, is_main))
    return found


def _row(thread: Thread, weight: int) -> ThreadRow:
    return ThreadRow(thread.name, thread.pid, thread.tid, weight, 0.0, None)


def together(children: Sequence[Timeline], *, is_first: bool, noun: str = "child processes") -> Timeline:
    """Return other processes as one timeline; if it is not the first one, others were spoken of."""
    samples = tuple(sample for child in children for sample in child.profile.samples)
    profile = replace(children[0].profile, samples=samples)
    subject = f"{len(children)} {'' if is_first else 'other '}{noun}"
    return Timeline(subject, "", profile, len(children), is_main_of_child=True)


def _subject(name: str, threads: int, process: str) -> str:
    if threads > 1:
        return f"{threads} threads “{name}”" if name else f"{threads} threads without a name"
    if process and name == MAIN_THREAD:
        return process
    thread = f"thread “{name}”" if name else "a thread without a name"
    return f"{thread} of {process}" if process else thread
