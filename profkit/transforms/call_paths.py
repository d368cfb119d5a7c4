"""Paths through a call graph, heaviest first, as many as are worth it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass

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
class Graph:
    """Own costs of functions, what each spends in those that it calls, and where stacks begin."""

    own: Mapping[Frame, int]
    callees: Mapping[Frame, Mapping[Frame, float]]
    roots: Roots

    @classmethod
    def of(cls, own: Mapping[Frame, int], calls: Calls, roots: Roots | None = None) -> Graph:
        """The graph of calls; negative costs count as 0, and calls of a function by itself not at all.

        Unless they are known, roots are what of a function's cost its callers do not account for.
        """
        kept = {function: max(0, weight) for function, weight in own.items()}
        callees: dict[Frame, dict[Frame, float]] = {function: {} for function in kept}
        received = dict.fromkeys(kept, 0.0)
        for (caller, callee), cost in calls.items():
            if cost > 0 and caller != callee:
                callees.setdefault(caller, {})[callee] = cost
                received[callee] = received.get(callee, 0.0) + cost
        if roots is not None:
            return cls(kept, callees, roots)
        spent = {f: kept.get(f, 0) + sum(costs.values()) for f, costs in callees.items()}
        least = sum(kept.values()) * _LEAST_PART
        left = {f: cost - received.get(f, 0.0) for f, cost in spent.items()}
        return cls(kept, callees, {f: cost for f, cost in left.items() if cost > least or f not in received})


@dataclass(slots=True)
class CallPath:
    """A function reached through its caller's path; `cost` with all that it calls there, `own` without."""

    function: Frame
    caller: CallPath | None
    cost: float
    own: float = 0.0
    depth: int = 1

    def frames(self) -> list[Frame]:
        """Root first."""
        found = []
        at: CallPath | None = self
        while at is not None:
            found.append(at.function)
            at = at.caller
        return found[::-1]

    def holds(self, function: Frame) -> bool:
        """Whether a function is on the path."""
        at: CallPath | None = self
        while at is not None:
            if at.function == function:
                return True
            at = at.caller
        return False


class Paths:
    """Paths through a graph, taken heaviest first: the first to a function is the heaviest to it."""

    def __init__(self, graph: Graph, check_depth: CheckDepth) -> None:
        self._graph = graph
        self._check_depth = check_depth
        self._least = sum(graph.own.values()) * _LEAST_PART
        self._found: dict[Frame, list[CallPath]] = {}
        self._waiting: list[tuple[float, int, CallPath]] = []
        self._pushed = self._kept = 0

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
        """Split a path's cost between its function and what that calls."""
        own = self._graph.own.get(path.function, 0)
        callees = self._graph.callees.get(path.function, {})
        entered = {callee: cost for callee, cost in callees.items() if not path.holds(callee)}
        whole = own + sum(entered.values())
        part = path.cost / whole if whole else 0.0
        path.own = own * part
        for callee, cost in entered.items():
            self._push(callee, path, cost * part)

    def _push(self, function: Frame, caller: CallPath | None, cost: float) -> None:
        self._pushed += 1
        depth = 1 if caller is None else caller.depth + 1
        heapq.heappush(self._waiting, (-cost, self._pushed, CallPath(function, caller, cost, depth=depth)))
