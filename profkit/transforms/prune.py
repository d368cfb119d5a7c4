"""A profile without its small calls: those are summed up under their callers."""

from __future__ import annotations

from collections.abc import Sequence

from profkit.model.frame import Frame
from profkit.model.profile import Profile, Sample
from profkit.transforms.stacks import SortedStacks, sort_stacks

SMALLER_CALLS = Frame("smaller calls", "")
"""Stands for all calls of a caller that are left out."""


def prune(profile: Profile, min_share: float) -> Profile:
    """The profile in which each call weighs at least that part of the whole.

    The weight of those left out is that of `SMALLER_CALLS` under the same caller. Samples keep their
    order; equal neighbours of a thread become one. Stated totals stay: they are of the functions.
    """
    functions: dict[tuple[str, str], int] = {}
    keys = [functions.setdefault((frame.name, frame.file), len(functions)) for frame in profile.frames]
    ordered = sort_stacks(profile, keys)
    depths = _kept_depths(ordered, min_share * profile.total_weight)
    smaller = len(profile.frames)
    stacks: dict[tuple[int, ...], int] = {}
    places = []
    for stack, place in zip(profile.stacks, ordered.places, strict=True):
        depth = depths[place] if place >= 0 else len(stack)
        cut = stack if depth == len(stack) else (*stack[:depth], smaller)
        places.append(stacks.setdefault(cut, len(stacks)))
    return Profile(
        unit=profile.unit,
        period_ns=profile.period_ns,
        frames=(*profile.frames, SMALLER_CALLS),
        stacks=tuple(stacks),
        threads=profile.threads,
        samples=_moved(profile, places),
        ordered=profile.ordered,
        totals=(*profile.totals, None) if profile.totals else (),
    )


def _kept_depths(sorted_stacks: SortedStacks, least: float) -> list[int]:
    """How many frames of each stack belong to calls of at least that weight."""
    opened: list[tuple[int, int]] = []  # of each call: the first stack that has it, the weight before it
    heavy = [0] * len(sorted_stacks.stacks)  # calls that begin with a stack and weigh enough
    before = 0

    def close(depth: int) -> None:
        while len(opened) > depth:
            first, since = opened.pop()
            heavy[first] += before - since >= least

    for number, (stack, shared) in enumerate(zip(sorted_stacks.stacks, sorted_stacks.shared, strict=True)):
        close(shared)
        opened += [(number, before)] * (len(stack) - shared)
        before += sorted_stacks.weights[number]
    close(0)
    return _depths(heavy, sorted_stacks.shared)


def _depths(heavy: Sequence[int], shared: Sequence[int]) -> list[int]:
    depths: list[int] = []
    for more, common in zip(heavy, shared, strict=True):
        previous = depths[-1] if depths else 0
        # A call weighs no more than its caller: below one that is left out nothing is kept.
        depths.append(previous if previous < common else common + more)
    return depths


def _moved(profile: Profile, places: Sequence[int]) -> tuple[Sample, ...]:
    """The samples with other stacks; equal neighbours of a thread are one."""
    moved: list[Sample] = []
    newest: dict[int, int] = {}
    for stack, thread, weight in profile.samples:
        at = newest.get(thread, -1)
        if at >= 0 and moved[at].stack == places[stack]:
            moved[at] = Sample(places[stack], thread, moved[at].weight + weight)
        else:
            newest[thread] = len(moved)
            moved.append(Sample(places[stack], thread, weight))
    return tuple(moved)
