"""Stacks in lexicographic order: a call tree without nodes.

Stacks that begin alike stand next to each other, so a call is a range of them at a depth, its weight a
sum over the range, and its callees the ranges that it falls into one frame further. Nothing has to be
made for calls that nobody looks at, of which big profiles have millions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, count
from operator import ne

from profkit.model.profile import Profile

Stack = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SortedStacks:
    """The distinct stacks of a profile's samples, as numbers, in lexicographic order."""

    stacks: tuple[Stack, ...]
    shared: list[int]
    """How many of its first frames a stack has in common with the one before it; 0 for the first."""
    weights: list[int]
    """Weight of the samples of each stack, all threads together."""
    places: list[int]
    """For each stack of the profile, its index here; -1 where no sample uses it."""


def stack_weights(profile: Profile) -> dict[int, int]:
    """The weight of each stack that samples use, by its index in the profile."""
    weights = dict.fromkeys({sample.stack for sample in profile.samples}, 0)
    for stack, _, weight in profile.samples:
        weights[stack] += weight
    return weights


def sort_stacks(profile: Profile, keys: Sequence[int]) -> SortedStacks:
    """The stacks of a profile in which frame number n counts as `keys[n]`, such as its function's number."""
    weights = stack_weights(profile)
    key_of = keys.__getitem__
    mapped = {number: tuple(map(key_of, profile.stacks[number])) for number in weights}
    stacks: list[Stack] = []
    shared: list[int] = []
    sums: list[int] = []
    places = [-1] * len(profile.stacks)
    for number in sorted(mapped, key=mapped.__getitem__):
        stack = mapped[number]
        common = common_length(stacks[-1], stack) if stacks else 0
        if stacks and common == len(stack) == len(stacks[-1]):
            sums[-1] += weights[number]
        else:
            stacks.append(stack)
            shared.append(common)
            sums.append(weights[number])
        places[number] = len(stacks) - 1
    return SortedStacks(tuple(stacks), shared, sums, places)


def common_length(one: Stack, other: Stack) -> int:
    """How many frames two stacks have in common at their beginning."""
    return next(compress(count(), map(ne, one, other)), min(len(one), len(other)))
