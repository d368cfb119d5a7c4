"""Paths through a call graph, heaviest first, as many as are worth it.

Nothing is on a path twice. A function that is on the path already, and is known to recurse, is called again
without being added: what it calls then is added to the end of the path, and its own cost counts where it
is. Other calls of functions on the path are passed over, and their cost is spread over the rest.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from profkit.model.frame import Frame

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
