"""Attribution of samples to regions.

Each region calls code under its own names, so that a misattributed sample shows: a frame of one region's
work in the run of another. Torn stacks, which runs omit, are counted separately.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from benchmarks.attached import finished_run
from benchmarks.figures import Figure, check_enough
from benchmarks.pairs import share_figure
from benchmarks.sampled_child import PREFERS_READER
from benchmarks.work import fixed_work, renamed, turns_for
from profkit import Run, profile
from profkit.calls.keywords import ProfilerOptions
from profkit.decorators import ProfiledFunction
from profkit.model.notes import NoteCode

RATE_HZ = 250
LENGTHS_S = {"4 µs": 4e-6, "50 µs": 5e-5, "0.5 ms": 5e-4, "5 ms": 5e-3}
_BOUND_FROM_S, _BOUND_PERCENT = 5e-3, 1.0
_COROUTINES = 10
_ROUND_S, _MOST_ROUNDS = 5.0, 12
_ENOUGH_SAMPLES, _FEWEST_SAMPLES = 2_000, 500
"""Rounds end with the first number; fewer than the second are no measurement."""

Work = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to sample."""

    what: str
    options: ProfilerOptions
    exact: bool
    """True if no sample may be wrong."""


MODES = (
    Mode("blocking", {"sampler": "pyspy", "blocking": True}, exact=True),
    Mode("nonblocking", {"sampler": "pyspy", "blocking": False}, exact=False),
    *([Mode("cpython", {"sampler": "cpython"}, exact=True)] if PREFERS_READER else []),
)


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of samples of some regions: in their runs, misattributed, and discarded as torn."""

    kept: int = 0
    wrong: int = 0
    torn: int = 0
    warned: bool = False
    """True if a run warns that too many stacks were torn, and names a fix."""

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.kept + other.kept,
            self.wrong + other.wrong,
            self.torn + other.torn,
            self.warned or other.warned,
        )


def measure(quick: bool) -> list[Figure]:
    """Measure alternating regions, threads in one region, and coroutines, by sampler and length of calls."""
    round_s, enough, fewest = (0.3, 1, 1) if quick else (_ROUND_S, _ENOUGH_SAMPLES, _FEWEST_SAMPLES)
    figures = []
    for mode in MODES:
        options: ProfilerOptions = {**mode.options, "rate": RATE_HZ}
        for length, length_s in LENGTHS_S.items():
            turns = turns_for(length_s)
            for what, tallied in _CASES.items():
                described = f"{what}, {length} each, {mode.what}"
                tally = _repeated(partial(tallied, turns, round_s, options), enough)
                check_enough(tally.kept, fewest, described)
                figures.append(_figure(described, tally, mode, length_s))
    return figures


def _repeated(case: Callable[[], Tally], enough: int) -> Tally:
    """Repeat a case until it has enough samples, or has had its rounds."""
    tally = Tally()
    for _ in range(_MOST_ROUNDS):
        tally += case()
        if tally.kept >= enough:
            break
    return tally


def alternating(turns: int, duration_s: float, options: ProfilerOptions) -> Tally:
    """Run two regions, one after the other, without pauses."""
    first, second = (_region(name, options) for name in ("first", "second"))
    end_s = perf_counter() + duration_s
    while perf_counter() < end_s:
        first(turns)
        second(turns)
    return _tally(first, ["second"]) + _tally(second, ["first"])


def two_threads(turns: int, duration_s: float, options: ProfilerOptions) -> Tally:
    """Run one region in which each of two threads does its own work."""

    def shared(work: Work) -> int:
        return work(turns)

    named: ProfilerOptions = {**options, "label": "shared"}
    decorated = profile(**named)(shared)
    tids: dict[str, int] = {}
    end_s = perf_counter() + duration_s

    def run(name: str) -> None:
        tids[name] = threading.get_native_id()
        work = renamed(fixed_work, f"{name}_work")
        while perf_counter() < end_s:
            decorated(work)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("left", "right")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result = finished_run(decorated)
    return _count(result, lambda tid, names: f"{_other(tids, tid)}_work" in names)


def coroutines(turns: int, duration_s: float, options: ProfilerOptions) -> Tally:
    """Run ten regions that alternate in one event loop."""
    names = [f"task{number}" for number in range(_COROUTINES)]
    regions = [_coroutine_region(name, duration_s, options) for name in names]

    async def gather() -> None:
        await asyncio.gather(*(region(turns) for region in regions))

    asyncio.run(gather())
    tallies = [_tally(region, {*names} - {name}) for name, region in zip(names, regions, strict=True)]
    return sum(tallies, Tally())


_CASES: dict[str, Callable[[int, float, ProfilerOptions], Tally]] = {
    "two regions alternately": alternating,
    "two threads in one region": two_threads,
    "ten coroutines": coroutines,
}
"""Functions of the turns of a call, the duration, and the sampler's options."""


def _region(name: str, options: ProfilerOptions) -> ProfiledFunction[[int], int]:
    work = renamed(fixed_work, f"{name}_work")

    def body(turns: int) -> int:
        return work(turns)

    named: ProfilerOptions = {**options, "label": name}
    return profile(**named)(renamed(body, f"{name}_body"))


def _coroutine_region(
    name: str, duration_s: float, options: ProfilerOptions
) -> ProfiledFunction[[int], Coroutine[object, object, None]]:
    work = renamed(fixed_work, f"{name}_work")

    async def body(turns: int) -> None:
        end_s = perf_counter() + duration_s
        while perf_counter() < end_s:
            work(turns)
            await asyncio.sleep(0)

    named: ProfilerOptions = {**options, "label": name}
    return profile(**named)(renamed(body, f"{name}_body"))


def _tally(region: ProfiledFunction[..., object], others: Iterable[str]) -> Tally:
    foreign = {f"{other}_{part}" for other in others for part in ("body", "work")}
    return _count(finished_run(region), lambda _, names: not foreign.isdisjoint(names))


def _count(run: Run, is_wrong: Callable[[int, frozenset[str]], bool]) -> Tally:
    if run.profile is None:
        raise RuntimeError("the run has no samples")
    taken = run.profile
    names = [frozenset(taken.frames[frame].name for frame in stack) for stack in taken.stacks]
    wrong = sum(
        sample.weight
        for sample in taken.samples
        if is_wrong(taken.threads[sample.thread].tid, names[sample.stack])
    )
    warned = any(note.code is NoteCode.TORN for note in run.info.notes)
    return Tally(run.info.samples, wrong, run.info.torn, warned)


def _other(tids: dict[str, int], tid: int) -> str:
    return next(name for name, other in tids.items() if other != tid)


def _figure(what: str, tally: Tally, mode: Mode, length_s: float) -> Figure:
    bound = 0.0 if mode.exact else _BOUND_PERCENT if length_s >= _BOUND_FROM_S else None
    torn_share = tally.torn / (tally.kept + tally.torn)
    return share_figure(
        f"{what}: samples in a wrong one", tally.wrong, tally.kept, bound, certain=mode.exact,
        detail=f"{tally.wrong} of {tally.kept:,}; {torn_share:.1%} torn{', the run warns' * tally.warned}",
    )  # fmt: skip
