"""One row per native function: code that was inlined from other files belongs to the function that has it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from profkit.model.function_counts import FunctionCount


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
    """Return the name without its file and shared object."""
    bare = row.name.removesuffix(f" [{row.object}]") if row.object else row.name
    file, colon, function = bare.partition(":")
    return function if colon else file
