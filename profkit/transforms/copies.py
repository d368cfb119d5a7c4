"""Instruction counts of whole functions, for builds whose compilers split and copied them differently."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from profkit.model.function_counts import CallCount, FunctionCount
from profkit.model.measurement import InstructionCounts
from profkit.transforms.origin import whole_function


def join_copies(counts: InstructionCounts) -> InstructionCounts:
    """Return the counts with parts and copies of a function, such as `f.cold`, as one function.

    Calls among them are no calls any more, and their inclusive instructions count once. The same object if
    there are none.
    """
    whole = cache(_whole)
    if not any(whole(row.name) != row.name for row in counts.functions):
        return counts
    inside = [call for call in counts.calls if _is_inside(call, whole(call.caller), whole(call.callee))]
    left_out = frozenset(map(id, inside))
    calls = (call for call in counts.calls if id(call) not in left_out)
    return replace(
        counts,
        functions=_joined_functions(counts.functions, inside),
        calls=_joined_calls(
            replace(call, caller=whole(call.caller), callee=whole(call.callee)) for call in calls
        ),
    )


def _whole(name: str) -> str:
    file, colon, function = name.partition(":")
    return f"{file}{colon}{whole_function(function)}"


def _is_inside(call: CallCount, caller: str, callee: str) -> bool:
    """Return whether a call is between different parts of one function; a recursion is not."""
    return caller == callee and call.caller != call.callee


def _joined_functions(
    rows: Iterable[FunctionCount], inside: Iterable[CallCount]
) -> tuple[FunctionCount, ...]:
    joined: dict[str, FunctionCount] = {}
    for row in rows:
        name = _whole(row.name)
        first = joined.get(name)
        joined[name] = replace(
            row,
            name=name,
            exclusive=row.exclusive + (first.exclusive if first else 0),
            inclusive=row.inclusive + (first.inclusive if first else 0),
            calls=row.calls + (first.calls if first else 0),
            object=(first.object if first else "") or row.object,
        )
    for call in inside:
        name = _whole(call.callee)
        if name in joined:
            less = joined[name].inclusive - call.inclusive, joined[name].calls - call.calls
            joined[name] = replace(joined[name], inclusive=less[0], calls=less[1])
    return tuple(sorted(joined.values(), key=lambda row: (-row.exclusive, -row.inclusive, row.name)))


def _joined_calls(calls: Iterable[CallCount]) -> tuple[CallCount, ...]:
    added: defaultdict[tuple[str, str], tuple[float, float]] = defaultdict(lambda: (0, 0))
    for call in calls:
        number, inclusive = added[call.caller, call.callee]
        added[call.caller, call.callee] = number + call.calls, inclusive + call.inclusive
    rows = (CallCount(*pair, *costs) for pair, costs in added.items())
    return tuple(sorted(rows, key=lambda row: (-row.inclusive, row.caller, row.callee)))
