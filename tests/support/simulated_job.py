"""A synchronous job, simulated step by step: each rank does its own part, then all wait for the last one.

It knows nothing of how reports find out who was late: times are chosen first, and samples taken of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from profkit.model.profile import Frame, ProfileBuilder, Thread, ThreadState
from profkit.model.run import Run
from profkit.model.session import Member
from tests.support.example_runs import APP, TORCH
from tests.support.example_worker_runs import worker_run

BACKWARD = (
    Frame("train", APP, 44),
    Frame("Tensor.backward", f"{TORCH}/_tensor.py", 500),
    Frame("_engine_run_backward", f"{TORCH}/autograd/graph.py", 800),
)
_NEXT = (
    Frame("train", APP, 41),
    Frame("_BaseDataLoaderIter.__next__", f"{TORCH}/utils/data/dataloader.py", 700),
)


class Part(NamedTuple):
    """What a rank does for some time of a step: the frames of its stack, outermost first."""

    frames: tuple[Frame, ...]
    seconds: float
    state: ThreadState = ThreadState.WORKING


FORWARD = (
    Frame("train", APP, 42),
    Frame("DistributedDataParallel.forward", f"{TORCH}/nn/parallel/distributed.py", 1600),
    Frame("Linear.forward", f"{TORCH}/nn/modules/linear.py", 116),
)
AUGMENT = (Frame("train", APP, 41), Frame("augment", APP, 9))
PLANTED = {
    "python": (*AUGMENT, Frame("slow_augment", APP, 20)),
    "C": (*AUGMENT, Frame("slow_compress", APP, 24), Frame("compress", "/usr/lib/python3.11/gzip.py", 580)),
    "I/O": (*AUGMENT, Frame("slow_read", APP, 28)),
    "loader": (*_NEXT, Frame("Queue.get", "/usr/lib/python3.11/multiprocessing/queues.py", 113)),
    "backward": (*BACKWARD, Frame("slow_hook", APP, 32)),
}
"""Stacks of a late rank, by the kind of its lateness."""
WAITING = {"I/O", "loader"}
"""Kinds in which the late rank itself waits."""
Step = Callable[[int, int], Sequence[Part]]
"""Returns what a rank does by itself in a step."""


@dataclass(frozen=True)
class Job:
    """The timelines of all ranks of a job."""

    ranks: tuple[tuple[Part, ...], ...]

    @classmethod
    def of(cls, ranks: int, steps: int, step: Step) -> Job:
        """Run a job: in each step, all wait in the backward pass until the last rank has done its part."""
        timelines: list[list[Part]] = [[] for _ in range(ranks)]
        for number in range(steps):
            own = [step(rank, number) for rank in range(ranks)]
            last_s = max(sum(part.seconds for part in parts) for parts in own)
            for timeline, parts in zip(timelines, own, strict=True):
                left_s = last_s + 0.002 - sum(part.seconds for part in parts)
                timeline += [*parts, Part(BACKWARD, left_s, ThreadState.WAITING)]
        return cls(tuple(map(tuple, timelines)))

    def runs(self, period_s: float = 0.02, hosts: int = 1, seed: int = 1) -> list[Run]:
        """Return a run of each rank, sampled with a period, each from a moment of its own."""
        chance = random.Random(seed)
        size = len(self.ranks)
        return [
            _run(rank, timeline, period_s, chance.random() * period_s, size, f"node-{rank * hosts // size}")
            for rank, timeline in enumerate(self.ranks)
        ]


def _run(rank: int, timeline: Sequence[Part], period_s: float, first_s: float, size: int, host: str) -> Run:
    run = worker_run(rank, {}, host=host, period_ns=period_s * 1e9)
    builder, thread = ProfileBuilder(), Thread(run.info.process.pid, run.info.process.pid, "MainThread")
    at_s, next_s, samples = 0.0, first_s, 0
    for part in timeline:
        at_s += part.seconds
        while next_s < at_s:
            builder.add(part.frames, thread, 1, state=part.state)
            next_s += period_s
            samples += 1
    member = Member("job-1", rank, rank, size)
    info = replace(
        run.info,
        process=replace(run.info.process, member=member),
        region=replace(run.info.region, file=APP),
        samples=samples,
    )
    return replace(run, info=info, profile=builder.build(period_ns=period_s * 1e9))


def even(chance: random.Random, spread: float = 0.2) -> Step:
    """Return steps that take about 40 ms in each rank, now longer and now shorter."""

    def step(rank: int, number: int) -> list[Part]:
        return [
            Part(AUGMENT, 0.02 * chance.lognormvariate(0, spread)),
            Part(FORWARD, 0.02 * chance.lognormvariate(0, spread)),
        ]

    return step


def crowded(chance: random.Random, ranks: int) -> Step:
    """Return even steps on half as many processors: for a while, some ranks share one and others do not."""
    usual = even(chance)
    slowed: dict[int, float] = {}
    ends = [0] * ranks

    def step(rank: int, number: int) -> list[Part]:
        if number >= ends[rank]:
            ends[rank] = number + chance.randrange(1, 40)
            slowed[rank] = chance.choice((1.0, 2.0))
        return [part._replace(seconds=part.seconds * slowed[rank]) for part in usual(rank, number)]

    return step


def late(usual: Step, ranks: Sequence[int], kind: str, seconds: float) -> Step:
    """Return steps in which some ranks take so many seconds longer."""
    state = ThreadState.WAITING if kind in WAITING else ThreadState.WORKING

    def step(rank: int, number: int) -> list[Part]:
        more = [Part(PLANTED[kind], seconds, state)] if rank in ranks else []
        return [*usual(rank, number), *more]

    return step
