"""Unfold call graphs into stacks along their heaviest paths."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from profkit.model.function_counts import CallCount, FunctionCount, PythonCounts
from profkit.model.measurement import InstructionCounts
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.units import Unit

_MAX_PATHS = 20_000
_MIN_PART = 1e-5

Calls = Mapping[tuple[Frame, Frame], float]
"""Inclusive cost by (caller, callee)."""

Roots = Mapping[Frame, float]
"""Cost of a function at the start of stacks."""


@dataclass(frozen=True, slots=True)
class Recursion:
    """Recursion stated by a file that times nested calls of a function with the outermost one."""

    functions: Collection[Frame]
    """Functions that were called within themselves; no others were."""
    totals: Mapping[Frame, float]
    """Their inclusive costs, which are upper bounds of the costs of calls."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Graph of functions: own costs, costs of calls, and starts of stacks."""

    own: Mapping[Frame, int]
    callees: Mapping[Frame, Mapping[Frame, float]]
    """Most expensive first."""
    roots: Roots
    spent: Mapping[Frame, float]
    """Own cost plus that of all calls; for functions known to recurse, their totals."""
    recursion: Recursion | None = None
    """None if each call counts separately, nested or not."""

    @classmethod
    def of(
        cls,
        own: Mapping[Frame, int],
        calls: Calls,
        roots: Roots | None = None,
        recursion: Recursion | None = None,
    ) -> Graph:
        """Return the graph of calls; negative costs count as 0, calls of a function by itself are ignored.

        Unless roots are given, they are the cost of each function that its callers do not account for.
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
            least = sum(kept.values()) * _MIN_PART
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
    """A function reached through its caller's path; `cost` is inclusive there, `own` exclusive."""

    function: Frame
    caller: CallPath | None
    cost: float
    own: float = 0.0
    depth: int = 1

    def parts(self) -> list[CallPath]:
        """Return this path and all its prefixes, the shortest last."""
        parts = []
        at: CallPath | None = self
        while at is not None:
            parts.append(at)
            at = at.caller
        return parts

    def frames(self) -> list[Frame]:
        """Return the functions on the path, root first."""
        return [part.function for part in reversed(self.parts())]


@dataclass(slots=True)
class _Split:
    own: dict[Frame, float] = field(default_factory=dict)
    """By function on the path: its own cost if it ends the path or is called again from there."""
    callees: dict[Frame, float] = field(default_factory=dict)
    """By function called from there that is not on the path."""

    @property
    def whole(self) -> float:
        return sum(self.own.values()) + sum(self.callees.values())


class Paths:
    """Paths through a graph, heaviest first: the first path to a function is its heaviest."""

    def __init__(self, graph: Graph, builder: ProfileBuilder) -> None:
        self._graph, self._builder = graph, builder
        self._least = sum(graph.own.values()) * _MIN_PART
        self._by_function: dict[Frame, list[CallPath]] = {}
        self._waiting: list[tuple[float, int, CallPath]] = []
        self._pushed = self._kept = 0
        self._reached: set[Frame] = set()
        self._given: dict[tuple[Frame, Frame], float] = {}
        """By call from a recursive function: the cost already assigned to paths."""

    def by_function(self) -> Mapping[Frame, list[CallPath]]:
        """Return the kept paths to each function with its own weight; at least one to each."""
        for function, cost in self._graph.roots.items():
            self._push(function, None, cost)
        self._follow()
        # The remaining functions are called only in cycles.
        for function in sorted(self._graph.own, key=lambda f: (-self._graph.own[f], f)):
            if function not in self._by_function and self._graph.own[function]:
                self._push(function, None, float(self._graph.own[function]))
                self._follow()
        return {f: parts for f, parts in self._by_function.items() if self._graph.own.get(f)}

    def _follow(self) -> None:
        while self._waiting:
            _, _, path = heapq.heappop(self._waiting)
            known = self._by_function.setdefault(path.function, [])
            if known and (path.cost < self._least or self._kept >= _MAX_PATHS):
                continue
            self._builder.check_path(path.depth)
            known.append(path)
            self._kept += 1
            self._enter(path)

    def _enter(self, path: CallPath) -> None:
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
        """Return the cost of a call on a path: a proportional part, unless the caller is known to recurse.

        Calls of a recursive caller cost more than its total, since a nested call is in the cost of both. So
        the most expensive paths come first and get its full cost, and all paths together get no more than
        that.
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
"""Callgrind's placeholder for an unknown file or object."""


def unfold(
    own: Mapping[Frame, int],
    calls: Calls,
    unit: Unit,
    builder: ProfileBuilder | None = None,
    *,
    totals: Mapping[Frame, int] | None = None,
    roots: Roots | None = None,
    recursion: Recursion | None = None,
) -> Profile:
    """Return the graph as weighted stacks; each function's own weights add up to exactly `own`.

    A function is on a stack once. If `recursion` says that it was called within itself, what it called there
    is at the end of the stack; otherwise the cost of recursion is spread over the stack. Paths with less than
    a 100,000th of the whole, or after the heaviest 20,000, are dropped in favour of other paths to their
    function; its heaviest path is always kept. Stacks begin with `roots` if they are known, otherwise with
    functions that nothing calls and with costs that callers do not account for. Negative weights count as 0.
    `builder` collects the stacks, and checks the depth of each path before it is followed.

    Stacks of recursive functions cannot have the totals of the graph. `totals` are those that the file
    states; the profile has them beside its stacks.
    """
    builder = builder or ProfileBuilder()
    thread = builder.thread(Thread(0, 0, ""))
    paths = Paths(Graph.of(own, calls, roots, recursion), builder)
    for function, parts in paths.by_function().items():
        for path, weight in zip(parts, _shared_out(own[function], [part.own for part in parts]), strict=True):
            if weight:
                builder.add_indexed(tuple(map(builder.frame, path.frames())), thread, weight)
    # Tables would omit a function whose total is less than its own cost.
    stated = {function: max(0, own.get(function, 0), total) for function, total in (totals or {}).items()}
    return builder.build(unit=unit, ordered=False, totals=stated)


def unfold_counts(counts: InstructionCounts) -> Profile:
    """Return a measurement's instructions per execution as stacks, in whole instructions."""
    return unfold_functions(counts.functions, counts.calls)


def unfold_python(python: PythonCounts) -> Profile:
    """Return instructions by Python function and call as stacks, with the totals of functions."""
    frames = {row.key: Frame(row.name, row.file, row.line) for row in python.functions}
    own = _whole({frames[row.key]: row.exclusive for row in python.functions})
    totals = {frames[row.key]: round(row.inclusive) for row in python.functions}
    calls = {(frames[call.caller], frames[call.callee]): call.inclusive for call in python.calls}
    return unfold(own, calls, Unit.INSTRUCTIONS, totals=totals)


def unfold_functions(
    functions: Iterable[FunctionCount],
    calls: Iterable[CallCount],
    builder: ProfileBuilder | None = None,
) -> Profile:
    """Return Callgrind's instructions by function and call as stacks, with the totals of functions.

    Code inlined into a function from another file has a row of its own, with that file and the function's
    name, which nothing calls. It is placed below the function.
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
    stated = {frame: round(total) for frame, total in totals.items()}
    return unfold(_whole(own), costs, Unit.INSTRUCTIONS, builder, totals=stated)


def _whole(weights: Mapping[Frame, float]) -> dict[Frame, int]:
    """Return whole weights whose sum is the rounded sum of all weights."""
    total = math.floor(math.fsum(weights.values()) + 0.5)  # 0.5 is rounded up, as where the total is shown
    return dict(zip(weights, _shared_out(total, list(weights.values())), strict=False))


def _inlined(own: Mapping[Frame, float], calls: Calls, placed: Collection[Frame]) -> Calls:
    """Return calls from functions with a known object to their parts from other files.

    Among functions of the same name, a part belongs to the one that lacks most of what its callers spend.
    """
    spent, received = defaultdict(float, own), defaultdict[Frame, float](float)
    for (caller, callee), cost in calls.items():
        spent[caller] += cost
        received[callee] += cost
    named: defaultdict[str, list[Frame]] = defaultdict(list)
    for function in placed:
        named[function.name].append(function)
    costs = {}
    for part in sorted(own, key=lambda function: (-spent[function], function)):
        if part not in placed and part not in received and named[part.name]:
            holder = max(
                named[part.name], key=lambda function: (received[function] - spent[function], function)
            )
            costs[holder, part] = spent[part]
            spent[holder] += spent[part]
    return costs


def _frame(name: str, shared_object: str) -> Frame:
    """Return the frame of `file:function`; code without a known file is in its shared object."""
    file, _, function = name.partition(":")
    place = shared_object if file == _UNKNOWN else file
    return Frame(function, "" if place == _UNKNOWN else place)


def _shared_out(weight: int, parts: list[float]) -> list[int]:
    """Divide a whole number in proportion to parts, exactly; if all are 0, the first gets all."""
    whole = sum(parts)
    if not whole > 0:
        return [weight, *[0] * (len(parts) - 1)]
    bounds, reached = [0], 0.0
    for part in parts[:-1]:
        reached += part
        bounds.append(min(weight, round(weight * min(1.0, reached / whole))))
    bounds.append(weight)
    return [upper - lower for lower, upper in pairwise(bounds)]
