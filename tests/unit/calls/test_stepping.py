"""A decorated function is the function: whatever is done to it, step by step, gives the same."""

from __future__ import annotations

import asyncio
import copy
import gc
import inspect
import pickle
import traceback
import warnings
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit import profile
from profkit.model.region import kind_of
from profkit.samplers import registry
from profkit.session import activity
from tests.support.live_functions import live


def echo(count: int) -> Generator[Any, Any, Any]:
    """Yields what comes in, survives ValueError, ignores one GeneratorExit when told so."""
    stubborn = False
    got: Any = None
    for number in range(count):
        try:
            got = yield (number, got)
            stubborn = got == "stubborn"
        except ValueError as error:
            got = repr(error)
        except GeneratorExit:
            if stubborn:
                yield "not yet"
            return "closed"
    return got


async def async_echo(count: int) -> AsyncGenerator[Any, Any]:
    stubborn = False
    got: Any = None
    for number in range(count):
        try:
            await asyncio.sleep(0)
            got = yield (number, got)
            stubborn = got == "stubborn"
        except ValueError as error:
            got = repr(error)
        except GeneratorExit:
            await asyncio.sleep(0)
            if stubborn:
                yield "not yet"
            raise


@pytest.fixture(autouse=True)
def nothing_stays_active() -> Generator[None, None, None]:
    before = activity.calls_under_way()
    yield
    if activity.calls_under_way() != before:
        gc.collect()
    assert activity.calls_under_way() == before


STEPS = st.lists(
    st.one_of(
        st.just(("next", None)),
        st.tuples(st.just("send"), st.sampled_from([1, "stubborn", None])),
        st.tuples(st.just("throw"), st.sampled_from([ValueError, KeyError, StopIteration, GeneratorExit])),
        st.just(("close", None)),
    ),
    max_size=8,
)


METHODS = {
    "next": ("__next__", "__anext__"), "send": ("send", "asend"), "throw": ("throw", "athrow"),
    "close": ("close", "aclose"),
}  # fmt: skip


async def replay(
    generator: Generator[Any, Any, Any] | AsyncGenerator[Any, Any], steps: list[tuple[str, Any]]
) -> list[str]:
    """What a generator returned or raised at each step, and when it was closed at the end."""
    is_async, log = inspect.isasyncgen(generator), []
    for name, argument in (*steps, ("close", None)):
        given = argument("thrown") if name == "throw" else argument
        arguments = () if name in ("next", "close") else (given,)
        try:
            result = getattr(generator, METHODS[name][is_async])(*arguments)
            log.append(repr(await result if is_async else result))
        except BaseException as error:  # noqa: BLE001 - GeneratorExit is among what is compared
            log.append(repr(error))
    return log


@pytest.mark.parametrize("function", [echo, async_echo])
@given(st.integers(0, 4), STEPS)
def test_generators_step_alike(
    function: Callable[[int], Any], count: int, steps: list[tuple[str, Any]]
) -> None:
    plain = asyncio.run(replay(function(count), steps))
    assert asyncio.run(replay(live(function)(count), steps)) == plain


def test_coroutines_return_raise_and_are_cancelled_alike() -> None:
    async def answer(kind: str) -> str:
        await asyncio.sleep(0)
        if kind == "raise":
            raise LookupError(kind)
        if kind == "wait":
            await asyncio.sleep(60)
        return kind

    async def outcomes(function: Callable[[str], Any]) -> list[str]:
        tasks = [asyncio.create_task(function(kind)) for kind in ("return", "raise", "wait")]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks[2].cancel("enough")
        return [repr(result) for result in await asyncio.gather(*tasks, return_exceptions=True)]

    assert asyncio.run(outcomes(live(answer))) == asyncio.run(outcomes(answer))


def test_time_awaited_is_distinguished_from_time_at_work() -> None:
    @live
    async def nap() -> None:
        await asyncio.sleep(0.02)

    asyncio.run(nap())
    counters = nap._self_counters
    (wall_ns,), (suspended_ns,) = counters.durations, counters.suspended
    assert 0.5 < suspended_ns / wall_ns <= 1


def test_a_sampler_that_reads_tasks_can_follow_what_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nap(seconds: float) -> float:
        await asyncio.sleep(seconds)
        return 1 / seconds

    monkeypatch.setattr(registry, "check", lambda options: None)  # most versions of Python do not support it
    decorated = profile(nap, async_stacks=True)
    counters = decorated._self_counters
    counters.live = True
    assert asyncio.run(decorated(0.01)) == 100
    with pytest.raises(ZeroDivisionError):
        asyncio.run(decorated(0))
    assert (len(counters.durations), len(counters.raised), sum(counters.suspended)) == (2, 1, 0)
    started = decorated(0)
    started.send(None)
    assert started.cr_await.cr_code is nap.__code__
    started.close()


def test_an_exception_passes_with_the_wrappers_own_frames_alone() -> None:
    @live
    def fail() -> None:
        raise LookupError

    with pytest.raises(LookupError) as caught:
        fail()
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-1] == "fail"
    assert len(names) == 3  # the test, the marker, the function
    assert len(fail._self_counters.raised) == 1


def test_recursion_counts_every_call_and_the_time_of_the_outermost() -> None:
    @live
    def down(depth: int) -> int:
        return depth if depth == 0 else down(depth - 1)

    assert down(50) == 0
    counters = down._self_counters
    assert (len(counters.durations), len(counters.nested)) == (1, 50)


def test_every_third_call() -> None:
    seen = []
    third = profile(every=3)(seen.append)
    third._self_counters.live = True
    for number in range(7):
        third(number)
    assert seen == list(range(7))
    assert (len(third._self_counters.durations), len(third._self_counters.skipped)) == (3, 4)


@profile
def module_function(first: int, *, second: str = "x") -> str:
    """Its doc."""
    return second * first


class Owner:
    def method(self, value: int) -> tuple[object, int]:
        return self, value

    plain = method
    method = live(method)
    on_class = live(classmethod(lambda cls: cls))
    static = staticmethod(live(lambda: "static"))

    @live
    async def wait(self) -> int:
        return 1

    @live
    def count(self) -> Generator[int, None, None]:
        yield 1

    @live
    async def stream(self) -> AsyncGenerator[int, None]:
        yield 1


def test_identity_of_a_function() -> None:
    assert module_function.__name__ == "module_function"
    assert module_function.__doc__ == "Its doc."
    assert str(inspect.signature(module_function)) == "(first: 'int', *, second: 'str' = 'x') -> 'str'"
    assert inspect.isfunction(module_function)
    assert pickle.loads(pickle.dumps(module_function)) is module_function
    assert copy.deepcopy(module_function) is module_function


def test_methods_bind_and_pickle_through_their_owner() -> None:
    owner = Owner()
    assert owner.method(3) == (owner, 3)
    assert Owner.method(owner, 4) == (owner, 4)
    assert Owner.on_class() is Owner
    assert inspect.ismethod(owner.method)
    assert pickle.loads(pickle.dumps(Owner.method)) == Owner.method
    assert type(pickle.loads(pickle.dumps(owner.method))(1)[0]) is Owner


def test_inspect_shows_the_kind() -> None:
    owner = Owner()
    assert inspect.iscoroutinefunction(owner.wait)
    assert inspect.isgeneratorfunction(owner.count)
    assert inspect.isasyncgenfunction(owner.stream)
    assert kind_of(Owner.wait) is kind_of(Owner.__dict__["wait"].__wrapped__)


def test_running_objects_keep_the_users_names() -> None:
    owner = Owner()
    coroutine, generator, stream = owner.wait(), owner.count(), owner.stream()
    for made in (coroutine, generator, stream):
        assert made.__qualname__ == f"Owner.{made.__name__}"
    assert inspect.iscoroutine(coroutine)
    assert inspect.isgenerator(generator)
    assert inspect.isasyncgen(stream)
    coroutine.close()


def test_wrong_arguments_fail_at_the_call() -> None:
    with pytest.raises(TypeError, match="positional"):
        Owner().wait(1, 2)  # type: ignore[call-arg]


def test_a_coroutine_that_nobody_awaits_is_warned_about_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Owner().wait()
        gc.collect()
    assert [str(warning.message) for warning in caught] == ["coroutine 'Owner.wait' was never awaited"]


def test_an_unfinished_async_generator_is_closed_by_the_loop_once() -> None:
    problems: list[dict[str, Any]] = []
    closed = []

    @live
    async def stream() -> AsyncGenerator[int, None]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            closed.append(True)

    kept = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        generator = stream()
        kept.append(generator)
        await generator.__anext__()

    asyncio.run(main())
    assert closed == [True]
    assert problems == []
