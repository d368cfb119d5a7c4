"""Made traces of calls, what they truly cost, and the call graphs that profilers make of them."""

from __future__ import annotations

import marshal
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from hypothesis import strategies as st

from profkit.model.profile import Frame

FUNCTIONS = (
    Frame("main", "app.py", 1),
    Frame("__init__", "app.py", 3),
    Frame("__init__", "app.py", 9),
    Frame("load", "app.py", 20),
    Frame("find", "lib.py", 5),
    Frame("<built-in method exec>", "", 0),
)
MAIN = Frame("start", "app.py", 99)
"""Nothing calls it."""


class Call(NamedTuple):
    """A call of a function: what it cost by itself, and the calls that it made."""

    function: Frame
    own: int
    calls: tuple[Call, ...] = ()


OWN = st.integers(0, 10**9)


def _calls(functions: st.SearchStrategy[Frame]) -> st.SearchStrategy[Call]:
    leaves = st.builds(Call, functions, OWN, st.just(()))
    return st.recursive(
        leaves,
        lambda inner: st.builds(Call, functions, OWN, st.lists(inner, max_size=3).map(tuple)),
        max_leaves=20,
    )


TRACES = st.lists(_calls(st.sampled_from(FUNCTIONS)), min_size=1, max_size=4).map(tuple)
"""Calls one after the other, in which functions call each other and themselves."""


def without_recursion(trace: Sequence[Call], allowed: int = len(FUNCTIONS)) -> tuple[Call, ...]:
    """The trace without calls of functions that come before their caller among `FUNCTIONS`."""
    kept = []
    for call in trace:
        number = FUNCTIONS.index(call.function)
        if number < allowed:
            kept.append(call._replace(calls=without_recursion(call.calls, number)))
    return tuple(kept)


def stacks_of(
    trace: Sequence[Call], above: tuple[Frame, ...] = ()
) -> Iterator[tuple[tuple[Frame, ...], int]]:
    """Each call's stack, and its own cost."""
    for call in trace:
        stack = (*above, call.function)
        yield stack, call.own
        yield from stacks_of(call.calls, stack)


def own_costs(trace: Sequence[Call]) -> Counter[Frame]:
    """What each function costs by itself."""
    found: Counter[Frame] = Counter()
    for stack, own in stacks_of(trace):
        found[stack[-1]] += own
    return found


def costs_once(trace: Sequence[Call]) -> Counter[Frame]:
    """What was spent while a function was on the stack: cProfile's cumulative time."""
    found: Counter[Frame] = Counter()
    for stack, own in stacks_of(trace):
        found.update(dict.fromkeys(stack, own))
    return found


def costs_by_call(trace: Sequence[Call]) -> Counter[Frame]:
    """The costs of all calls of a function added up: Callgrind's inclusive cost."""
    found: Counter[Frame] = Counter()
    for stack, own in stacks_of(trace):
        for function in stack:
            found[function] += own
    return found


def whole(call: Call) -> int:
    """The cost of a call with all that it calls."""
    return call.own + sum(map(whole, call.calls))


def statistics_of(trace: Sequence[Call]) -> bytes:
    """The file that cProfile writes (Modules/_lsprof.c, `Stop`): of nested calls the outermost is timed."""
    entries: defaultdict[Frame, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    under: defaultdict[tuple[Frame, Frame], list[int]] = defaultdict(lambda: [0, 0, 0, 0])

    def add(counts: list[int], call: Call, *, nested: bool, places: tuple[int, int]) -> None:
        outermost, every = places
        counts[outermost] += not nested
        counts[every] += 1
        counts[2] += call.own
        counts[3] += 0 if nested else whole(call)

    def walk(calls: Sequence[Call], stack: tuple[Frame, ...]) -> None:
        for call in calls:
            add(entries[call.function], call, nested=call.function in stack, places=(0, 1))
            if stack:
                pairs = set(pairwise(stack))
                edge = stack[-1], call.function
                add(under[edge], call, nested=edge in pairs, places=(1, 0))
            walk(call.calls, (*stack, call.function))

    walk(trace, ())
    return marshal.dumps(
        {
            _key(function): (
                *_seconds(counts),
                {_key(caller): _seconds(of) for (caller, callee), of in under.items() if callee == function},
            )
            for function, counts in entries.items()
        }
    )


def dump_of(call: Call) -> bytes:
    """The file that Callgrind writes for a program whose first function is not called again."""
    own = own_costs([call])
    edges: defaultdict[tuple[Frame, Frame], list[int]] = defaultdict(lambda: [0, 0])

    def walk(caller: Call) -> None:
        for callee in caller.calls:
            edges[caller.function, callee.function][0] += 1
            edges[caller.function, callee.function][1] += whole(callee)
            walk(callee)

    walk(call)
    lines = ["events: Ir"]
    for function, cost in own.items():
        lines += [f"fl={_file(function)}", f"fn={_name(function)}", f"0 {cost}"]
        for (caller, callee), (calls, inclusive) in edges.items():
            if caller == function:
                lines += [
                    f"cfi={_file(callee)}",
                    f"cfn={_name(callee)}",
                    f"calls={calls} 0",
                    f"0 {inclusive}",
                ]
    return "\n".join([*lines, f"totals: {sum(own.values())}", ""]).encode()


def _key(function: Frame) -> tuple[str, int, str]:
    return function.file or "~", function.line, function.name


def _seconds(counts: Sequence[int]) -> tuple[int, int, float, float]:
    first, second, own_ns, total_ns = counts
    return first, second, own_ns / 1e9, total_ns / 1e9


def _file(function: Frame) -> str:
    return function.file or "???"


def _name(function: Frame) -> str:
    """Callgrind has no lines of functions: the name distinguishes them."""
    return f"{function.name} {function.line}"
