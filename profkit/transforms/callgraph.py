"""Call graphs unfolded into stacks: who called whom is known there, but not through which callers.

So a function's cost is split among the paths that lead to it as gprof does: whoever calls it gets the
mean callee, whatever the caller was called for (S. L. Graham, P. B. Kessler, M. K. McKusick, "gprof: a
call graph execution profiler", SIGPLAN Notices 17(6), 1982). Proportions are those of the calls' costs,
which are known here, not those of their numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise

from profkit.model.counts import CallCount, FunctionCount
from profkit.model.frame import Frame, Thread
from profkit.model.measurement import InstructionCounts
from profkit.model.profile import Profile, ProfileBuilder
from profkit.transforms.call_paths import Calls, CheckDepth, Graph, Paths, Recursion, Roots
from profkit.units import Unit

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
