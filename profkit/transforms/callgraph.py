"""Call graphs unfolded into stacks: who called whom is known there, but not through which callers.

So a function's cost is split among the paths that lead to it as gprof does: whoever calls it gets the
mean callee, whatever the caller was called for (S. L. Graham, P. B. Kessler, M. K. McKusick, "gprof: a
call graph execution profiler", SIGPLAN Notices 17(6), 1982). Proportions are those of the calls' costs,
which are known here, not those of their numbers.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from profkit.model.counts import CallCount, FunctionCount
from profkit.model.frame import Frame, Thread
from profkit.model.measurement import InstructionCounts
from profkit.model.profile import Profile, ProfileBuilder
from profkit.units import Unit

_MOST_PATHS = 20_000
_LEAST_PART = 1e-5
_UNKNOWN = "???"
"""Callgrind's word for a file or an object that it does not know."""

Calls = Mapping[tuple[Frame, Frame], float]
"""Inclusive cost by (caller, callee)."""


def unfold(own: Mapping[Frame, int], calls: Calls, unit: Unit) -> Profile:
    """The graph as weighted stacks; every function's own weights add up to exactly what `own` says.

    A function that is on a path already is not entered again: what recursion costs is spread over the
    rest of the path. A path with less than a 100,000th of the whole, or after the heaviest 20,000, is
    given up in favour of the other paths to its function, of which the heaviest is always kept. Functions
    that nothing calls, and what callers do not account for, begin stacks. Negative weights count as 0.
    """
    builder = ProfileBuilder()
    thread = builder.thread(Thread(0, 0, ""))
    paths = _Paths(_Graph.of(own, calls))
    for function, parts in paths.found().items():
        for path, weight in zip(parts, _shared_out(own[function], [part.own for part in parts]), strict=True):
            if weight:
                builder.add_indexed(tuple(map(builder.frame, path.frames())), thread, weight)
    return builder.build(unit=unit, ordered=False)


def unfold_counts(counts: InstructionCounts) -> Profile:
    """A measurement's instructions of one execution as stacks; weights are rounded to whole instructions."""
    return unfold_functions(counts.functions, counts.calls)


def unfold_functions(functions: Iterable[FunctionCount], calls: Iterable[CallCount]) -> Profile:
    """Instructions by function and call, as Callgrind counts them, as stacks.

    What was inlined into a function from another file has a row of its own there, of that file and that
    function's name, which nothing calls: it stands below the function.
    """
    counted = tuple(functions)
    frames = {function.name: _frame(function.name, function.object) for function in counted}
    own: defaultdict[Frame, float] = defaultdict(float)
    for function in counted:
        own[frames[function.name]] += function.exclusive
    costs: defaultdict[tuple[Frame, Frame], float] = defaultdict(float)
    for call in calls:
        caller, callee = (frames.get(name) or _frame(name, "") for name in (call.caller, call.callee))
        costs[caller, callee] += call.inclusive
    placed = {frames[function.name] for function in counted if function.object}
    costs.update(_inlined(own, costs, placed))
    return unfold({frame: round(weight) for frame, weight in own.items()}, costs, Unit.INSTRUCTIONS)


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


@dataclass(frozen=True, slots=True)
class _Graph:
    own: Mapping[Frame, int]
    callees: Mapping[Frame, Mapping[Frame, float]]
    roots: Mapping[Frame, float]
    """What of a function's cost its callers do not account for."""

    @classmethod
    def of(cls, own: Mapping[Frame, int], calls: Calls) -> _Graph:
        kept = {function: max(0, weight) for function, weight in own.items()}
        callees: dict[Frame, dict[Frame, float]] = {function: {} for function in kept}
        received = dict.fromkeys(kept, 0.0)
        for (caller, callee), cost in calls.items():
            if cost > 0 and caller != callee:
                callees.setdefault(caller, {})[callee] = cost
                received[callee] = received.get(callee, 0.0) + cost
        spent = {f: kept.get(f, 0) + sum(costs.values()) for f, costs in callees.items()}
        least = sum(kept.values()) * _LEAST_PART
        roots = {f: cost - received.get(f, 0.0) for f, cost in spent.items()}
        return cls(kept, callees, {f: cost for f, cost in roots.items() if cost > least or f not in received})


@dataclass(slots=True)
class _Path:
    """A function reached through its caller's path; `cost` with all that it calls there, `own` without."""

    function: Frame
    caller: _Path | None
    cost: float
    own: float = 0.0

    def frames(self) -> list[Frame]:
        """Root first."""
        found = []
        at: _Path | None = self
        while at is not None:
            found.append(at.function)
            at = at.caller
        return found[::-1]

    def holds(self, function: Frame) -> bool:
        at: _Path | None = self
        while at is not None:
            if at.function == function:
                return True
            at = at.caller
        return False


class _Paths:
    """Paths through a graph, taken heaviest first: the first to a function is the heaviest to it."""

    def __init__(self, graph: _Graph) -> None:
        self._graph = graph
        self._least = sum(graph.own.values()) * _LEAST_PART
        self._found: dict[Frame, list[_Path]] = {}
        self._waiting: list[tuple[float, int, _Path]] = []
        self._pushed = self._kept = 0

    def found(self) -> Mapping[Frame, list[_Path]]:
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
            known.append(path)
            self._kept += 1
            self._enter(path)

    def _enter(self, path: _Path) -> None:
        """Split a path's cost between its function and what that calls."""
        own = self._graph.own.get(path.function, 0)
        callees = self._graph.callees.get(path.function, {})
        entered = {callee: cost for callee, cost in callees.items() if not path.holds(callee)}
        whole = own + sum(entered.values())
        part = path.cost / whole if whole else 0.0
        path.own = own * part
        for callee, cost in entered.items():
            self._push(callee, path, cost * part)

    def _push(self, function: Frame, caller: _Path | None, cost: float) -> None:
        self._pushed += 1
        heapq.heappush(self._waiting, (-cost, self._pushed, _Path(function, caller, cost)))


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
