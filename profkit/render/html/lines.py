"""What the lines of functions weigh; recursion counts once per sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from profkit.model.profile import Profile


class LineWeights(NamedTuple):
    """A line of a function, given by its number; line 0 stands for what is not known."""

    function: int
    line: int
    own: int
    total: int


def line_weights(profile: Profile, keys: Sequence[int]) -> tuple[LineWeights, ...]:
    """All lines that have samples, by function and line; frame n is of function `keys[n]`."""
    numbers: dict[tuple[int, int], int] = {}
    of_frame = [
        numbers.setdefault((key, frame.line), len(numbers))
        for key, frame in zip(keys, profile.frames, strict=True)
    ]
    stacks: dict[int, int] = {}
    for stack, _, weight in profile.samples:
        stacks[stack] = stacks.get(stack, 0) + weight
    own, total = [0] * len(numbers), [0] * len(numbers)
    for stack, weight in stacks.items():
        frames = profile.stacks[stack]
        if frames:
            own[of_frame[frames[-1]]] += weight
        for number in {of_frame[frame] for frame in frames}:
            total[number] += weight
    lines = (LineWeights(*place, own[number], total[number]) for place, number in numbers.items())
    return tuple(sorted(line for line in lines if line.total))


def heaviest_lines(lines: Sequence[LineWeights]) -> dict[int, list[LineWeights]]:
    """The lines of each function, the heaviest first; functions likewise, by their heaviest line."""
    found: dict[int, list[LineWeights]] = {}
    for line in sorted(lines, key=lambda line: (-line.total, line)):
        found.setdefault(line.function, []).append(line)
    return found
