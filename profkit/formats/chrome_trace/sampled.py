"""Traces of samples: each names a node of the tree `stackFrames`, whose nodes name their parents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise

from profkit.formats.chrome_trace.names import frame_named
from profkit.formats.json_members import member, number, optional, whole
from profkit.model.frame import Thread
from profkit.model.profile import Profile, ProfileBuilder
from profkit.stats.order import median

_Stack = tuple[int, ...]


def sampled_profile(document: Mapping[str, object]) -> Profile:
    """The samples of all threads, in the order of their times.

    What a sample stands for is the usual time from one to the next of its thread. Raises ValueError,
    naming the sample or frame, for what the format does not allow.
    """
    builder = ProfileBuilder()
    stacks = _Stacks(optional(document, "the file", "stackFrames", {}), builder)
    threads: dict[int, list[tuple[float, int, _Stack]]] = defaultdict(list)
    for place, sample in enumerate(member(document, "the file", "samples", list)):
        where = f"samples[{place}]"
        tid = whole(member(sample, where, "tid", object), f"{where}.tid")
        at = number(member(sample, where, "ts", object), f"{where}.ts")
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
    """Stacks by the id of their innermost frame, each walked once."""

    def __init__(self, listed: Mapping[object, object], builder: ProfileBuilder) -> None:
        # Ids are numbers or strings, in the samples as well as in the tree.
        self._frames = {str(key): frame for key, frame in listed.items()}
        self._builder = builder
        self._known: dict[str, _Stack] = {}

    def stack(self, leaf: object, where: str) -> _Stack:
        """The frames from the root to this one; raises ValueError for one that there is not."""
        path: list[str] = []
        key: object = leaf
        while key is not None and str(key) not in self._known:
            if str(key) not in self._frames or len(path) > len(self._frames):
                raise ValueError(f"{where} has a frame {key!r} that stackFrames lacks, or that holds itself")
            path.append(str(key))
            frame = self._frames[str(key)]
            key = frame.get("parent") if isinstance(frame, dict) else None
        stack = self._known[str(key)] if key is not None else ()
        for at in reversed(path):
            name = member(self._frames[at], f"stackFrames[{at!r}]", "name", str)
            stack = self._known[at] = (*stack, self._builder.frame(frame_named(name)))
        return stack
