"""From dumps of a loop around a statement and around nothing to counts of the statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from profkit.errors import UsageError
from profkit.model.counts import INSTRUCTIONS, CallCount, CallgrindDump, FunctionCount
from profkit.model.measurement import InstructionCounts, MeasuredIn
from profkit.transforms.allocators import strip_allocators

CYCLES = "cycles"
"""The estimate's name among events."""

_CYCLES = {
    INSTRUCTIONS: 1,
    **dict.fromkeys(("Bcm", "Bim"), 10),
    **dict.fromkeys(("I1mr", "D1mr", "D1mw"), 10),
    "Ge": 20,
    **dict.fromkeys(("I2mr", "D2mr", "D2mw", "ILmr", "DLmr", "DLmw"), 100),
}
"""KCachegrind's "Cycle Estimation": CEst = Ir + 10 Bm + 10 L1m + 20 Ge + 100 L2m + 100 LLm, with Bm the
mispredicted branches, L1m, L2m and LLm the misses of each cache, Ge the bus events
(https://github.com/KDE/kcachegrind/blob/master/libcore/globalconfig.cpp, `knownFormula`)."""


def subtract_baseline(
    dumps: Sequence[CallgrindDump],
    baseline_dumps: Sequence[CallgrindDump],
    number: int,
    measured_in: MeasuredIn,
) -> InstructionCounts:
    """Counts of one execution, from dumps of `number` executions each, one a repeat.

    The baseline is the same loop around `pass`; without dumps of it nothing is taken off. Totals are
    the least of the repeats, those without allocators by themselves; functions, calls and events are
    of the repeat with the least instructions. Raises UsageError for dumps of different events.
    """
    if len({dump.events for dump in (*dumps, *baseline_dumps)}) != 1:
        raise UsageError("dumps of different events cannot be compared", "simulate the same in all of them")
    # Of equal ones the last: in what is dumped first, Callgrind counts calls from before as well.
    least = min(reversed(dumps), key=lambda dump: dump.instructions)
    base = min(reversed(baseline_dumps), key=lambda dump: dump.instructions, default=_nothing(least.events))
    without = tuple(strip_allocators(dump) for dump in dumps)
    stripped = min(without) - min(map(strip_allocators, baseline_dumps), default=0)
    return InstructionCounts(
        number=number,
        raw=tuple(dump.instructions for dump in dumps),
        baseline=base.instructions / number,
        net=(least.instructions - base.instructions) / number,
        stripped=stripped / number,
        measured_in=measured_in,
        raw_stripped=without,
        functions=_functions(least, base, number),
        calls=_calls(least, base, number),
        events=_events(least, base, number),
    )


def estimated_cycles(events: Mapping[str, float]) -> float:
    """KCachegrind's estimate from the counts of events; what was not simulated counts nothing."""
    return sum(_CYCLES.get(event, 0) * count for event, count in events.items())


def _nothing(events: tuple[str, ...]) -> CallgrindDump:
    return CallgrindDump(events, (0,) * len(events), ())


def _functions(dump: CallgrindDump, base: CallgrindDump, number: int) -> tuple[FunctionCount, ...]:
    """The net rows; without those that ran before the statement and only have it within them."""
    before = {row.name: row for row in base.functions}
    missing = before.keys() - {row.name for row in dump.functions}
    rows = [_net(row, before.get(row.name), number) for row in dump.functions]
    rows += [
        _net(FunctionCount(name, 0, 0, 0, before[name].object), before[name], number) for name in missing
    ]
    kept = (row for row in rows if row.exclusive or row.calls)
    return tuple(sorted(kept, key=lambda row: (-row.exclusive, -row.inclusive, row.name)))


def _net(row: FunctionCount, base: FunctionCount | None, number: int) -> FunctionCount:
    less = base or FunctionCount(row.name, 0, 0)
    return FunctionCount(
        row.name,
        (row.exclusive - less.exclusive) / number,
        (row.inclusive - less.inclusive) / number,
        (row.calls - less.calls) / number,
        row.object,
    )


def _calls(dump: CallgrindDump, base: CallgrindDump, number: int) -> tuple[CallCount, ...]:
    """The net calls, costliest first; what had been called before the statement began is left out."""
    net = {(call.caller, call.callee): (call.calls, call.inclusive) for call in dump.calls}
    for call in base.calls:
        calls, inclusive = net.get((call.caller, call.callee), (0, 0))
        net[call.caller, call.callee] = (calls - call.calls, inclusive - call.inclusive)
    rows = [
        CallCount(caller, callee, calls / number, inclusive / number)
        for (caller, callee), (calls, inclusive) in net.items()
        if calls
    ]
    return tuple(sorted(rows, key=lambda row: (-row.inclusive, row.caller, row.callee)))


def _events(dump: CallgrindDump, base: CallgrindDump, number: int) -> tuple[tuple[str, float], ...]:
    """What was simulated, and the cycles estimated from it; nothing where only instructions were counted."""
    net = {
        event: (count - less) / number
        for event, count, less in zip(dump.events, dump.totals, base.totals, strict=True)
    }
    if net.keys() == {INSTRUCTIONS}:
        return ()
    simulated = tuple((event, count) for event, count in net.items() if event != INSTRUCTIONS)
    return (*simulated, (CYCLES, estimated_cycles(net)))
