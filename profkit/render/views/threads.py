"""Threads of a sampled run: their shares, groups of those whose names are alike, and selected ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from profkit.errors import UsageError
from profkit.model.profile import Profile, Sample, Thread, ThreadState
from profkit.render.escape import short
from profkit.render.views.costs import scale_of
from profkit.transforms import tables
from profkit.transforms.trees import weight_of


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread and its part of all samples."""

    name: str
    pid: int
    tid: int
    samples: int
    share: float
    seconds: float | None
    working_share: float | None = None
    """Part of its own samples in which it worked; None if weights are not times."""
    gil_share: float | None = None
    """Part in which it waited for the GIL; None if states of threads are not known."""


def thread_rows(profile: Profile, waiting: Collection[int] = ()) -> tuple[ThreadRow, ...]:
    """Return the threads with samples, the heaviest first; `waiting` has the stacks that wait."""
    scale = scale_of(profile)
    waits: Counter[Thread] = Counter()
    gil: Counter[Thread] = Counter()
    wanting_gil = profile.stacks_in(ThreadState.GIL)
    for thread, weights in profile.weights_by_thread.items():
        waits[profile.threads[thread]] += weight_of(waiting, weights)
        gil[profile.threads[thread]] += weight_of(wanting_gil, weights)
    return tuple(
        ThreadRow(
            *(row.thread.name, row.thread.pid, row.thread.tid, row.weight),
            share=scale.share(row.weight),
            seconds=scale.seconds(row.weight),
            working_share=1 - waits[row.thread] / max(1, row.weight) if profile.unit.is_time else None,
            gil_share=gil[row.thread] / max(1, row.weight) if profile.states else None,
        )
        for row in tables.thread_rows(profile)
    )


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """Threads whose names differ only in numbers, such as those of a pool."""

    name: str
    """Their name, with `*` for a number; of a single thread, its own name."""
    threads: tuple[ThreadRow, ...]

    @property
    def samples(self) -> int:
        """Weight of all their samples."""
        return sum(row.samples for row in self.threads)

    @property
    def share(self) -> float:
        """Their part of all samples."""
        return sum(row.share for row in self.threads)

    @property
    def seconds(self) -> float | None:
        """Time of their samples, summed."""
        known = [row.seconds for row in self.threads if row.seconds is not None]
        return sum(known) if known else None

    @property
    def working_share(self) -> float | None:
        """Part of their samples in which they worked."""
        return self._mean([row.working_share for row in self.threads])

    @property
    def gil_share(self) -> float | None:
        """Part of their samples in which they waited for the GIL."""
        return self._mean([row.gil_share for row in self.threads])

    def _mean(self, shares: Sequence[float | None]) -> float | None:
        known = [
            (share, row.samples) for share, row in zip(shares, self.threads, strict=True) if share is not None
        ]
        return sum(share * samples for share, samples in known) / max(1, self.samples) if known else None


_MIN_GROUP = 3
"""Smallest number of threads that are shown as a group."""
_NUMBER = re.compile(r"\d+")


def thread_groups(rows: Sequence[ThreadRow]) -> tuple[ThreadGroup, ...]:
    """Return the threads in groups of at least three by process and name, the heaviest group first.

    Those without a name are one group.
    """
    groups: dict[tuple[int, str], list[ThreadRow]] = {}
    for row in rows:
        groups.setdefault((row.pid, _NUMBER.sub("*", row.name)), []).append(row)
    found = []
    for (_, name), members in groups.items():
        if len(members) >= _MIN_GROUP or not name:
            found.append(ThreadGroup(name, tuple(members)))
        else:
            found += [ThreadGroup(row.name, (row,)) for row in members]
    return tuple(sorted(found, key=lambda group: (-group.samples, group.name)))


def wanted_threads(profile: Profile, wanted: str) -> tuple[int, ...]:
    """Return the indexes of threads with this name or system id; raise `UsageError` if there are none."""
    meant = [n for n, thread in enumerate(profile.threads) if wanted in (thread.name, str(thread.tid))]
    if not meant:
        there = ", ".join(f"{short(thread.name)} ({thread.tid})" for thread in profile.threads) or "none"
        raise UsageError(f"no samples of a thread {wanted!r}", f"the run has samples of: {there}")
    return tuple(meant)


def only_thread(profile: Profile, wanted: str | None) -> Profile:
    """Return the profile with only the samples of a thread, by name or system id; None keeps all."""
    if wanted is None:
        return profile
    part = of_threads(profile, wanted_threads(profile, wanted))
    # Stated totals include all threads.
    return profile if part.samples == profile.samples else part


def of_threads(profile: Profile, numbers: Collection[int]) -> Profile:
    """Return the samples of some of a profile's threads."""
    return split_threads(profile, [numbers])[0]


def split_threads(profile: Profile, groups: Sequence[Collection[int]]) -> list[Profile]:
    """Return the samples of each group of a profile's threads in one pass; no thread is in two groups."""
    parts: list[list[Sample]] = [[] for _ in groups]
    part_of = {number: part for part, numbers in zip(parts, groups, strict=True) for number in numbers}
    for sample in profile.samples:
        if (part := part_of.get(sample[1])) is not None:
            part.append(sample)
    return [replace(profile, samples=tuple(part), totals=(), starts=()) for part in parts]
