"""The code that takes most of the time: a function of the user's, with the library calls that it makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from profkit.model.profile import Frame, Node, Profile
from profkit.transforms.origin import package_of
from profkit.transforms.trees import stack_weights

_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Spender:
    """Function with the most weight of its own, including library calls.

    If all of it is in libraries, without any code of the user's, it is the library's function.
    """

    name: str
    file: str
    line: int
    """Its line with the most weight, 0 if unknown."""
    weight: int
    end: Frame | None
    """Library function with more than half of the weight, if there is one; without a name, the library."""


def top_spender(
    profile: Profile, charged: Sequence[tuple[int, ...]], stacks: Iterable[int]
) -> Spender | None:
    """Return the function with the most weight among some stacks; None if they have no weight.

    `charged` has the profile's stacks without library frames, as `simplify.leave_out_libraries` returns them.
    """
    weights = stack_weights(profile)
    frames = profile.frames
    of_function: Counter[tuple[str, str]] = Counter()
    stacks_of: dict[tuple[str, str], list[int]] = {}
    for stack in stacks:
        if (weight := weights.get(stack, 0)) and charged[stack]:
            function = frames[charged[stack][-1]][:2]
            of_function[function] += weight
            stacks_of.setdefault(function, []).append(stack)
    if not of_function:
        return None
    function, weight = max(of_function.items(), key=lambda item: (item[1], item[0]))
    lines: Counter[int] = Counter()
    ends: Counter[tuple[str, str]] = Counter()
    for stack in stacks_of[function]:
        lines[frames[charged[stack][-1]].line] += weights[stack]
        ends[frames[profile.stacks[stack][-1]][:2]] += weights[stack]
    line = min(lines, key=lambda one: (-lines[one], one))
    return Spender(*function, line, weight, _end(function, ends, weight))


def _end(function: tuple[str, str], ends: Counter[tuple[str, str]], weight: int) -> Frame | None:
    """Return the function, or else the library, in which more than half of the weight is."""
    end = max(ends, key=lambda one: (ends[one], one))
    if ends[end] > _HALF * weight:
        return Frame(*end) if end != function else None
    packages: Counter[str] = Counter()
    file_of = {}
    for other, of_end in ends.items():
        if other != function:
            package = package_of(other[1])
            packages[package] += of_end
            file_of[package] = other[1]
    most = max(packages, key=lambda one: (packages[one], one), default="")
    return Frame("", file_of[most]) if packages[most] > _HALF * weight else None


def common_call(tree: Node, is_library: Callable[[str], bool]) -> Node | None:
    """Return the innermost call of the user's that has more than half of all weight below it.

    Comprehensions and lambdas are left out: the function around them has a name to search for.
    """
    found, node = None, tree
    while node.children and node.children[0].total_weight > _HALF * tree.total_weight:
        node = node.children[0]
        if not is_library(node.frame.file) and not node.frame.name.endswith(">"):
            found = node
    return found
