"""Traces of samples: each names a node of the tree `stackFrames`, whose nodes name their parents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count, pairwise

from profkit.formats.chrome_trace.names import frame_named
from profkit.formats.json_members import bounded, member, optional, whole
from profkit.formats.limits import BoundedBuilder
from profkit.model.profile import Profile, Thread
from profkit.stats.ranks import median

_Stack = tuple[int, ...]


def sampled_profile(document: Mapping[str, object], builder: BoundedBuilder) -> Profile:
    """The samples of all threads, in the order of their times.

    What a sample stands for is the usual time from one to the next of its thread. Raises ValueError,
    naming the sample or frame, for what the format does not allow.
    """
    stacks = _Stacks(optional(document, "the file", "stackFrames", {}), builder)
    threads: dict[int, list[tuple[float, int, _Stack]]] = defaultdict(list)
    for place, sample in enumerate(member(document, "the file", "samples", list)):
        where = f"samples[{place}]"
        tid = whole(member(sample, where, "tid", object), f"{where}.tid")
        at = bounded(member(sample, where, "ts", object), f"{where}.ts")
        weight = whole(sample.get("weight", 1), f"{where}.weight")
        threads[tid].append((at, weight, stacks.stack(member(sample, where, "sf", object), where)))
    gaps: list[float] = []
    for tid, samples in threads.items():
        samples.sort(key=lambda sample: sample[0])
        gaps += (later - earlier for (earlier, *_), (later, *_) in pairwise(samples))
        thread = builder.thread(Thread(0, tid, ""))
        for _, weight, stack in samples:
            builder.add_indexed(stack, thread, weight)
    return builder.build(period_ns=median(gaps) * 1000 if gaps else 0.0)


class _Stacks:
    """Stacks by the id of their innermost frame; those between are not kept, which would be quadratic."""

    def __init__(self, listed: Mapping[object, object], builder: BoundedBuilder) -> None:
        # Ids are numbers or strings, in the samples as well as in the tree.
        self._frames = {str(key): frame for key, frame in listed.items()}
        self._builder = builder
        self._known: dict[str, _Stack] = {}
        self._numbers: dict[str, int] = {}

    def stack(self, leaf: object, where: str) -> _Stack:
        """The frames from the root to this one; raises ValueError for one that there is not."""
        key = str(leaf)
        if leaf is None or key in self._known:
            return () if leaf is None else self._known[key]
        path = list(self._path(leaf, where))
        self._known[key] = stack = tuple([self._frame(at) for at in reversed(path)])
        return stack

    def _path(self, leaf: object, where: str) -> Iterator[str]:
        """Walk from this frame to the root."""
        at: object = leaf
        for depth in count(1):
            if str(at) not in self._frames or depth > len(self._frames):
                raise ValueError(f"{where} has a frame {at!r} that stackFrames lacks, or that holds itself")
            self._builder.budget.check_depth(depth)
            yield str(at)
            frame = self._frames[str(at)]
            at = frame.get("parent") if isinstance(frame, dict) else None
            if at is None:
                return

    def _frame(self, at: str) -> int:
        number = self._numbers.get(at)
        if number is None:
            name = member(self._frames[at], f"stackFrames[{at!r}]", "name", str)
            number = self._numbers[at] = self._builder.frame(frame_named(name))
        return number
