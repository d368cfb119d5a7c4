"""Shares of calls on two sides of a comparison, from the root down as far as they are large enough."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from profkit.model.profile import Frame, Profile
from profkit.transforms.simplify import HEAVY, package_numbers
from profkit.transforms.trees import number_functions


@dataclass(slots=True)
class SharedCall:
    """A call that samples of either side have; shares include callees."""

    frame: Frame
    """With the heaviest line in A; in B, if A has no such call."""
    a: float
    b: float
    children: list[SharedCall] = field(default_factory=list)
    """In no particular order."""


def shared_calls(both: Profile, least: float, is_library: Callable[[str], bool] | None = None) -> SharedCall:
    """Return the calls of the two threads of a profile, as parts of each thread's weight.

    Calls are as in the call tree of `fold_libraries`, if `is_library` is given. Those with less than `least`
    on both sides are left out, with their callees. That is found from the root down: most stacks of a large
    profile are not followed to their end.
    """
    return _Sides(both, least, is_library).root()


@dataclass(slots=True)
class _Group:
    """Stacks with the same call."""

    call: SharedCall
    function: int
    package: float
    numbers: list[int]


class _Sides:
    def __init__(self, both: Profile, least: float, is_library: Callable[[str], bool] | None) -> None:
        self._frames, self._stacks, self._least = both.frames, both.stacks, least
        functions = number_functions(both.frames)
        self._functions = functions.of
        packages = package_numbers(functions, is_library or (lambda _: False))
        self._packages = list(map(packages.__getitem__, functions.of))
        self._weights = [both.weights_by_thread.get(side, {}) for side in (0, 1)]
        self._totals = [sum(weights.values()) or 1 for weights in self._weights]
        self._heavy = HEAVY * both.total_weight
        self._next = [0] * len(both.stacks)
        """By stack: the place of the next frame; beyond the end of a stack after a heavy end."""
        self._last = [0] * len(both.stacks)
        """By stack: the frame of the last call."""

    def root(self) -> SharedCall:
        used = [number for number in range(len(self._stacks)) if any(number in one for one in self._weights)]
        root = SharedCall(Frame("", ""), 1.0, 1.0)
        pending = [_Group(root, -1, math.nan, used)]
        while pending:
            group = pending.pop()
            for function, numbers in self._callees(group).items():
                a, b = (self._share(side, numbers) for side in (0, 1))
                if self._least and max(a, b) < self._least:
                    continue
                call = SharedCall(self._heaviest(numbers), a, b)
                group.call.children.append(call)
                package = self._packages[self._last[numbers[0]]]
                pending.append(_Group(call, function, package, numbers))
        return root

    def _callees(self, group: _Group) -> dict[int, list[int]]:
        """Return the stacks of each function that is called next, and follow them to that call."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        ends: defaultdict[int, list[int]] = defaultdict(list)
        package, packages, functions = group.package, self._packages, self._functions
        for number in group.numbers:
            stack, place = self._stacks[number], self._next[number]
            size = len(stack)
            while place < size and packages[stack[place]] == package:
                place += 1
            if place < size:
                self._follow(number, stack[place], place + 1)
                found[functions[stack[place]]].append(number)
            elif place == size and stack and functions[stack[-1]] != group.function:
                ends[functions[stack[-1]]].append(number)
        for function, numbers in ends.items():
            if sum(one.get(number, 0) for number in numbers for one in self._weights) >= self._heavy:
                for number in numbers:
                    self._follow(number, self._stacks[number][-1], len(self._stacks[number]) + 1)
                found[function] += numbers
        return found

    def _follow(self, number: int, frame: int, place: int) -> None:
        self._last[number], self._next[number] = frame, place

    def _share(self, side: int, numbers: Sequence[int]) -> float:
        weights = self._weights[side]
        return sum([weights.get(number, 0) for number in numbers]) / self._totals[side]

    def _heaviest(self, numbers: Sequence[int]) -> Frame:
        """Return the frame of the line with the most weight on the first side that has the call."""
        weights: Counter[Frame] = Counter()
        of_a, of_b = self._weights
        here = of_a if any(number in of_a for number in numbers) else of_b
        for number in numbers:
            if number in here:
                weights[self._frames[self._last[number]]] += here[number]
        return min(weights, key=lambda frame: (-weights[frame], frame.line))
