"""Counts that can be compared: of equally many executions, and by several processes if these differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from profkit.comparing.instructions import LEAST_DELTA, LEAST_EFFECT
from profkit.measuring.results import together
from profkit.model.measurement import InstructionCounts
from profkit.model.workorder import WorkOrder

_PROCESSES = 4
"""Processes that show how much counts differ which are not the same in two of them."""
_LONG = 50_000_000
"""Instructions of a repeat, about a second under Valgrind, that is counted in one process only."""

Count = Callable[[WorkOrder], InstructionCounts]


def counted(order: WorkOrder, count: Count) -> InstructionCounts:
    """Return an order's counts, and see in a second process whether they depend on its input.

    If so, four processes count. Not if the order says how many should, limits its executions, or takes long.
    """
    first = count(order)
    if order.processes is not None or order.runs is not None or max(first.raw, default=0) > _LONG:
        return first
    once = replace(order, number=first.number, processes=1)
    second = count(once)
    if _are_same(first, second):
        return first
    return together([first, second, *(count(once) for _ in range(2, _PROCESSES))])


def with_equal_numbers(
    counts: Mapping[int, InstructionCounts], orders: Sequence[WorkOrder]
) -> Iterator[tuple[int, WorkOrder]]:
    """Yield the places of orders that were counted more often than others, and how to count them again."""
    least = min((one.number for one in counts.values()), default=1)
    often = [place for place in sorted(counts) if counts[place].number > least]
    yield from ((place, replace(orders[place], number=least)) for place in often)


def _are_same(first: InstructionCounts, second: InstructionCounts) -> bool:
    low, high = sorted((first.stripped, second.stripped))
    return high <= low * (1 + LEAST_EFFECT) or high - low < LEAST_DELTA
