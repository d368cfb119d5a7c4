"""Unfold call graphs into stacks along their heaviest paths."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from profkit.model.measurement import CallCount, FunctionCount, InstructionCounts
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.units import Unit

_MOST_PATHS = 20_000
_LEAST_PART = 1e-5

CheckDepth = Callable[[int], None]
"""Raises an error for a path of this depth that must not be followed, or if it takes too long already."""

Calls = Mapping[tuple[Frame, Frame], float]
"""Inclusive cost by (caller, callee)."""

Roots = Mapping[Frame, float]
"""The cost with which a function begins stacks."""


@dataclass(frozen=True, slots=True)
class Recursion:
    """What a file says about recursion that times nested calls of a function with the outermost one."""

    functions: Collection[Frame]
    """Those that were called within themselves; no other function was."""
    totals: Mapping[Frame, float]
    """What they cost with all that they called; costs of calls are at most these."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Own costs of functions, what each spends in those that it calls, and where stacks begin."""

    own: Mapping[Frame, int]
    callees: Mapping[Frame, Mapping[Frame, float]]
    """The costliest first."""
    roots: Roots
    spent: Mapping[Frame, float]
    """Own cost and that of all calls; of functions that are known to recurse, their totals."""
    recursion: Recursion | None = None
    """None if every call counts by itself, nested or not."""

    @classmethod
    def of(
        cls,
        own: Mapping[Frame, int],
        calls: Calls,
        roots: Roots | None = None,
        recursion: Recursion | None = None,
    ) -> Graph:
        """The graph of calls; negative costs count as 0, and calls of a function by itself not at all.

        Unless they are known, roots are what of a function's cost its callers do not account for.
        """
        kept = {function: max(0, weight) for function, weight in own.items()}
        callees: dict[Frame, dict[Frame, float]] = {function: {} for function in kept}
        received = dict.fromkeys(kept, 0.0)
        for (caller, callee), cost in sorted(calls.items(), key=lambda call: (-call[1], call[0])):
            if cost > 0 and caller != callee:
                callees.setdefault(caller, {})[callee] = cost
                received[callee] = received.get(callee, 0.0) + cost
        spent = {f: kept.get(f, 0) + sum(costs.values()) for f, costs in callees.items()}
        if roots is None:
            least = sum(kept.values()) * _LEAST_PART
            left = {f: cost - received.get(f, 0.0) for f, cost in spent.items()}
            roots = {f: cost for f, cost in left.items() if cost > least or f not in received}
        if recursion is not None:
            spent |= {function: recursion.totals[function] for function in recursion.functions}
        return cls(kept, callees, roots, spent, recursion)

    def recurses(self, function: Frame) -> bool:
        """Return whether a function is known to have been called within itself."""
        return self.recursion is not None and function in self.recursion.functions


@dataclass(slots=True)
class CallPath:
    """A function reached through its caller's path; `cost` with all that it calls there, `own` without."""

    function: Frame
    caller: CallPath | None
    cost: float
    own: float = 0.0
    depth: int = 1

    def parts(self) -> list[CallPath]:
        """This path and those that it is made of, the shortest last."""
        found = []
        at: CallPath | None = self
        while at is not None:
            found.append(at)
            at = at.caller
        return found

    def frames(self) -> list[Frame]:
        """Root first."""
        return [part.function for part in reversed(self.parts())]


@dataclass(slots=True)
class _Split:
    """The cost of a path, divided."""

    own: dict[Frame, float] = field(default_factory=dict)
    """By function on the path: its own cost if it is the path's end, or is called again from there."""
    callees: dict[Frame, float] = field(default_factory=dict)
    """By function that is called from there and is not on the path."""

    @property
    def whole(self) -> float:
        return sum(self.own.values()) + sum(self.callees.values())


class Paths:
    """Paths through a graph, taken heaviest first: the first to a function is the heaviest to it."""

    def __init__(self, graph: Graph, check_depth: CheckDepth) -> None:
        self._graph = graph
        self._check_depth = check_depth
        self._least = sum(graph.own.values()) * _LEAST_PART
        self._found: dict[Frame, list[CallPath]] = {}
        self._waiting: list[tuple[float, int, CallPath]] = []
        self._pushed = self._kept = 0
        self._reached: set[Frame] = set()
        self._given: dict[tuple[Frame, Frame], float] = {}
        """Of calls by functions that recurse: what paths have got of their cost."""

    def found(self) -> Mapping[Frame, list[CallPath]]:
        """The paths that are kept to each function with a weight of its own; at least one to each."""
        for function, cost in self._graph.roots.items():
            self._push(function, None, cost)
        self._follow()
        # What is left is called in circles alone.
        for function in sorted(self._graph.own, key=lambda f: (-self._graph.own[f], f)):
            if function not in self._found and self._graph.own[function]:
                self._push(function, None, float(self._graph.own[function]))
                self._follow()
        return {f: parts for f, parts in self._found.items() if self._graph.own.get(f)}

    def _follow(self) -> None:
        while self._waiting:
            _, _, path = heapq.heappop(self._waiting)
            known = self._found.setdefault(path.function, [])
            if known and (path.cost < self._least or self._kept >= _MOST_PATHS):
                continue
            self._check_depth(path.depth)
            known.append(path)
            self._kept += 1
            self._enter(path)

    def _enter(self, path: CallPath) -> None:
        """Split a path's cost between its functions and what they call."""
        above = {part.function: part for part in path.parts()}
        split = self._split(path, above)
        scale = path.cost / split.whole if split.whole else 0.0
        for function, cost in split.own.items():
            above[function].own += cost * scale
        for callee, cost in split.callees.items():
            self._push(callee, path, cost * scale)

    def _split(self, path: CallPath, above: Collection[Frame]) -> _Split:
        split = _Split()
        entered, pending = {path.function}, [(path.function, path.cost)]
        while pending:
            caller, cost = pending.pop()
            spent = self._graph.spent.get(caller) or 1.0
            split.own[caller] = min(cost, self._graph.own.get(caller, 0) * cost / spent)
            left = cost - split.own[caller]
            for callee, of_calls in self._graph.callees.get(caller, {}).items():
                part = min(left, of_calls * cost / spent)
                if callee not in above:
                    part = self._take(caller, callee, left, part)
                    if part > 0 or callee not in self._reached:
                        split.callees[callee] = split.callees.get(callee, 0.0) + part
                elif callee not in entered and part > self._least and self._graph.recurses(callee):
                    entered.add(callee)
                    pending.append((callee, part))
                else:
                    continue
                left -= part
        return split

    def _take(self, caller: Frame, callee: Frame, left: float, part: float) -> float:
        """Return the cost of a call on a path: a part in proportion, unless the caller is known to recurse.

        Then its calls cost more than its total, since a call within another is in the cost of both. So the
        costliest come first, with all of their cost, and none gets more than that on all paths together.
        """
        if not self._graph.recurses(caller):
            return part
        given = self._given.get((caller, callee), 0.0)
        part = max(0.0, min(left, self._graph.callees[caller][callee] - given))
        self._given[caller, callee] = given + part
        return part

    def _push(self, function: Frame, caller: CallPath | None, cost: float) -> None:
        self._pushed += 1
        self._reached.add(function)
        depth = 1 if caller is None else caller.depth + 1
        heapq.heappush(self._waiting, (-cost, self._pushed, CallPath(function, caller, cost, depth=depth)))


_UNKNOWN = "???"
"""Callgrind's word for a file or an object that it does not know."""


def _any_depth(depth: int) -> None:
    """Allow all paths."""


def unfold(
    own: Mapping[Frame, int],
    calls: Calls,
    unit: Unit,
    builder: ProfileBuilder | None = None,
    check_depth: CheckDepth = _any_depth,
    *,
    totals: Mapping[Frame, int] | None = None,
    roots: Roots | None = None,
    recursion: Recursion | None = None,
) -> Profile:
    """The graph as weighted stacks; every function's own weights add up to exactly what `own` says.

    A function is on a stack once. If `recursion` says that it was called within itself, what it called there
    is at the end of the stack; else what recursion costs is spread over the stack. A path with less than a
    100,000th of the whole, or after the heaviest 20,000, is given up in favour of the other paths to its
    function, of which the heaviest is always kept. Stacks begin with `roots`, if these are known, or else
    with functions that nothing calls, and with what callers do not account for. Negative weights count as 0.
    `builder` collects the stacks, and `check_depth` is called with each path's depth before it is followed.

    Stacks of recursive functions cannot have the totals of the graph. `totals` are those that its file
    states; the profile has them beside its stacks.
    """
    builder = builder or ProfileBuilder()
    thread = builder.thread(Thread(0, 0, ""))
    paths = Paths(Graph.of(own, calls, roots, recursion), check_depth)
    for function, parts in paths.found().items():
        for path, weight in zip(parts, _shared_out(own[function], [part.own for part in parts]), strict=True):
            if weight:
                builder.add_indexed(tuple(map(builder.frame, path.frames())), thread, weight)
    # A function whose total were less than its own cost would not be in tables.
    stated = {function: max(0, own.get(function, 0), total) for function, total in (totals or {}).items()}
    return builder.build(unit=unit, ordered=False, totals=stated)


def unfold_counts(counts: InstructionCounts) -> Profile:
    """A measurement's instructions of one execution as stacks; weights are rounded to whole instructions."""
    return unfold_functions(counts.functions, counts.calls)


def unfold_functions(
    functions: Iterable[FunctionCount],
    calls: Iterable[CallCount],
    builder: ProfileBuilder | None = None,
    check_depth: CheckDepth = _any_depth,
) -> Profile:
    """Instructions by function and call, as Callgrind counts them, as stacks, with the totals of functions.

    What was inlined into a function from another file has a row of its own there, of that file and that
    function's name, which nothing calls: it stands below the function.
    """
    counted = tuple(functions)
    frames = {function.name: _frame(function.name, function.object) for function in counted}
    own: defaultdict[Frame, float] = defaultdict(float)
    totals: defaultdict[Frame, float] = defaultdict(float)
    for function in counted:
        own[frames[function.name]] += function.exclusive
        totals[frames[function.name]] += function.inclusive
    costs: defaultdict[tuple[Frame, Frame], float] = defaultdict(float)
    for call in calls:
        caller, callee = (frames.get(name) or _frame(name, "") for name in (call.caller, call.callee))
        costs[caller, callee] += call.inclusive
    placed = {frames[function.name] for function in counted if function.object}
    costs.update(_inlined(own, costs, placed))
    weights = {frame: round(weight) for frame, weight in own.items()}
    stated = {frame: round(total) for frame, total in totals.items()}
    return unfold(weights, costs, Unit.INSTRUCTIONS, builder, check_depth, totals=stated)


def _inlined(own: Mapping[Frame, float], calls: Calls, placed: Collection[Frame]) -> Calls:
    """Calls from functions, whose object is known, to the parts of them that stand in other files.

    Of several functions of a name, a part belongs to the one that lacks most of what its callers spend.
    """
    spent, received = defaultdict(float, own), defaultdict[Frame, float](float)
    for (caller, callee), cost in calls.items():
        spent[caller] += cost
        received[callee] += cost
    named: defaultdict[str, list[Frame]] = defaultdict(list)
    for function in placed:
        named[function.name].append(function)
    found = {}
    for part in sorted(own, key=lambda function: (-spent[function], function)):
        if part not in placed and part not in received and named[part.name]:
            holder = max(
                named[part.name], key=lambda function: (received[function] - spent[function], function)
            )
            found[holder, part] = spent[part]
            spent[holder] += spent[part]
    return found


def _frame(name: str, shared_object: str) -> Frame:
    """The frame of `file:function`; code without a known file lies in its shared object."""
    file, _, function = name.partition(":")
    place = shared_object if file == _UNKNOWN else file
    return Frame(function, "" if place == _UNKNOWN else place)


def _shared_out(weight: int, parts: list[float]) -> list[int]:
    """A whole number in proportion to some parts, so that it adds up; the first gets all of no parts."""
    whole = sum(parts)
    if not whole > 0:
        return [weight, *[0] * (len(parts) - 1)]
    bounds, reached = [0], 0.0
    for part in parts[:-1]:
        reached += part
        bounds.append(min(weight, round(weight * min(1.0, reached / whole))))
    bounds.append(weight)
    return [upper - lower for lower, upper in pairwise(bounds)]
