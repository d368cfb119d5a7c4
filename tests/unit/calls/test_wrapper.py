"""A decorated function is the function for typing, functools, classes and the garbage collector."""

from __future__ import annotations

import contextlib
import enum
import functools
import gc
import inspect
import sys
import typing
import weakref
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from profkit import profile
from profkit.errors import UsageError
from profkit.session import activity
from tests.support.live_functions import live


@pytest.fixture(autouse=True)
def nothing_stays_active() -> Iterator[None]:
    yield
    if activity.calls_under_way():  # else there is nothing that would have to be collected
        gc.collect()
    assert activity.calls_under_way() == 0


def typed(first: int, *, second: str = "x") -> float:
    """Its doc."""
    return float(first)


typed.mark = "kept"  # type: ignore[attr-defined]


@functools.singledispatch
def kind(value: object) -> str:
    return "object"


@kind.register
@profile
def _of_int(value: int) -> str:
    return "int"


def test_attributes_are_those_of_the_function() -> None:
    decorated = live(typed)
    for name in ("__annotations__", "__doc__", "__module__", "__qualname__", "__kwdefaults__", "__dict__"):
        assert getattr(decorated, name) == getattr(typed, name), name
    assert typing.get_type_hints(decorated) == {"first": int, "second": str, "return": float}
    assert inspect.signature(decorated) == inspect.signature(typed)


def test_wraps_copies_what_the_function_has() -> None:
    @functools.wraps(live(typed))
    def outer() -> None: ...

    assert outer.mark == "kept"  # type: ignore[attr-defined]
    assert vars(outer).keys() == {"mark", "__wrapped__"}


def test_singledispatch_registers_by_annotation() -> None:
    assert (kind(1), kind("x")) == ("int", "object")


def test_functools_take_it() -> None:
    calls = []

    class Owner:
        @functools.cached_property
        @live
        def once(self) -> int:
            calls.append("once")
            return 1

        @live
        def power(self, base: int, exponent: int) -> int:
            return base**exponent

        square = functools.partialmethod(power, exponent=2)

        @functools.singledispatchmethod
        @live
        def of(self, value: object) -> str:
            return "object"

        @of.register
        @profile
        def _(self, value: int) -> str:
            return "int"

    owner = Owner()
    assert [owner.once, owner.once, calls] == [1, 1, ["once"]]
    assert owner.square(3) == 9
    assert (owner.of(1), owner.of("x")) == ("int", "object")
    assert functools.lru_cache(live(typed))(3) == 3.0
    assert functools.partial(live(typed), 4)() == 4.0


def test_classes_take_it_for_their_special_methods() -> None:
    made = []

    class Base:
        @profile
        def __new__(cls) -> Any:
            made.append("new")
            return super().__new__(cls)

        @profile
        def __init_subclass__(cls, **options: object) -> None:
            made.append(cls.__name__)

        @profile
        def __class_getitem__(cls, item: object) -> tuple[type, object]:
            return cls, item

        @live
        def __eq__(self, other: object) -> bool:
            return True

        @live
        def __hash__(self) -> int:
            return 7

        @live
        def __enter__(self) -> int:
            return 1

        @live
        def __exit__(self, *error: object) -> None: ...

    class Child(Base): ...

    with Child() as entered:
        assert entered == 1
    assert made == ["Child", "new"]
    assert Base[3] == (Base, 3)  # type: ignore[misc]
    assert hash(Child()) == 7


def test_dataclasses_and_enums_take_it() -> None:
    @dataclass
    class Point:
        x: int

        @live
        def __post_init__(self) -> None:
            self.x += 1

        @live
        def doubled(self) -> int:
            return self.x * 2

    class Colour(enum.Enum):
        RED = 1

        @live
        def shout(self) -> str:
            return self.name + "!"

        @classmethod
        @live
        def first(cls) -> Colour:
            return next(iter(cls))

    assert Point(1).doubled() == 4
    assert [member.name for member in Colour] == ["RED"]
    assert (Colour.RED.shout(), Colour.first()) == ("RED!", Colour.RED)


def test_bound_methods_are_methods_that_know_their_runs() -> None:
    class Owner:
        @live
        def method(self) -> None: ...

        @profile
        @classmethod
        def on_class(cls) -> type:
            return cls

        @profile
        @staticmethod
        def static() -> int:
            return 3

    owner = Owner()
    assert inspect.ismethod(owner.method)
    assert owner.method == owner.method
    assert owner.method.__self__ is owner
    assert owner.method.last_run is None
    assert (Owner.on_class(), Owner.static()) == (Owner, 3)
    assert isinstance(Owner.__dict__["on_class"], classmethod)
    assert isinstance(Owner.__dict__["static"], staticmethod)
    assert weakref.ref(Owner.method)() is Owner.method


def depth_of(decorate: Callable[[Any], Any]) -> int:
    """How deep a function recurses before it meets the limit."""
    reached = [0]

    @decorate
    def down(depth: int) -> None:
        reached[0] = depth
        down(depth + 1)

    with pytest.raises(RecursionError):
        down(1)
    return reached[0]


def plain_wrapper(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def test_recursion_is_as_deep_as_calls_of_objects_allow() -> None:
    limit = depth_of(plain_wrapper)
    if sys.version_info >= (3, 12):
        assert depth_of(live) >= limit - 5
    else:  # there a call of an object that is no function counts as a frame of its own
        assert depth_of(live) >= limit * 2 / 3 - 5


def test_the_recursion_limit_raises_recursion_error_at_any_depth() -> None:
    @live
    def leaf() -> None: ...

    @live
    def items() -> Generator[int, None, None]:
        yield 1

    def down(frames: int) -> None:
        if frames:
            down(frames - 1)
        else:
            leaf()
            list(items())

    deepest = sys.getrecursionlimit() - len(inspect.stack(0))
    for depth in range(deepest, deepest - 25, -1):
        with contextlib.suppress(RecursionError):
            down(depth)
        down(1)
        assert leaf._self_counters.callers == {}, depth
        if activity.calls_under_way():
            gc.collect()
        assert activity.calls_under_way() == 0, depth


def test_nested_generators_count_their_time_once() -> None:
    @live
    def walk(depth: int) -> Generator[int, None, None]:
        yield depth
        if depth:
            yield from walk(depth - 1)

    assert list(walk(3)) == [3, 2, 1, 0]
    counters = walk._self_counters
    assert (len(counters.durations), len(counters.suspended), len(counters.nested)) == (1, 1, 3)


class Item:
    """Something whose end can be seen."""


def test_a_generator_keeps_no_item_that_its_consumer_dropped() -> None:
    @live
    def items() -> Generator[Item, None, None]:
        yield Item()
        yield Item()

    @live
    async def async_items() -> AsyncGenerator[Item, None]:
        yield Item()
        yield Item()

    generator, async_generator = items(), async_items()
    first = weakref.ref(next(generator))
    assert first() is None
    try:
        async_generator.__anext__().send(None)
    except StopIteration as stop:
        first = weakref.ref(stop.value)
        stop.value = None
    assert first() is None


def test_a_generator_that_is_closed_early_leaves_no_cycle() -> None:
    @live
    def items() -> Generator[int, None, None]:
        yield 1
        yield 2

    gc.collect()
    gc.disable()
    try:
        generator = items()
        inner = weakref.ref(generator)
        next(generator)
        generator.close()
        del generator
        assert inner() is None
    finally:
        gc.enable()


def test_an_argument_of_a_function_lives_until_the_call_ends() -> None:
    """As under any wrapper: CPython keeps the arguments of what is called by way of an object."""

    def drop(item: Item) -> object:
        known = weakref.ref(item)
        del item
        return known()

    bare = drop(Item())
    wrapped, decorated = plain_wrapper(drop)(Item()), live(drop)(Item())
    assert bare is None
    assert wrapped is not None
    assert decorated is not None


def test_new_code_of_a_function_is_another_version_of_its_region() -> None:
    @live
    def work() -> str:
        return "old"

    def edited() -> str:
        return "new"

    before = work._self_counters
    assert work() == "old"
    work.__code__ = edited.__code__
    after = work._self_counters
    after.live = True
    assert work() == "new"
    assert (len(before.durations), len(after.durations)) == (1, 1)
    assert (before.region.key, before.region.id) != (after.region.key, after.region.id)
    assert before.region.code != after.region.code


def test_an_argument_of_a_generator_ends_when_the_generator_drops_it() -> None:
    seen = []

    @live
    def consume(item: Item) -> Generator[int, None, None]:
        known = weakref.ref(item)
        del item
        seen.append(known() is None)
        yield 1

    list(consume(Item()))
    assert seen == [True]


def test_a_property_of_a_class_is_refused_as_a_property_is() -> None:
    """Until Python 3.12 a class method can wrap one; a wrapper would show itself in place of the value."""
    for of_class in (property(lambda cls: 5), classmethod(property(lambda cls: 5))):  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="is not callable; give a function"):
            profile(of_class)  # type: ignore[type-var]
