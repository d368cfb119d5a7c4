"""Comparison of measured runs: match their work orders, compare times and counts, and note differences."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from profkit.comparing.comparability import check_distinct
from profkit.comparing.instructions import compare_counts, spread_of_runs, widest
from profkit.comparing.selection import left_out_findings
from profkit.comparing.times import compare_alternating, compare_separate, compare_timings
from profkit.errors import UsageError
from profkit.model.comparison import MeasuredComparison, OrderCompared, TimesCompared
from profkit.model.measurement import Design, InstructionCounts, MeasuredRun, OrderInfo, Timing
from profkit.model.notes import Finding, FindingCode


class Pair(NamedTuple):
    """Runs of one order on both sides."""

    name: str
    a: tuple[MeasuredRun, ...]
    b: tuple[MeasuredRun, ...]


class Matched(NamedTuple):
    """Pairs, and the names of orders that only one side has."""

    pairs: tuple[Pair, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


_Key = tuple[object, ...]
_Side = dict[_Key, tuple[MeasuredRun, ...]]


def match_orders(a: Sequence[MeasuredRun], b: Sequence[MeasuredRun]) -> Matched:
    """Match the orders that both sides have, in A's order; they may have been measured in different modes.

    If nothing matches and each side has a single label, or a single order, these are matched.
    """
    left, right = _by_key(a, _labelled), _by_key(b, _labelled)
    pairs = list(_take_common(left, right))
    if not pairs and _labels(left) == _labels(right) == 1:
        left, right = _by_key(a, _unlabelled), _by_key(b, _unlabelled)
        pairs = list(_take_common(left, right))
    if len(left) == len(right) == 1 and not pairs:
        pairs = [(next(iter(left.values())), next(iter(right.values())))]
        left, right = {}, {}
    places = {id(run): place for place, run in enumerate(a)}
    pairs.sort(key=lambda pair: places[id(pair[0][0])])
    firsts = [*(pair[0][0] for pair in pairs), *_firsts(left), *_firsts(right)]
    aspects = _distinguishing(firsts)
    matched = tuple(Pair(_pair_name(*pair, next(aspects)), *pair) for pair in pairs)
    rest = [_named(run, next(aspects)) for run in firsts[len(pairs) :]]
    return Matched(matched, tuple(rest[: len(left)]), tuple(rest[len(left) :]))


def names_of(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """Yield each run's label, with the aspects that distinguish it from the others."""
    yield from map(_named, runs, _distinguishing(runs))


def _distinguishing(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """Yield the aspects that distinguish each run's order from the others; empty if none do."""
    orders = [run.info.order for run in runs]
    threads = [f"{one.num_threads} thread{'' if one.num_threads == 1 else 's'}" for one in orders]
    aspects = list(map(variant_of, orders, threads))
    names = differing(aspects)
    yield from (", ".join(one[name] for name in names if one.get(name)) for one in aspects)


def _named(run: MeasuredRun, aspects: str) -> str:
    return f"{run.info.label} ({aspects})" if aspects else run.info.label


def _pair_name(a: Sequence[MeasuredRun], b: Sequence[MeasuredRun], aspects: str) -> str:
    """Return the name of an order of both sides; A's label alone would seem to mean only A."""
    labels = a[0].info.label, b[0].info.label
    return _named(a[0], aspects) if labels[0] == labels[1] else aspects or " → ".join(labels)


def variant_of(order: OrderInfo, threads: str = "") -> dict[str, str]:
    """Return the aspects that make an order a variant of its label; empty texts for ordinary ones.

    `threads` is the text for its number of threads, if that is among them.
    """
    labels = {f"label {name}": text for name, text in order.labels}
    return {**labels, "threads": threads, "language": order.unlabelled_language}


def differing(aspects: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the aspects in which orders differ; an order without one counts as having an empty text."""
    names = dict.fromkeys(name for one in aspects for name in one)
    return [name for name in names if len({one.get(name, "") for one in aspects}) > 1]


def _unlabelled(order: OrderInfo) -> _Key:
    return order.labels, order.num_threads, order.language


def _labelled(order: OrderInfo) -> _Key:
    return order.label, *_unlabelled(order)


def _by_key(runs: Sequence[MeasuredRun], key: Callable[[OrderInfo], _Key]) -> _Side:
    side: _Side = {}
    for run in runs:
        order = key(run.info.order)
        side[order] = (*side.get(order, ()), run)
    return side


def _take_common(a: _Side, b: _Side) -> Iterator[tuple[tuple[MeasuredRun, ...], tuple[MeasuredRun, ...]]]:
    for key in [key for key in a if key in b]:
        yield a.pop(key), b.pop(key)


def _firsts(side: _Side) -> list[MeasuredRun]:
    return [runs[0] for runs in side.values()]


def _labels(side: _Side) -> int:
    return len({run.info.label for runs in side.values() for run in runs})


Runs = Sequence[MeasuredRun]

_SIDES = (attrgetter("a"), attrgetter("b"))

_MAX_LISTED = 5
"""Maximum number of orders that an error lists."""


def compare_measured(a: Runs, b: Runs, names: tuple[str, str]) -> MeasuredComparison:
    """Compare B's runs with A's; a side may have several orders, each with several runs.

    Raises UsageError if no order of A is one of B, or if a run is on both sides.
    """
    check_distinct(a, b)
    matched = match_orders(a, b)
    pairs, separate = _timed_together(matched.pairs)
    if not pairs:
        raise UsageError(
            f"{_listed(matched.only_a)} and {_listed(matched.only_b)} have no statement in common",
            "compare runs of the same label, threads and language",
        )
    return MeasuredComparison(
        names=names,
        orders=tuple(_compared(pair) for pair in pairs),
        unmatched=(matched.only_a, matched.only_b),
        notes=(*separate, *_notes(pairs)),
    )


def _timed_together(pairs: Sequence[Pair]) -> tuple[tuple[Pair, ...], tuple[Finding, ...]]:
    """Leave out other times of orders that a batch interleaved or alternated, and return findings on that."""
    kept = tuple(map(_of_last_batch, pairs))
    numbers = [
        sum(len(side(before)) - len(side(after)) for before, after in zip(pairs, kept, strict=True))
        for side in _SIDES
    ]
    return kept, left_out_findings([[("separate", number)] if number else [] for number in numbers])


def _of_last_batch(pair: Pair) -> Pair:
    """Return the times of the last batch that timed both sides together, if any, and all counts."""
    of_a, of_b = (
        {_together(run): run.info.started_ns for run in side if _is_timed(run)} for side in (pair.a, pair.b)
    )
    shared = [batch for batch in of_a if batch in of_b and batch != _ALONE]
    if not shared:
        return pair
    last = max(shared, key=of_a.__getitem__)
    a, b = (
        tuple(run for run in side if not _is_timed(run) or _together(run) == last)
        for side in (pair.a, pair.b)
    )
    return Pair(pair.name, a, b)


_ALONE: tuple[object, ...] = ()


def _together(run: MeasuredRun) -> tuple[object, ...]:
    """Return what runs have in common that a batch timed together; `_ALONE` if it did not."""
    info = run.info
    return _ALONE if info.design is Design.SEPARATE else (info.batch, info.order.env)


def _is_timed(run: MeasuredRun) -> bool:
    return run.measurement is not None and run.measurement.timing is not None


def _compared(pair: Pair) -> OrderCompared:
    for side in (pair.a, pair.b):
        if all(run.measurement is None for run in side):
            first_line = (side[0].info.error or "").partition("\n")[0]
            return OrderCompared(*pair, obstacle=Finding.of(FindingCode.NOT_MEASURED, detail=first_line))
    counted_a, counted_b = _counts(pair.a), _counts(pair.b)
    elsewhere = _entry_commands(pair.a) != _entry_commands(pair.b)
    spread = widest(spread_of_runs(pair.a), spread_of_runs(pair.b))
    counts = (
        compare_counts(counted_a, counted_b, elsewhere=elsewhere, spread=spread)
        if counted_a and counted_b
        else None
    )
    try:
        times = _times(pair)
    except UsageError as error:
        obstacle = Finding.of(FindingCode.TIMES_NOT_COMPARABLE, detail=str(error))
        return OrderCompared(*pair, counts=counts, obstacle=obstacle)
    if times is None and counts is None:
        return OrderCompared(*pair, obstacle=Finding.of(FindingCode.MODES_DIFFER))
    return OrderCompared(*pair, times=times, counts=counts)


def _times(pair: Pair) -> TimesCompared | None:
    a, b = _timings(pair.a), _timings(pair.b)
    if not a or not b:
        return None
    design = _design(pair)
    if design is Design.INTERLEAVED:
        return compare_timings(a[0], b[0])
    return compare_alternating(a[0], b[0]) if design is Design.ALTERNATING else compare_separate(a, b)


def _design(pair: Pair) -> Design:
    """Return the design: that of the batch if the only two timed runs share it and `env`, else separate."""
    timed = [run for run in (*pair.a, *pair.b) if _is_timed(run)]
    together = len(timed) == 2 and _together(timed[0]) == _together(timed[1])
    return timed[0].info.design if together else Design.SEPARATE


def _timings(runs: Runs) -> list[Timing]:
    return [run.measurement.timing for run in runs if run.measurement and run.measurement.timing]


def _counts(runs: Runs) -> list[InstructionCounts]:
    return [run.measurement.instructions for run in runs if run.measurement and run.measurement.instructions]


def _notes(pairs: Sequence[Pair]) -> Iterator[Finding]:
    sides = [[run for pair in pairs for run in side(pair)] for side in _SIDES]
    environments = [sorted({text for run in side for text in _environments(run)}) for side in sides]
    elsewhere = environments[0] != environments[1]
    if elsewhere and all(environments):
        yield _differing(FindingCode.ENVIRONMENTS_DIFFER, environments)
    commands = [sorted({text for pair in pairs for text in _entry_commands(side(pair))}) for side in _SIDES]
    if commands[0] != commands[1]:
        yield _differing(FindingCode.INTERPRETERS_DIFFER, commands)
    if elsewhere or commands[0] != commands[1]:
        yield from _controls(pairs)
    if any(_machines(pair.a) != _machines(pair.b) for pair in pairs):
        yield Finding.of(FindingCode.MACHINES_DIFFER, machines=machine_names([*sides[0], *sides[1]]))


def _machines(runs: Runs) -> set[str]:
    return {run.info.process.host for run in runs}


def machine_names(runs: Runs) -> str:
    """Return the machines on which runs were measured, with their kinds if these differ."""
    kinds = {run.info.machine for run in runs} - {""}
    named = (
        f"{run.info.process.host} ({run.info.machine})"
        if len(kinds) > 1 and run.info.machine
        else run.info.process.host
        for run in runs
    )
    return ", ".join(sorted(set(named)))


def _differing(code: FindingCode, sides: Sequence[Sequence[str]]) -> Finding:
    a, b = (" and ".join(texts) for texts in sides)
    return Finding.of(code, a=a, b=b)


def _controls(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yield whether controls show that counts are comparable; nothing if nothing was counted."""
    sides = [[counts for pair in pairs for counts in _counts(side(pair))] for side in _SIDES]
    if not all(sides):
        return
    if not all(counts.controls for side in sides for counts in side):
        yield Finding.of(FindingCode.CONTROLS_MISSING)
    elif len({counts.controls for side in sides for counts in side}) == 1:
        yield Finding.of(FindingCode.CONTROLS_AGREE)


def _entry_commands(runs: Runs) -> set[str]:
    orders = [run.info.order for run in runs]
    return {shlex.join((*order.source_cmd, *filter(None, [order.python]))) for order in orders} - {""}


def _environments(run: MeasuredRun) -> Iterator[str]:
    if run.measurement is None:
        return
    for numbers in (run.measurement.timing, run.measurement.instructions):
        if numbers is not None:
            place = numbers.measured_in
            packages = (f"{name} {version}" for name, version in place.packages)
            yield ", ".join([f"Python {place.python or 'unknown'}", *packages])


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(map(repr, names[:_MAX_LISTED])) or "nothing"
    return f"{text}, …" if len(names) > _MAX_LISTED else text
