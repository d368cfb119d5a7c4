"""A run's samples as columns: stacks front-coded, their weights by thread, their order, and lines."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, compress, count, pairwise
from operator import ne

from profkit.model.profile import Profile
from profkit.render.html.columns import Columns, Kind
from profkit.render.html.lines import LineWeights
from profkit.transforms.trees import sort_stacks


@dataclass(frozen=True, slots=True)
class _Taken:
    """What was taken of one thread, in order: places of stacks and weights."""

    stacks: array[int]
    weights: list[int]


def add_stacks(columns: Columns, prefix: str, summed: Profile, keys: Sequence[int]) -> Sequence[int]:
    """Add distinct stacks, frame n as function `keys[n]`; gives each of the profile's stacks its place there.

    `shared`, `length` and `frames` are the stacks in lexicographic order: how many frames each has in
    common with the one before, how many it has, and the others one after the other. `pair.stack`,
    `pair.thread` and `pair.weight` say how much each has by thread, sorted by stack.
    """
    stacks = sort_stacks(summed, keys)
    new = (stack[shared:] for stack, shared in zip(stacks.stacks, stacks.shared, strict=True))
    _add_small(columns, f"{prefix}shared", stacks.shared)
    _add_small(columns, f"{prefix}length", list(map(len, stacks.stacks)))
    _add_small(columns, f"{prefix}frames", list(chain.from_iterable(new)))
    weights: dict[int, int] = {}
    threads = max(1, len(summed.threads))
    for stack, thread, weight in summed.samples:
        pair = stacks.places[stack] * threads + thread
        weights[pair] = weights.get(pair, 0) + weight
    pairs = sorted(weights)
    columns.add(f"{prefix}pair.stack", "u32", [pair // threads for pair in pairs])
    _add_small(columns, f"{prefix}pair.thread", [pair % threads for pair in pairs])
    _add_weights(columns, f"{prefix}pair.weight", [weights[pair] for pair in pairs])
    return stacks.places


def add_order(columns: Columns, prefix: str, profile: Profile, places: Sequence[int]) -> None:
    """Add the samples in the order they were taken, thread after thread; equal neighbours are one.

    `order.stack` and `order.weight` are places and weights, `order.start` is where each thread's samples
    begin, and where the last ends.
    """
    orders = list(map(_merged, _by_thread(profile, places)))
    starts = [0, *accumulate(len(order.stacks) for order in orders)]
    columns.add(f"{prefix}order.stack", "u32", chain.from_iterable(order.stacks for order in orders))
    _add_weights(columns, f"{prefix}order.weight", [*chain.from_iterable(order.weights for order in orders)])
    columns.add(f"{prefix}order.start", "u32", starts)


def add_lines(columns: Columns, prefix: str, lines: Sequence[LineWeights]) -> None:
    """Add `lines.function`, `lines.line`, `lines.self` and `lines.total`."""
    columns.add(f"{prefix}lines.function", "u32", [line.function for line in lines])
    columns.add(f"{prefix}lines.line", "u32", [line.line for line in lines])
    _add_weights(columns, f"{prefix}lines.self", [line.own for line in lines])
    _add_weights(columns, f"{prefix}lines.total", [line.total for line in lines])


def add_totals(columns: Columns, prefix: str, totals: Iterable[tuple[int, int | None]]) -> None:
    """Add `totals.function` and `totals.weight` if functions, given by their numbers, have stated totals."""
    stated = {function: total for function, total in totals if total is not None}
    if stated:
        columns.add(f"{prefix}totals.function", "u32", stated)
        _add_weights(columns, f"{prefix}totals.weight", list(stated.values()))


def _by_thread(profile: Profile, places: Sequence[int]) -> list[_Taken]:
    taken = [_Taken(array("I"), []) for _ in profile.threads]
    add_stack = [one.stacks.append for one in taken]
    add_weight = [one.weights.append for one in taken]
    for stack, thread, weight in profile.samples:
        add_stack[thread](places[stack])
        add_weight[thread](weight)
    return taken


def _merged(taken: _Taken) -> _Taken:
    """The same with equal neighbours as one."""
    stacks = taken.stacks
    begins = [True, *map(ne, stacks[1:], stacks)] if stacks else []
    sums = [0, *accumulate(taken.weights)]
    bounds = [*compress(count(), begins), len(stacks)]
    weights = [sums[end] - sums[begin] for begin, end in pairwise(bounds)]
    return _Taken(array("I", compress(stacks, begins)), weights)


def _add_small(columns: Columns, name: str, values: Sequence[int]) -> None:
    """A column of numbers that seldom need more than sixteen bits."""
    kind: Kind = "u16" if max(values, default=0) < 2**16 else "u32"
    columns.add(name, kind, values)


def _add_weights(columns: Columns, name: str, values: Sequence[int]) -> None:
    """Weights may be nanoseconds or instructions of hours; a double holds them exactly up to 2**53."""
    kind: Kind = "u32" if max(values, default=0) < 2**32 else "f64"
    columns.add(name, kind, values)
