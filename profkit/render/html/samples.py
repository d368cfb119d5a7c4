"""Columns of samples for an HTML page: stacks, order, totals, and resource curves."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, compress, count, pairwise
from operator import add, ne, or_

from profkit.model.profile import Profile
from profkit.model.session import ResourcePoint
from profkit.render.html.document import Columns, Kind
from profkit.transforms.trees import sort_stacks

MAX_POINTS = 1500
"""Maximum number of points of a curve: more than a screen has pixels. A day of ticks has 86,400."""


def resource_curves(points: Sequence[ResourcePoint]) -> dict[str, list[float] | list[int]] | None:
    """Return CPU use, memory and threads over the seconds since the first point; None without points.

    `cpu_share` is the CPU use between two points (1 is one core), so it has one number less. Of merged
    points, memory and threads are the maxima, and CPU use is the mean over their whole time.
    """
    kept = thinned(points, MAX_POINTS)
    if not kept:
        return None
    first = kept[0].at_ns
    return {
        "at_s": [round((point.at_ns - first) / 1e9, 3) for point in kept],
        "cpu_share": [round(_cpu_share(before, after), 4) for before, after in pairwise(kept)],
        "rss_bytes": [point.rss_bytes for point in kept],
        "threads": [point.threads for point in kept],
    }


def _cpu_share(before: ResourcePoint, after: ResourcePoint) -> float:
    elapsed_s = (after.at_ns - before.at_ns) / 1e9
    return max(0.0, (after.cpu_s - before.cpu_s) / elapsed_s) if elapsed_s > 0 else 0.0


def thinned(points: Sequence[ResourcePoint], most: int) -> tuple[ResourcePoint, ...]:
    """Return the first point, then one for each of at most `most - 1` groups of equal size."""
    if len(points) <= most:
        return tuple(points)
    size = -(-(len(points) - 1) // (most - 1))
    groups = (points[start : start + size] for start in range(1, len(points), size))
    return (points[0], *map(_merged_point, groups))


def _merged_point(group: Sequence[ResourcePoint]) -> ResourcePoint:
    # CPU time only grows: the last point's is enough to find the use since the previous group.
    rss_bytes, threads = max(point.rss_bytes for point in group), max(point.threads for point in group)
    return replace(group[-1], rss_bytes=rss_bytes, threads=threads)


@dataclass(frozen=True, slots=True)
class _ThreadSamples:
    """Samples of one thread in order: places of stacks, and weights."""

    stacks: array[int]
    weights: list[int]
    waiting: list[int]
    """Waiting parts of the weights."""
    starts: list[int]
    """Empty if they are not known."""


def add_stacks(
    columns: Columns, prefix: str, summed: Profile, keys: Sequence[int], waiting: Collection[int] = ()
) -> Sequence[int]:
    """Add distinct stacks, frame n as function `keys[n]`; return the place of each of the profile's stacks.

    `shared`, `length` and `frames` encode the stacks in lexicographic order: the number of frames shared
    with the previous stack, the number of all frames, and the concatenated frames that are not shared.
    `pair.stack`, `pair.thread` and `pair.weight` are the weights by stack and thread, sorted by stack, and
    `pair.waiting` the part of the stacks in `waiting`, if there is any.
    """
    stacks = sort_stacks(summed, keys)
    new = (stack[shared:] for stack, shared in zip(stacks.stacks, stacks.shared, strict=True))
    add_small(columns, f"{prefix}shared", stacks.shared)
    add_small(columns, f"{prefix}length", list(map(len, stacks.stacks)))
    add_small(columns, f"{prefix}frames", list(chain.from_iterable(new)))
    weights: dict[int, int] = {}
    waits: dict[int, int] = {}
    threads = max(1, len(summed.threads))
    for stack, thread, weight in summed.samples:
        pair = stacks.places[stack] * threads + thread
        weights[pair] = weights.get(pair, 0) + weight
        if stack in waiting:
            waits[pair] = waits.get(pair, 0) + weight
    pairs = sorted(weights)
    columns.add(f"{prefix}pair.stack", "u32", [pair // threads for pair in pairs])
    add_small(columns, f"{prefix}pair.thread", [pair % threads for pair in pairs])
    add_weights(columns, f"{prefix}pair.weight", [weights[pair] for pair in pairs])
    if waits:
        add_weights(columns, f"{prefix}pair.waiting", [waits.get(pair, 0) for pair in pairs])
    return stacks.places


def add_order(
    columns: Columns, prefix: str, profile: Profile, places: Sequence[int], waiting: Collection[int] = ()
) -> None:
    """Add the samples in the order they were taken, thread after thread; merge equal neighbours.

    `order.stack` and `order.weight` are places and weights, `order.waiting` the part of the stacks in
    `waiting`, if there is any. `order.start` has the index of each thread's first sample, and at last the
    number of all samples. `order.at` has the starts of samples, relative to the first one, if they are known.
    """
    orders = list(map(_merge_neighbours, _by_thread(profile, places, waiting)))
    starts = [0, *accumulate(len(order.stacks) for order in orders)]
    columns.add(f"{prefix}order.stack", "u32", chain.from_iterable(order.stacks for order in orders))
    add_weights(columns, f"{prefix}order.weight", [*chain.from_iterable(order.weights for order in orders)])
    if waiting:
        waits = [*chain.from_iterable(order.waiting for order in orders)]
        add_weights(columns, f"{prefix}order.waiting", waits)
    columns.add(f"{prefix}order.start", "u32", starts)
    if profile.starts:
        first = min(profile.starts)
        at = [start - first for order in orders for start in order.starts]
        add_weights(columns, f"{prefix}order.at", at)


def add_totals(columns: Columns, prefix: str, totals: Iterable[tuple[int, int | None]]) -> None:
    """Add `totals.function` and `totals.weight` if any function, given by number, has a stated total."""
    stated = {function: total for function, total in totals if total is not None}
    if stated:
        columns.add(f"{prefix}totals.function", "u32", stated)
        add_weights(columns, f"{prefix}totals.weight", list(stated.values()))


def _by_thread(profile: Profile, places: Sequence[int], waiting: Collection[int]) -> list[_ThreadSamples]:
    threads = [_ThreadSamples(array("I"), [], [], []) for _ in profile.threads]
    add_stack = [samples.stacks.append for samples in threads]
    add_weight = [samples.weights.append for samples in threads]
    add_waiting = [samples.waiting.append for samples in threads]
    for stack, thread, weight in profile.samples:
        add_stack[thread](places[stack])
        add_weight[thread](weight)
        if waiting:
            add_waiting[thread](weight if stack in waiting else 0)
    for (_, thread, _), start in zip(profile.samples, profile.starts, strict=False):
        threads[thread].starts.append(start)
    return threads


def _merge_neighbours(samples: _ThreadSamples) -> _ThreadSamples:
    """Merge neighbouring samples of equal stacks without a gap between them."""
    stacks, starts = samples.stacks, samples.starts
    begins = [True, *map(ne, stacks[1:], stacks)] if stacks else []
    if starts:
        ends = map(add, starts, samples.weights)
        begins = [True, *map(or_, begins[1:], map(ne, starts[1:], ends))]
    bounds = [*compress(count(), begins), len(stacks)]
    weights, waiting = (_sums(of_samples, bounds) for of_samples in (samples.weights, samples.waiting))
    return _ThreadSamples(
        array("I", compress(stacks, begins)), weights, waiting, list(compress(starts, begins))
    )


def _sums(weights: Sequence[int], bounds: Sequence[int]) -> list[int]:
    """Return the sum between each two bounds; nothing without weights."""
    sums = [0, *accumulate(weights)]
    return [sums[end] - sums[begin] for begin, end in pairwise(bounds)] if weights else []


def add_small(columns: Columns, name: str, values: Sequence[int]) -> None:
    """Add a column of numbers that seldom need more than sixteen bits."""
    kind: Kind = "u16" if max(values, default=0) < 2**16 else "u32"
    columns.add(name, kind, values)


def add_weights(columns: Columns, name: str, values: Sequence[int]) -> None:
    """Add weights, as doubles if 32 bits are too few; doubles are exact up to 2**53."""
    kind: Kind = "u32" if max(values, default=0) < 2**32 else "f64"
    columns.add(name, kind, values)
