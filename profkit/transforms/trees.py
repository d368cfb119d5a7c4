"""Call trees: a profile's samples merged by caller, as nodes or as sorted stacks."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, compress, count
from operator import itemgetter, ne
from typing import NamedTuple, TypeVar, overload

from profkit.model.profile import Frame, Node, Profile, Sample

Stack = tuple[int, ...]
_T = TypeVar("_T")


def sum_samples(profile: Profile) -> Profile:
    """Return the profile with the samples of each stack and thread merged, without order.

    Few of a million samples are distinct; code that ignores their order reads fewer this way. A profile
    without order is returned unchanged: its samples were merged before.
    """
    if not profile.ordered:
        return profile
    weights: Counter[tuple[int, int]] = Counter()
    for (stack, thread, weight), times in Counter(profile.samples).items():
        weights[stack, thread] += weight * times
    samples = tuple(tuple.__new__(Sample, (*where, weight)) for where, weight in weights.items())
    return replace(profile, samples=samples, ordered=False, starts=())


@dataclass(frozen=True, slots=True)
class SortedStacks:
    """The distinct stacks of a profile's samples, as numbers, in lexicographic order."""

    stacks: tuple[Stack, ...]
    shared: list[int]
    """Number of first frames that a stack has in common with the previous one; 0 for the first."""
    weights: list[int]
    """Weight of the samples of each stack, all threads combined."""
    places: list[int]
    """For each stack of the profile, its index here; -1 if no sample uses it."""


def weight_of(stacks: Collection[int], weights: Mapping[int, int]) -> int:
    """Return the weight of those that are in a set of stacks, or a range; `weights` are by index."""
    return sum(weight for stack, weight in weights.items() if stack in stacks)


class Functions(NamedTuple):
    """Functions (name and file) of a profile's frames, numbered once for all users."""

    of: list[int]
    """By frame: the number of its function."""
    keys: list[tuple[str, str]]
    """By number: name and file."""


def number_functions(frames: Sequence[Frame], *, by_line: bool = False) -> Functions:
    """Assign numbers to the functions of frames, in the order in which they occur.

    With `by_line`, functions of the same name and file differ if their lines do: use it for profiles with
    stated totals, whose lines are the first lines of functions.
    """
    if by_line:
        lines: dict[Frame, int] = {}
        of = [lines.setdefault(frame, len(lines)) for frame in frames]
        return Functions(of, [(frame.name, frame.file) for frame in lines])
    numbers: defaultdict[tuple[str, str], int] = defaultdict(count().__next__)
    of = list(map(numbers.__getitem__, map(itemgetter(0, 1), frames)))
    return Functions(of, list(numbers))


def picked(stack: Sequence[int], keys: Sequence[_T]) -> tuple[_T, ...]:
    """Return `keys[n]` for each frame index n of a stack, several times as fast as a loop."""
    if len(stack) < 2:
        return tuple([keys[frame] for frame in stack])
    mapped: tuple[_T, ...] = itemgetter(*stack)(keys)
    return mapped


def sort_stacks(profile: Profile, keys: Sequence[int]) -> SortedStacks:
    """Return the stacks of a profile with frame index n replaced by `keys[n]`, such as a function number."""
    weights = profile.weights_by_stack
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
    """Return how many first frames two stacks have in common."""
    return next(compress(count(), map(ne, one, other)), min(len(one), len(other)))


def call_tree(profile: Profile, functions: Functions | None = None) -> Node:
    """Return the profile's call tree: one node per function (name and file) under each distinct caller.

    A node's line is the one with the most total weight there. Samples with an empty stack are the root's own
    weight. `functions` are those of the profile's frames, if already known. Weights are those of samples,
    also in a profile with stated totals.
    """
    return _Calls(profile, functions or number_functions(profile.frames)).root()


class _Calls:
    """Stacks sorted by function numbers; a range with equal functions at a depth is one call."""

    def __init__(self, profile: Profile, functions: Functions) -> None:
        weights = profile.weights_by_stack
        by_function = {number: picked(profile.stacks[number], functions.of) for number in weights}
        order = sorted(by_function, key=by_function.__getitem__)
        self._stacks = [by_function[number] for number in order]
        self._frames = [profile.stacks[number] for number in order]
        self._sums = [0, *accumulate(map(weights.__getitem__, order))]
        self._all_frames = profile.frames

    def root(self) -> Node:
        return self._node(Frame("", ""), 0, len(self._stacks), 0)

    def callees(self, low: int, high: int, depth: int) -> list[Node]:
        """Return the calls at a depth of a range of longer stacks with a common prefix."""
        if high - low == 1:  # as for half of the calls of a large tree
            return [self._node(self._all_frames[self._frames[low][depth]], low, high, depth + 1)]
        nodes = []
        while low < high:
            end = self._end(low, high, depth)
            nodes.append(self._node(self._heaviest(low, end, depth), low, end, depth + 1))
            low = end
        nodes.sort(key=_heaviest_first)
        return nodes

    def straight(self, low: int, high: int, depth: int) -> Straight:
        """Return the calls that all of a range of longer stacks have next, with a common prefix."""
        of_frames, count = self._all_frames, high - low
        end = common_length(self._stacks[low], self._stacks[high - 1])
        if count == 1:
            frames = [of_frames[frame] for frame in self._frames[low][depth:]]
        else:
            columns = zip(*(stack[depth:end] for stack in self._frames[low:high]), strict=True)
            frames = [
                of_frames[first]
                if column.count(first := column[0]) == count
                else self._heaviest(low, high, place)
                for place, column in enumerate(columns, depth)
            ]
        return Straight(frames, self._node(frames[-1], low, high, end)) if frames else _NOT_STRAIGHT

    def _node(self, frame: Frame, low: int, high: int, depth: int) -> Node:
        """Return the call of a range of stacks whose first `depth` frames are equal."""
        longer, sums = low, self._sums
        # Shorter stacks precede longer ones with the same beginning.
        while longer < high and len(self._stacks[longer]) == depth:
            longer += 1
        children = _Callees(self, longer, high, depth) if longer < high else ()
        return Node(frame, sums[longer] - sums[low], sums[high] - sums[low], children)

    def _end(self, low: int, high: int, depth: int) -> int:
        """Return the end of the stacks whose function at a depth is that of the range's first."""
        function = self._stacks[low][depth]
        if self._stacks[high - 1][depth] == function:
            return high
        step = 1
        while self._stacks[min(low + step, high - 1)][depth] == function:
            step *= 2
        return bisect_right(
            self._stacks, function, low + step // 2, min(low + step, high), key=itemgetter(depth)
        )

    def _heaviest(self, low: int, high: int, depth: int) -> Frame:
        """Return the frame of the line with the most weight; of ties, the first."""
        frames = {stack[depth] for stack in self._frames[low:high]}
        if len(frames) == 1:
            return self._all_frames[frames.pop()]
        weights: dict[Frame, int] = dict.fromkeys(map(self._all_frames.__getitem__, frames), 0)
        for place in range(low, high):
            frame = self._all_frames[self._frames[place][depth]]
            weights[frame] += self._sums[place + 1] - self._sums[place]
        return min(weights, key=lambda frame: (-weights[frame], frame.line))


class Straight(NamedTuple):
    """Calls of which each is the only callee of the one before, with all weight of its callees."""

    frames: Sequence[Frame]
    end: Node
    """The last of them."""


_NOT_STRAIGHT = Straight((), Node(Frame("", ""), 0, 0))


def children_once(node: Node) -> Sequence[Node]:
    """Return a node's children, and do not keep them in the tree if they are computed now.

    A walk through all calls of a large tree takes far less memory this way.
    """
    return node.children.computed() if isinstance(node.children, _Callees) else node.children


def straight_below(node: Node) -> Straight:
    """Return the calls below a node without branches; none if they are in the tree already."""
    return node.children.straight() if isinstance(node.children, _Callees) else _NOT_STRAIGHT


class _Callees(Sequence[Node]):
    """Children of a node, computed on first access."""

    __slots__ = ("_calls", "_nodes", "_range")

    def __init__(self, calls: _Calls, low: int, high: int, depth: int) -> None:
        self._calls, self._range = calls, (low, high, depth)
        self._nodes: list[Node] | None = None

    def computed(self) -> list[Node]:
        """Return the children as a list that is not kept if it is new."""
        return self._calls.callees(*self._range) if self._nodes is None else self._nodes

    def straight(self) -> Straight:
        """Return the calls without branches; none if nodes were made of them."""
        return self._calls.straight(*self._range) if self._nodes is None else _NOT_STRAIGHT

    def _all(self) -> list[Node]:
        if self._nodes is None:
            self._nodes = self.computed()
        return self._nodes

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Node]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | Sequence[Node]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))


def _heaviest_first(node: Node) -> tuple[int, str, str]:
    return -node.total_weight, node.frame.name, node.frame.file


def sum_parts(
    weighted: Iterable[tuple[_T, int]], parts: Callable[[_T], Iterable[int]], count: int
) -> list[int]:
    """Return the weight of the things that have each of `count` parts; `parts` returns each part once.

    Things without parts that count can return part -1, whose sum is the last of the list.
    """
    sums = [0] * count
    for thing, weight in weighted:
        for part in parts(thing):
            sums[part] += weight
    return sums


class Vectors(NamedTuple):
    """Vectors of integers as single integers, which one addition adds up."""

    bits: int
    """Bits of an element."""
    size: int

    @classmethod
    def that_hold(cls, weights: Iterable[int], size: int) -> Vectors:
        """Return vectors whose elements hold any sum of some of these weights."""
        return cls(sum(map(abs, weights)).bit_length() + 1, size)

    def units(self) -> list[int]:
        """Return the vectors of which one element is 1."""
        return [1 << self.bits * number for number in range(self.size)]

    def elements(self, vector: int) -> list[int]:
        """Return the elements of a vector."""
        if not vector:  # most are: not each run has all functions
            return [0] * self.size
        found, half = [], 1 << self.bits - 1
        for _ in range(self.size):
            element = ((vector + half) & (2 * half - 1)) - half
            found.append(element)
            vector = (vector - element) >> self.bits
        return found
