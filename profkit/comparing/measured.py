"""Two sides of measured runs, compared order by order: times by how they came about, instructions exactly."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from operator import attrgetter

from profkit.comparing.apart import compare_apart, compare_in_turns
from profkit.comparing.instructions import compare_counts
from profkit.comparing.matching import Pair, match_orders
from profkit.comparing.steadiness import spread_of_runs, widest
from profkit.comparing.timings import compare_timings
from profkit.errors import UsageError
from profkit.model.comparison import MeasuredComparison, OrderCompared, TimesCompared
from profkit.model.measurement import InstructionCounts, Manner, MeasuredIn, MeasuredRun, Timing

Runs = Sequence[MeasuredRun]

_SIDES = (attrgetter("a"), attrgetter("b"))

_SHOWN = 5
"""How many orders an error lists."""


def compare_measured(a: Runs, b: Runs, names: tuple[str, str]) -> MeasuredComparison:
    """What can be said of B's runs against A's; a side may hold several orders, each in several runs.

    Raises UsageError where no order of A is one of B, and for a run on both sides.
    """
    if twice := {run.info.id for run in a} & {run.info.id for run in b}:
        raise UsageError(f"run {min(twice)} stands on both sides", "leave it out of one of them")
    matched = match_orders(a, b)
    if not matched.pairs:
        raise UsageError(
            f"{_listed(matched.only_a)} and {_listed(matched.only_b)} have no order in common",
            "compare runs of the same label, threads and language",
        )
    return MeasuredComparison(
        names=names,
        orders=tuple(_compared(pair) for pair in matched.pairs),
        unmatched=(matched.only_a, matched.only_b),
        notes=tuple(_notes(matched.pairs, names)),
    )


def _compared(pair: Pair) -> OrderCompared:
    for side in (pair.a, pair.b):
        if all(run.measurement is None for run in side):
            failure = (side[0].info.error or "it has no numbers").splitlines()[0]
            return OrderCompared(*pair, obstacle=failure)
    counted_a, counted_b = _counts(pair.a), _counts(pair.b)
    elsewhere = _entered(pair.a) != _entered(pair.b)
    spread = widest(spread_of_runs(pair.a), spread_of_runs(pair.b))
    counts = (
        compare_counts(counted_a, counted_b, elsewhere=elsewhere, spread=spread)
        if counted_a and counted_b
        else None
    )
    try:
        times = _times(pair)
    except UsageError as error:
        return OrderCompared(*pair, counts=counts, obstacle=str(error))
    if times is None and counts is None:
        return OrderCompared(*pair, obstacle="one side was timed, the other's instructions were counted")
    return OrderCompared(*pair, times=times, counts=counts)


def _times(pair: Pair) -> TimesCompared | None:
    a, b = _timings(pair.a), _timings(pair.b)
    if not a or not b:
        return None
    manner = _manner(pair)
    if manner is Manner.INTERLEAVED:
        return compare_timings(a[0], b[0])
    return compare_in_turns(a[0], b[0]) if manner is Manner.IN_TURNS else compare_apart(a, b)


def _manner(pair: Pair) -> Manner:
    """How the two were timed beside each other: together if in one batch, with nothing to keep them apart."""
    infos = [run.info for run in (*pair.a, *pair.b)]
    if len(infos) != 2 or infos[0].batch != infos[1].batch or infos[0].order.env != infos[1].order.env:
        return Manner.APART
    return infos[0].manner


def _timings(runs: Runs) -> list[Timing]:
    return [run.measurement.timing for run in runs if run.measurement and run.measurement.timing]


def _counts(runs: Runs) -> list[InstructionCounts]:
    return [run.measurement.instructions for run in runs if run.measurement and run.measurement.instructions]


def _notes(pairs: Sequence[Pair], names: tuple[str, str]) -> Iterator[str]:
    """What differs between the sides beside the code."""
    sides = [run for pair in pairs for run in pair.a], [run for pair in pairs for run in pair.b]
    where = [sorted({text for run in side for text in _environments(run)}) for side in sides]
    if where[0] != where[1] and all(where):
        told = "; ".join(f"{name} with {', '.join(side)}" for name, side in zip(names, where, strict=True))
        yield f"measured in different environments: {told}"
    entered = [sorted({text for pair in pairs for text in _entered(side(pair))}) for side in _SIDES]
    if entered[0] != entered[1]:
        told = "; ".join(
            f"{name} has {', '.join(side) or 'its own'}" for name, side in zip(names, entered, strict=True)
        )
        yield f"interpreters: {told}"
    if (where[0] != where[1] or entered[0] != entered[1]) and (told := _watched(pairs)):
        yield told
    hosts = [sorted({run.info.process.host for run in side}) for side in sides]
    if hosts[0] != hosts[1]:
        told = ", ".join(dict.fromkeys((*hosts[0], *hosts[1])))
        yield f"measured on different machines ({told}): for that alone their times differ"


def _watched(pairs: Sequence[Pair]) -> str:
    """Whether sentries say that counts of both environments compare; empty where nothing was counted."""
    sides = [[counts for pair in pairs for counts in _counts(side(pair))] for side in _SIDES]
    if not all(sides):
        return ""
    if not all(counts.sentries for side in sides for counts in side):
        return (
            "whether instructions compare is not known: measure both sides with --python or --source-cmd, so "
            "that three fixed C++ statements are counted as well"
        )
    if len({counts.sentries for side in sides for counts in side}) > 1:
        return ""
    return "three fixed C++ statements counted the same on both sides: instructions compare"


def _entered(runs: Runs) -> set[str]:
    """The commands that the runs' environments were entered by."""
    orders = [run.info.order for run in runs]
    return {shlex.join((*order.source_cmd, *filter(None, [order.python]))) for order in orders} - {""}


def _environments(run: MeasuredRun) -> Iterator[str]:
    if run.measurement is None:
        return
    for numbers in (run.measurement.timing, run.measurement.instructions):
        if numbers is not None:
            yield _environment(numbers.measured_in)


def _environment(place: MeasuredIn) -> str:
    return ", ".join([f"Python {place.python}", *(f"{name} {version}" for name, version in place.packages)])


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN])) or "nothing"
    return f"{shown}, …" if len(names) > _SHOWN else shown
