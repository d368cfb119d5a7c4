"""What a measured function is to others: the function, as a sampled one is."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import inspect
import linecache
import pickle
import sys
import typing
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from tests.unit.measuring.decorated.test_backlog import BatchContext

CONTEXT = BatchContext()
measured = CONTEXT.measured


@pytest.fixture(autouse=True, scope="module")
def nothing_waits() -> Iterator[None]:
    """Measure what waits and holds files; a worker that takes over tests may come back to this module."""
    yield
    CONTEXT.laboratory.calls = False
    CONTEXT.backlog.finish(lambda progress: None, limit_s=1)
    CONTEXT.laboratory.calls, CONTEXT.backlog.ending = True, False


def plain(n: int, *, key: str = "x") -> list[int]:
    """Say what it does."""
    return [n]


@measured
def by_name(n: int) -> int:
    return n + 1


class Owner:
    made: list[str] = []  # noqa: RUF012 - shared on purpose

    @measured
    def method(self, n: int) -> int:
        return n + 1

    @classmethod
    @measured
    def inner(cls, n: int) -> tuple[str, int]:
        return cls.__name__, n

    @measured
    @classmethod
    def outer(cls, n: int) -> tuple[str, int]:
        return cls.__name__, n

    @measured
    @staticmethod
    def static(n: int) -> int:
        return n

    @property
    @measured
    def double(self) -> int:
        return 4

    @measured
    def __init_subclass__(cls) -> None:
        Owner.made.append(cls.__name__)

    def __class_getitem__(cls, item: object) -> str:
        return f"{cls.__name__}[{item}]"


Owner.__init_subclass__ = classmethod(Owner.__dict__["__init_subclass__"])  # type: ignore[assignment]


class Child(Owner):
    pass


def test_it_has_the_functions_attributes() -> None:
    wrapped = measured(plain)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__", "__kwdefaults__"):
        assert getattr(wrapped, name) == getattr(plain, name), name
    assert inspect.signature(wrapped) == inspect.signature(plain)
    assert inspect.getsource(wrapped) == inspect.getsource(plain)
    assert inspect.isfunction(wrapped)
    assert typing.get_type_hints(wrapped) == {"n": int, "key": str, "return": list[int]}


def test_pickling_and_copying_give_the_same_function() -> None:
    assert pickle.loads(pickle.dumps(by_name)) is by_name
    assert copy.copy(by_name) is by_name
    assert copy.deepcopy(by_name) is by_name


def test_a_bound_method_pickles() -> None:
    assert pickle.loads(pickle.dumps(Owner().method))(1) == 2


def test_methods_of_all_kinds() -> None:
    assert Owner().method(1) == Owner.method(Owner(), 1) == Child().method(1) == 2
    assert Owner.inner(1) == ("Owner", 1)
    assert Child.inner(2) == ("Child", 2)
    assert Owner.outer(3) == Owner().outer(3) == ("Owner", 3)
    assert Child.outer(4) == ("Child", 4)
    assert Owner.static(5) == Owner().static(5) == 5
    assert Owner().double == 4
    CONTEXT.laboratory.calls = False
    assert [len(one.runs) for one in (Owner.method, Owner.inner, Owner.outer)] == [2, 2, 2]
    assert len(Owner.static.runs) == len(Owner.double.fget.runs) == 1  # type: ignore[attr-defined]
    assert Owner.made == ["Child"]
    assert Owner[int] == "Owner[<class 'int'>]"
    for name in ("method", "inner", "outer", "static"):
        assert typing.get_type_hints(getattr(Owner, name))["n"] is int
        assert list(inspect.signature(getattr(Owner(), name)).parameters) == ["n"]


def test_other_decorators_around_it() -> None:
    @functools.wraps(by_name)
    def around(n: int) -> int:
        return int(by_name(n))

    assert (around(1), around.__name__) == (2, "by_name")
    assert functools.partial(by_name, 2)() == 3
    assert functools.lru_cache(by_name)(3) == 4
    dispatch = functools.singledispatch(measured(plain))
    dispatch.register(str, lambda text: text)
    assert (dispatch(1), dispatch("a")) == ([1], "a")


def test_members_of_dataclasses_and_enums() -> None:
    @dataclass
    class Point:
        x: int

        @measured
        def twice(self) -> int:
            return 2 * self.x

    class Color(Enum):
        RED = 1

        @measured
        def label(self) -> str:
            return self.name

    assert Point(2).twice() == 4
    assert Color.RED.label() == "RED"
    assert list(Color) == [Color.RED]


@measured
def warn(level: int) -> None:
    warnings.warn("old", stacklevel=level)


@measured
async def warn_later(level: int) -> None:
    warnings.warn("old", stacklevel=level)


async def await_warning(level: int) -> None:
    await warn_later(level)


def test_warnings_find_the_caller() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for level in (1, 2):
            warn(level)
            with contextlib.suppress(StopIteration):
                await_warning(level).send(None)
    places = [(linecache.getline(one.filename, one.lineno)).strip() for one in seen]
    assert places == ['warnings.warn("old", stacklevel=level)'] * 2 + [
        "warn(level)",
        "await warn_later(level)",
    ]


def test_weak_references_and_kinds() -> None:
    async def wait() -> int:
        return 1

    wrapped = measured(wait)
    assert weakref.ref(wrapped)() is wrapped
    assert inspect.iscoroutinefunction(wrapped)
    assert asyncio.run(wrapped()) == 1


def depth_of(decorator: Callable[[Any], Any]) -> int:
    reached = 0

    def down(n: int) -> None:
        nonlocal reached
        reached = n
        again(n + 1)

    again = decorator(down)
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        again(0)
    return reached


def callable_object(function: Callable[..., object]) -> object:
    class Caller:
        def __call__(self, *args: object, **kwargs: object) -> object:
            return function(*args, **kwargs)

    return Caller()


def test_recursion_is_as_deep_as_calls_of_objects_allow(caplog: pytest.LogCaptureFixture) -> None:
    assert depth_of(measured) >= depth_of(callable_object) - 20
    assert not caplog.records


@pytest.mark.parametrize("below", range(1, 30))
def test_near_the_limit_it_returns_or_raises(below: int, caplog: pytest.LogCaptureFixture) -> None:
    def fill(left: int, then: Callable[[], object]) -> object:
        return fill(left - 1, then) if left else then()

    def depth() -> int:
        frame, count = inspect.currentframe(), 0
        while frame is not None:
            frame, count = frame.f_back, count + 1
        return count

    wrapped = measured(plain)
    with contextlib.suppress(RecursionError):
        assert fill(sys.getrecursionlimit() - depth() - below, lambda: wrapped(1)) == [1]
    assert wrapped(2) == [2]
    assert not [record for record in caplog.records if "failed" in record.getMessage()]


@pytest.mark.parametrize("below", range(12))
def test_the_recursion_limit_raises_the_error_of_the_program_alone(below: int) -> None:
    @measured
    def leaf(n: int) -> int:
        return n

    def down(frames: int) -> int:
        return down(frames - 1) if frames else leaf(1)

    leaf(1)  # its first call is packed
    contexts: list[BaseException | None] = []
    try:
        down(sys.getrecursionlimit() - len(inspect.stack()) - below)
    except RecursionError as error:
        contexts.append(error.__context__)
    assert contexts in ([], [None])
    assert down(1) == 1
