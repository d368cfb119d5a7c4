"""Sums of weights over parts that many stacks have, such as frames or functions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

_T = TypeVar("_T")
_Weight = TypeVar("_Weight", int, float)


def by_weight(weighted: Iterable[tuple[_T, _Weight]]) -> Mapping[_Weight, Sequence[_T]]:
    """Group things by their weights, for `sum_parts`."""
    groups: defaultdict[_Weight, list[_T]] = defaultdict(list)
    for thing, weight in weighted:
        groups[weight].append(thing)
    return groups


def sum_parts(
    groups: Mapping[_Weight, Sequence[_T]], parts: Callable[[_T], Iterable[int]]
) -> dict[int, _Weight]:
    """Return the weight of the things that have each part; `parts` returns each part of a thing once.

    Those of equal weight are counted, which is several times as fast as to add their weights: of a million
    samples few have a weight of their own.
    """
    sums: dict[int, _Weight] = {}
    for weight, things in groups.items():
        for part, times in Counter(chain.from_iterable(map(parts, things))).items():
            sums[part] = sums.get(part, 0) + weight * times
    return sums
