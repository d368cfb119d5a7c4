from __future__ import annotations

import array
import collections
import functools
import io
import itertools
import pickle
import queue
import random
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.programs import changing_functions, pure_functions
from benchmarks.programs.changing_functions import Call
from profkit.measuring.worker.runnable import calls
from profkit.measuring.worker.state import Global, State, state_of
from profkit.measuring.worker.state_policy import state_in

QUEUE: list[int] = [1, 2, 3]
COUNTER = 0
MODULE = types.ModuleType("shop")


@functools.lru_cache
def cached(n: int) -> int:
    return n * 2


@dataclass
class Node:
    value: list[int] = field(default_factory=list)
    next: Node | None = None


class Slotted:
    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items = [1]


class Counted:
    made: list[int] = []  # noqa: RUF012
    number = 0

    def note(self) -> None:
        Counted.made.append(1)

    def count(self) -> None:
        type(self).number += 1


def changes(work: Callable[[], object], **roots: object) -> tuple[str, ...]:
    """What an execution changes of the function and of named values."""
    roots = {"the function": work, **roots}
    before = state_of(roots)
    again = state_of(roots)
    assert before.changes(again) == ()
    work()
    return before.changes(state_of(roots))


def ring() -> Node:
    node = Node([1], Node([2]))
    assert node.next is not None
    node.next.next = node
    return node


def assert_seen(make: Callable[[], object], change: Callable[[object], object]) -> None:
    """Check that what `change` does to a value is a change, and that nothing else is."""
    value = make()
    before = state_of({"it": value})
    assert before.whole
    assert before.changes(state_of({"it": value})) == ()
    change(value)
    assert before.changes(state_of({"it": value})) == ("it",)


CHANGING: dict[str, tuple[Callable[[], object], Callable[[object], object]]] = {
    "list": (lambda: [3, 1, 2], lambda v: v.sort()),  # type: ignore[attr-defined]
    "nested list": (lambda: [[1], [2]], lambda v: v[1].append(3)),  # type: ignore[index]
    "dict": (lambda: {"a": 1}, lambda v: v.update(b=2)),  # type: ignore[attr-defined]
    "dict value": (lambda: {"a": [1]}, lambda v: v["a"].clear()),  # type: ignore[index]
    "order of a dict": (lambda: {"a": 1, "b": 2}, lambda v: v.update(a=v.pop("a"))),  # type: ignore[attr-defined]
    "set": (lambda: {1, 2}, lambda v: v.pop()),  # type: ignore[attr-defined]
    "deque": (lambda: collections.deque([1, 2]), lambda v: v.rotate()),  # type: ignore[attr-defined]
    "Counter": (lambda: collections.Counter("aab"), lambda v: v.update("b")),  # type: ignore[attr-defined]
    "bytearray": (lambda: bytearray(9), lambda v: v.__setitem__(3, 1)),  # type: ignore[attr-defined]
    "array.array": (lambda: array.array("d", [1.0]), lambda v: v.append(2.0)),  # type: ignore[attr-defined]
    "list iterator": (lambda: iter([1, 2]), lambda v: sum(v)),  # type: ignore[call-overload]
    "map": (lambda: map(str, [1, 2]), lambda v: next(v)),  # type: ignore[call-overload]
    "enumerate": (lambda: enumerate([1, 2]), lambda v: next(v)),  # type: ignore[call-overload]
    "chain": (lambda: itertools.chain([1], [2]), lambda v: list(v)),  # type: ignore[call-overload]
    "count": (lambda: itertools.count(), lambda v: next(v)),  # type: ignore[call-overload]
    "repeat": (lambda: itertools.repeat(1, 9), lambda v: next(v)),  # type: ignore[call-overload]
    "islice": (lambda: itertools.islice([1, 2, 3], 1, 3), lambda v: next(v)),  # type: ignore[call-overload]
    "product": (lambda: itertools.product([1, 2], [3]), lambda v: next(v)),  # type: ignore[call-overload]
    "permutations": (lambda: itertools.permutations([1, 2, 3]), lambda v: next(v)),  # type: ignore[call-overload]
    "generator": (lambda: (n for n in [1, 2]), lambda v: next(v)),  # type: ignore[call-overload]
    "StringIO": (lambda: io.StringIO("text"), lambda v: v.read()),  # type: ignore[attr-defined]
    "BytesIO": (lambda: io.BytesIO(b"text"), lambda v: v.write(b"T")),  # type: ignore[attr-defined]
    "queue": (lambda: queue.Queue(), lambda v: v.put(1)),  # type: ignore[attr-defined]
    "instance": (lambda: Node(), lambda v: v.value.append(1)),  # type: ignore[attr-defined]
    "ring": (ring, lambda v: v.next.value.append(1)),  # type: ignore[attr-defined]
    "slots": (lambda: Slotted(), lambda v: v.items.append(1)),  # type: ignore[attr-defined]
    "array": (lambda: np.arange(9.0), lambda v: v.__imul__(2)),  # type: ignore[attr-defined]
    "part of an array": (lambda: np.zeros((4, 4))[:, ::2], lambda v: v.fill(1)),  # type: ignore[attr-defined]
    "array of objects": (lambda: np.array([[1], None], dtype=object), lambda v: v[0].append(2)),  # type: ignore[index]
    "bound method": (lambda: [1].append, lambda v: v(2)),  # type: ignore[operator]
    "partial": (lambda: functools.partial(list.append, [1]), lambda v: v(2)),  # type: ignore[operator]
}


@pytest.mark.parametrize("name", CHANGING)
def test_what_changes_is_seen(name: str) -> None:
    assert_seen(*CHANGING[name])


def assert_unchanged(value: object, read: Callable[[object], object]) -> None:
    """Check that reading a value is no change."""
    before = state_of({"it": value})
    read(value)
    assert before.whole
    assert before.changes(state_of({"it": value})) == ()


READ: dict[str, tuple[object, Callable[[object], object]]] = {
    "list": ([3, 1, 2], sorted),  # type: ignore[list-item]
    "dict": ({"a": [1]}, lambda v: list(v.items())),  # type: ignore[attr-defined]
    "array": (np.arange(9.0), lambda v: v.sum()),  # type: ignore[attr-defined]
    "random numbers": (random.Random(1), lambda v: v.random()),  # type: ignore[attr-defined]
    "numpy's": (np.random.default_rng(1), lambda v: v.random()),  # type: ignore[attr-defined]
    "text": ("some text", hash),
    "file": (io.StringIO("text"), lambda v: v.getvalue()),  # type: ignore[attr-defined]
    "modules": ([random, sys], lambda v: v[0].random()),  # type: ignore[index]
}


@pytest.mark.parametrize("name", READ)
def test_what_is_only_read_does_not_change(name: str) -> None:
    assert_unchanged(*READ[name])


def test_globals_that_a_function_names_are_its_state() -> None:
    def drain() -> None:
        while QUEUE:
            QUEUE.pop()

    def through() -> None:
        drain()

    QUEUE[:] = [1, 2]
    before = state_of({"the function": through})
    words = f"QUEUE of module {__name__}"
    assert before.globals[words] == Global(__name__, "QUEUE")
    through()
    assert before.changes(state_of({"the function": through})) == (words,)


def test_names_of_modules_of_the_user_are_looked_at() -> None:
    MODULE.__file__, MODULE.basket = "/home/user/shop.py", [1]  # type: ignore[attr-defined]

    def take() -> None:
        MODULE.basket.pop()  # type: ignore[attr-defined]

    sys.modules["shop"] = MODULE
    try:
        assert changes(take) == ("basket of module shop",)
    finally:
        del sys.modules["shop"]


def test_closures_defaults_attributes_of_functions_and_of_classes() -> None:
    seen: list[int] = []
    kept: list[int] = []

    def close() -> None:
        seen.append(1)

    def default(into: list[int] = kept) -> None:
        into.append(1)

    def attribute() -> None:
        attribute.calls.append(1)  # type: ignore[attr-defined]

    attribute.calls = []  # type: ignore[attr-defined]
    for work in (close, default, attribute):
        assert changes(work) == ("the function",)
    counted = Counted()
    assert changes(counted.note) == ("made of class Counted",)


def test_counters_and_random_numbers_are_no_state() -> None:
    def count() -> float:
        global COUNTER
        COUNTER += 1
        Counted().count()
        return random.random()

    assert changes(count) == ()


def test_a_cache_is_named() -> None:
    cached.cache_clear()

    def look() -> int:
        return cached(1)

    assert changes(look) == ("the cache of cached",)
    assert changes(look) == ()


def test_too_much_is_not_looked_at() -> None:
    many = [[n] for n in range(1000)]
    assert state_of({"it": many}, most_objects=100) == State(whole=False)
    assert state_of({"it": list(range(1_000_000))}, most_objects=100).whole


def test_objects_that_refuse_everything_are_looked_at_from_outside() -> None:
    class Refusing:
        def __getattribute__(self, name: str) -> object:
            raise RuntimeError(name)

        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        def __iter__(self) -> Iterator[object]:
            raise RuntimeError

    class RefusingList(list[int]):
        def __iter__(self) -> Iterator[int]:
            raise RuntimeError

    values = [Refusing(), RefusingList([1])]
    before = state_of({"it": values})
    list.append(values[1], 2)  # type: ignore[arg-type]
    assert before.changes(state_of({"it": values})) == ("it",)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


@given(plain)
def test_looking_changes_nothing(value: object) -> None:
    assert state_of({"it": value}).values == state_of({"it": value}).values


@given(st.lists(st.integers(), min_size=1), st.data())
def test_another_item_is_another_state(values: list[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(values) - 1))
    before = state_of({"it": values})
    values[place] += data.draw(st.integers(1, 1000))
    assert before.changes(state_of({"it": values})) == ("it",)


NO_STATE = {"issue_tickets", "roll"}
"""They advance a counter, and a random number generator."""
Case = tuple[Callable[..., object], Callable[[], Call]]


def changes_of(case: Case) -> tuple[str, ...]:
    """What is found to differ after a call."""
    function, make = case
    args, kwargs = make()
    measured = calls(function, args, kwargs)
    before = state_in(measured, 100_000)
    assert before.whole
    function(*args, **kwargs)
    return before.changes(state_in(measured, 100_000))


@pytest.mark.parametrize("case", changing_functions.CASES, ids=lambda case: case[0].__qualname__)
def test_functions_that_change_something_are_recognised(case: Case) -> None:
    assert bool(changes_of(case)) is (case[0].__name__ not in NO_STATE)


@pytest.mark.parametrize("case", pure_functions.CASES, ids=lambda case: case[0].__qualname__)
def test_functions_that_change_nothing_are_left_alone(case: Case) -> None:
    assert changes_of(case) == ()


def test_all_of_them_can_be_sent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # iterators of itertools
        refused = {
            function.__name__
            for function, make in (*changing_functions.CASES, *pure_functions.CASES)
            if not can_be_sent(make())
        }
    assert refused == ({"label_batch"} if sys.version_info >= (3, 14) else set()), "itertools.count"


def can_be_sent(call: Call) -> bool:
    try:
        pickle.dumps(call)
    except TypeError:
        return False
    return True
