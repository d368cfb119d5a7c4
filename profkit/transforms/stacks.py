"""Stacks in lexicographic order: a call tree without nodes.

Stacks that begin alike stand next to each other, so a call is a range of them at a depth, its weight a
sum over the range, and its callees the ranges that it falls into one frame further. Nothing has to be
made for calls that nobody looks at, of which big profiles have millions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, count
from operator import itemgetter, ne
from typing import NamedTuple

from profkit.model.frame import Frame
from profkit.model.profile import Profile, Sample

Stack = tuple[int, ...]


def sum_samples(profile: Profile) -> Profile:
    """The profile with the samples of a stack in a thread as one, in no order.

    Of a million samples few are distinct: what does not ask for their order asks for them once, here. Where
    they are in none it was asked before.
    """
    if not profile.ordered:
        return profile
    weights: Counter[tuple[int, int]] = Counter()
    for (stack, thread, weight), times in Counter(profile.samples).items():
        weights[stack, thread] += weight * times
    samples = tuple(Sample(*where, weight) for where, weight in weights.items())
    return replace(profile, samples=samples, ordered=False)


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
    weights: dict[int, int] = {}
    for stack, _, weight in profile.samples:
        weights[stack] = weights.get(stack, 0) + weight
    return weights


class Functions(NamedTuple):
    """The functions (name and file) of a profile's frames, numbered once for all that asks for them."""

    of: list[int]
    """By frame: the number of its function."""
    keys: list[tuple[str, str]]
    """By number: name and file."""


def number_functions(frames: Sequence[Frame], *, by_line: bool = False) -> Functions:
    """Number the functions of frames in the order in which they come up.

    With `by_line`, functions of the same name and file are different if their lines are: use it for profiles
    with stated totals, whose lines are those where functions begin.
    """
    if by_line:
        lines: dict[Frame, int] = {}
        of = [lines.setdefault(frame, len(lines)) for frame in frames]
        return Functions(of, [(frame.name, frame.file) for frame in lines])
    numbers: dict[tuple[str, str], int] = {}
    of = [numbers.setdefault((name, file), len(numbers)) for name, file, _ in frames]
    return Functions(of, list(numbers))


def picked(stack: Stack, keys: Sequence[int]) -> Stack:
    """`keys[n]` for each frame number n of a stack, several times as fast as a loop."""
    if len(stack) < 2:
        return tuple([keys[frame] for frame in stack])
    found: Stack = itemgetter(*stack)(keys)
    return found


def sort_stacks(profile: Profile, keys: Sequence[int]) -> SortedStacks:
    """The stacks of a profile in which frame number n counts as `keys[n]`, such as its function's number."""
    weights = stack_weights(profile)
    mapped = {number: picked(profile.stacks[number], keys) for number in weights}
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
