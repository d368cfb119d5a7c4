"""Instruction counts of whole functions, which compilers split, copied or inlined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from profkit.model.function_counts import CallCount, FunctionCount
from profkit.model.measurement import InstructionCounts
from profkit.transforms.counts import by_key, calls_by_cost, functions_by_cost
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
    calls = (
        replace(call, caller=whole(call.caller), callee=whole(call.callee))
        for call in counts.calls
        if id(call) not in left_out
    )
    return replace(
        counts,
        functions=_joined_functions(counts.functions, inside),
        calls=calls_by_cost(by_key(calls, lambda call: (call.caller, call.callee)).values()),
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
    joined = by_key((replace(row, name=_whole(row.name)) for row in rows), lambda row: row.name)
    for call in inside:
        name = _whole(call.callee)
        if name in joined:
            less = joined[name].inclusive - call.inclusive, joined[name].calls - call.calls
            joined[name] = replace(joined[name], inclusive=less[0], calls=less[1])
    return functions_by_cost(joined.values())


def join_inlined(rows: Iterable[FunctionCount]) -> tuple[FunctionCount, ...]:
    """Return the rows with code inlined from other files as part of its function, in the same order.

    Callgrind has a row for each file that a function's code comes from. Only the row of the file that defines
    it names its shared object. Rows of a name that several files define stay as they are.
    """
    given = tuple(rows)
    definers: dict[str, list[FunctionCount]] = defaultdict(list)
    for row in given:
        if row.object:
            definers[_function(row)].append(row)
    inlined: dict[str, float] = defaultdict(float)
    joined = {name for name, found in definers.items() if len(found) == 1}
    kept = []
    for row in given:
        name = _function(row)
        if row.object or name not in joined:
            kept.append(row)
        else:
            inlined[name] += row.exclusive
    return tuple(_with_inlined(row, inlined) for row in kept)


def _with_inlined(row: FunctionCount, inlined: dict[str, float]) -> FunctionCount:
    more = inlined.get(_function(row), 0.0) if row.object else 0.0
    return replace(row, exclusive=row.exclusive + more) if more else row


def _function(row: FunctionCount) -> str:
    bare = row.name.removesuffix(f" [{row.object}]") if row.object else row.name
    file, colon, function = bare.partition(":")
    return function if colon else file
