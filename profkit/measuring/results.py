"""From workers' answers to what a Measurement holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from profkit.errors import BadReply, TooShort, UsageError
from profkit.measuring.replies import TimedArm, arms_in, counted_arm, fresh_arm, timed_arm
from profkit.measuring.worker.asked import Fresh
from profkit.model.measurement import (
    Freshness,
    InstructionCounts,
    MeasuredIn,
    Preload,
    ProcessTimes,
    Timing,
    Tool,
)
from profkit.stats import median
from profkit.transforms.counts import subtract_baseline

if TYPE_CHECKING:
    from profkit.measuring.pool.jobs import Reply, ZygoteFacts

MOST_UNCERTAIN = 0.05
"""Part of a time by which what was subtracted from it may be uncertain."""


def timing_of(label: str, replies: Sequence[Reply], arm: int = 0) -> Timing:
    """One statement's times in the replies of all its processes; raises BadReply.

    Timings of several arms of the same replies were measured interleaved, process by process.
    """
    arms = [timed_arm(label, reply, arm) for reply in replies]
    numbers = sorted({timed.number for timed in arms})
    if len(numbers) != 1:
        raise BadReply(label, f"its processes executed it {numbers} times in a block, not all the same")
    _refuse_too_short(label, arms)
    return Timing(
        number=numbers[0],
        processes=tuple(_process(timed, reply) for timed, reply in zip(arms, replies, strict=True)),
        measured_in=_all_in(label, Tool.NONE, replies),
        freshness=_freshness(arms[0].fresh, min(timed.loop_s for timed in arms)),
    )


def _freshness(fresh: Fresh, loop_s: float = 0.0) -> Freshness:
    return Freshness(bool(fresh["decided"]), tuple(fresh["changes"]), fresh["why_not"], loop_s)


def _refuse_too_short(label: str, arms: Sequence[TimedArm]) -> None:
    """Raise TooShort if what was subtracted is not known well enough for what is left."""
    spread_s = median([timed.loop_spread_s for timed in arms])
    least_s = median([min(timed.times_s) for timed in arms])
    if spread_s > MOST_UNCERTAIN * least_s:
        changes = tuple(arms[0].fresh["changes"])
        raise TooShort(label, changes, least_s, min(timed.loop_s for timed in arms), spread_s)


def numbers_of(label: str, reply: Reply) -> tuple[int, ...]:
    """How many executions of each statement made a block; raises BadReply."""
    return tuple(timed_arm(label, reply, arm).number for arm in range(arms_in(label, reply)))


def counts_of(label: str, reply: Reply, arm: int = 0) -> InstructionCounts:
    """One statement's instructions in a reply, per execution; raises BadReply."""
    counted = counted_arm(label, reply, arm)
    place = measured_in(Tool.VALGRIND, reply.zygote)
    try:
        counts = subtract_baseline(counted.dumps, counted.baseline_dumps, counted.number, place)
    except UsageError as mixed:
        raise BadReply(label, mixed.problem, reply.output) from mixed
    return replace(counts, freshness=_freshness(counted.fresh))


def together(counts: Sequence[InstructionCounts]) -> InstructionCounts:
    """Return counts of one order by several processes: all repeats, and what the least process counted."""
    least = min(counts, key=lambda one: one.stripped)
    return replace(
        least,
        raw=tuple(total for one in counts for total in one.raw),
        raw_stripped=tuple(total for one in counts for total in one.raw_stripped),
        processes=sum(one.processes for one in counts),
    )


def fresh_of(label: str, reply: Reply) -> tuple[Fresh, ...]:
    """Return how the statements of a reply are to be executed; raises BadReply."""
    return tuple(fresh_arm(label, reply, arm) for arm in range(arms_in(label, reply)))


def measured_in(tool: Tool, zygote: ZygoteFacts) -> MeasuredIn:
    """Where the children of a zygote measure."""
    loaded = dict(zygote.packages)
    # Torch brings numpy along, where it is installed.
    found = (preload for preload in (Preload.TORCH, Preload.NUMPY) if preload.value in loaded)
    return MeasuredIn(tool, next(found, Preload.NOTHING), zygote.python, zygote.packages)


def _all_in(label: str, tool: Tool, replies: Sequence[Reply]) -> MeasuredIn:
    places = list(dict.fromkeys(measured_in(tool, reply.zygote) for reply in replies))
    if len(places) != 1:
        known = ", ".join(f"Python {place.python} with {dict(place.packages)}" for place in places)
        raise BadReply(label, f"its processes are of different environments: {known}")
    return places[0]


def _process(timed: TimedArm, reply: Reply) -> ProcessTimes:
    return ProcessTimes(
        times_s=timed.times_s,
        zygote=reply.zygote.serial,
        # Blocks too short to show on the clock say nothing about who had the core.
        cpu_share=timed.cpu_s / timed.wall_s if timed.wall_s > 0 else 1.0,
        involuntary_switches=timed.involuntary,
    )
