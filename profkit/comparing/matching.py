"""Which order of B is the same as which of A: by label, labels, threads, language and mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from profkit.model.measurement import MeasuredRun, OrderInfo


class Pair(NamedTuple):
    """The runs of one order on either side."""

    name: str
    a: tuple[MeasuredRun, ...]
    b: tuple[MeasuredRun, ...]


class Matched(NamedTuple):
    """Pairs, and the names of orders that one side alone has."""

    pairs: tuple[Pair, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


_Key = tuple[object, ...]
_Side = dict[_Key, tuple[MeasuredRun, ...]]


def match_orders(a: Sequence[MeasuredRun], b: Sequence[MeasuredRun]) -> Matched:
    """The orders that both sides have, in A's sequence.

    What was asked for in different modes is matched where nothing else fits: what both have is compared.
    Where each side has a single label, or a single order, that of the other side is its counterpart.
    """
    left, right = _by_key(a, _exactly), _by_key(b, _exactly)
    pairs = list(_taken(left, right))
    for loosely in _LOOSER:
        rest_a, rest_b = _by_key(_runs(left), loosely), _by_key(_runs(right), loosely)
        if loosely is _unlabelled and (_labels(left) != 1 or _labels(right) != 1 or pairs):
            continue
        pairs += _taken(rest_a, rest_b)
        left, right = rest_a, rest_b
    if len(left) == len(right) == 1 and not pairs:
        pairs = [(next(iter(left.values())), next(iter(right.values())))]
        left, right = {}, {}
    places = {id(run): place for place, run in enumerate(a)}
    pairs.sort(key=lambda pair: places[id(pair[0][0])])
    named = names_of([*(pair[0][0] for pair in pairs), *_firsts(left), *_firsts(right)])
    found = tuple(Pair(next(named), *pair) for pair in pairs)
    return Matched(found, tuple(next(named) for _ in left), tuple(next(named) for _ in right))


def names_of(runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """Each run's label, with what else tells it from the others."""
    orders = [run.info.order for run in runs]
    aspects = [_aspects(order) for order in orders]
    differing = [
        name
        for name in dict.fromkeys(name for told in aspects for name in told)
        if len({told.get(name, "") for told in aspects}) > 1
    ]
    for order, told in zip(orders, aspects, strict=True):
        rest = ", ".join(told[name] for name in differing if told.get(name))
        yield f"{order.label} ({rest})" if rest else order.label


def _aspects(order: OrderInfo) -> Mapping[str, str]:
    threads = f"{order.num_threads} thread{'' if order.num_threads == 1 else 's'}"
    labels = {f"label {name}": value for name, value in order.labels}
    language = {"language": order.unlabelled_language} if order.unlabelled_language else {}
    return {**labels, **language, "threads": threads}


def _unlabelled(order: OrderInfo) -> _Key:
    return order.labels, order.num_threads, order.language


def _in_any_mode(order: OrderInfo) -> _Key:
    return order.label, *_unlabelled(order)


def _exactly(order: OrderInfo) -> _Key:
    return *_in_any_mode(order), order.mode


_LOOSER: tuple[Callable[[OrderInfo], _Key], ...] = (_in_any_mode, _unlabelled)


def _by_key(runs: Sequence[MeasuredRun], key: Callable[[OrderInfo], _Key]) -> _Side:
    side: _Side = {}
    for run in runs:
        found = key(run.info.order)
        side[found] = (*side.get(found, ()), run)
    return side


def _taken(a: _Side, b: _Side) -> Iterator[tuple[tuple[MeasuredRun, ...], tuple[MeasuredRun, ...]]]:
    """The orders that both have, taken out of both."""
    for key in [key for key in a if key in b]:
        yield a.pop(key), b.pop(key)


def _runs(side: _Side) -> list[MeasuredRun]:
    return [run for runs in side.values() for run in runs]


def _firsts(side: _Side) -> list[MeasuredRun]:
    return [runs[0] for runs in side.values()]


def _labels(side: _Side) -> int:
    return len({run.info.label for run in _runs(side)})
