"""What the lines of functions weigh; recursion counts once per sample, unless totals are stated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from profkit.model.profile import Profile
from profkit.transforms.trees import picked, stack_weights


class LineWeights(NamedTuple):
    """A line of a function, given by its number; line 0 stands for what is not known."""

    function: int
    line: int
    own: int
    total: int


def line_weights(profile: Profile, keys: Sequence[int]) -> tuple[LineWeights, ...]:
    """All lines that have samples or a stated total, by function and line; frame n is of `keys[n]`."""
    numbers: dict[tuple[int, int], int] = {}
    of_frame = [
        numbers.setdefault((key, frame.line), len(numbers))
        for key, frame in zip(keys, profile.frames, strict=True)
    ]
    own, total = [0] * len(numbers), [0] * len(numbers)
    for weight, stacks in _by_weight(profile).items():
        for number, times in Counter(of_frame[stack[-1]] for stack in stacks).items():
            own[number] += weight * times
        once = (set(picked(stack, of_frame)) for stack in stacks)
        for number, times in Counter(chain.from_iterable(once)).items():
            total[number] += weight * times
    for number, stated in zip(of_frame, profile.totals, strict=False):
        total[number] = total[number] if stated is None else stated
    lines = (LineWeights(*place, own[number], total[number]) for place, number in numbers.items())
    return tuple(sorted(line for line in lines if line.total))


def _by_weight(profile: Profile) -> dict[int, list[tuple[int, ...]]]:
    """The stacks that have frames by their weight: what is equal can be counted, which is fast."""
    stacks: dict[int, list[tuple[int, ...]]] = {}
    for number, weight in stack_weights(profile).items():
        if profile.stacks[number]:
            stacks.setdefault(weight, []).append(profile.stacks[number])
    return stacks


def heaviest_lines(lines: Sequence[LineWeights]) -> dict[int, list[LineWeights]]:
    """The lines of each function, the heaviest first; functions likewise, by their heaviest line."""
    found: dict[int, list[LineWeights]] = {}
    for line in sorted(lines, key=lambda line: (-line.total, line)):
        found.setdefault(line.function, []).append(line)
    return found
