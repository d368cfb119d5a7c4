"""Lines at which coroutines are suspended, in real programs of asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from types import coroutine
from typing import Any

import pytest

from profkit.model.session import CallDelta
from profkit.session import awaits
from profkit.session.awaits import AwaitLooks, Awaits, place_of
from tests.support.live_functions import live

Found = set[tuple[str, str, int]]
"""Function, what it awaited, and how often."""


async def query() -> None:
    await asyncio.sleep(0)


async def rows() -> AsyncGenerator[int, None]:
    for number in range(2):
        await query()
        yield number


@coroutine
def turn() -> Generator[None, None, None]:
    yield


class Wrapped:
    """Awaitable in Python, as libraries have it."""

    def __await__(self) -> Generator[Any, Any, None]:
        return query().__await__()


@pytest.fixture
def suspended() -> Iterator[Coroutine[Any, Any, None]]:
    """A coroutine that is suspended."""
    running = query()
    running.send(None)
    yield running
    running.close()


def counted(decorated: Any) -> CallDelta:
    """What a decorated coroutine has counted."""
    delta = decorated._self_counters.drain(1)
    assert isinstance(delta, CallDelta)
    return delta


def found_in(work: Callable[[], Coroutine[Any, Any, object]]) -> Found:
    """Return the lines at which a decorated coroutine is suspended in a real event loop."""
    decorated = live(work)
    asyncio.run(decorated())
    delta = counted(decorated)
    assert {one.file for one in delta.awaits} == {__file__}
    assert 0 <= sum(one.suspended_ns for one in delta.awaits) <= delta.suspended_ns
    return {(one.function.rpartition(".")[2], one.awaited, one.times) for one in delta.awaits}


async def _sleeps() -> None:
    for _ in range(3):
        await asyncio.sleep(0)
    await asyncio.sleep(0.001)


async def _calls() -> None:
    await query()
    await query()


async def _tasks() -> None:
    await asyncio.create_task(query())
    await asyncio.gather(query(), query())


async def _queue() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue()
    asyncio.get_running_loop().call_soon(queue.put_nowait, 1)
    await queue.get()


async def _lock() -> None:
    lock = asyncio.Lock()
    await lock.acquire()
    asyncio.get_running_loop().call_soon(lock.release)
    async with lock:
        pass


async def _thread() -> None:
    loop, suspended = asyncio.get_running_loop(), threading.Event()
    loop.call_soon(suspended.set)
    await loop.run_in_executor(None, suspended.wait)


async def _rows() -> None:
    async for _ in rows():
        pass


async def _wrapped() -> None:
    await Wrapped()


async def _turns() -> None:
    await turn()


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (_sleeps, {("_sleeps", "sleep", 3), ("_sleeps", "sleep", 1)}),
        (_calls, {("query", "sleep", 2)}),
        (_tasks, {("_tasks", "query", 1), ("_tasks", "gather", 1)}),
        (_queue, {("_queue", "Queue.get", 1)}),
        (_lock, {("_lock", "Lock.acquire", 1)}),
        (_thread, {("_thread", "Future", 1)}),
        (_rows, {("query", "sleep", 2)}),
        (_wrapped, {("query", "sleep", 1)}),
        (_turns, {("turn", "yield", 1)}),
    ],
    ids=lambda given: given.__name__ if callable(given) else "",
)
def test_what_is_awaited(work: Callable[[], Coroutine[Any, Any, object]], expected: Found) -> None:
    assert found_in(work) == expected


def test_a_line_is_that_of_the_await() -> None:
    suspended = _calls()
    suspended.send(None)
    place = place_of(suspended)
    assert place is not None
    assert place.line == query.__code__.co_firstlineno + 1
    suspended.close()


def test_a_coroutine_that_is_not_suspended_has_no_place() -> None:
    unstarted, ended = query(), query()
    ended.close()
    assert place_of(ended) is None
    assert place_of(None) is None
    unstarted.close()


def test_an_async_generator_is_suspended_where_it_awaits() -> None:
    assert rows.__name__ == "rows"

    async def consume() -> list[int]:
        return [number async for number in decorated()]

    decorated = live(rows)
    assert asyncio.run(consume()) == [0, 1]
    found = [(one.function, one.awaited, one.times) for one in counted(decorated).awaits]
    assert found == [("query", "sleep", 2)]


def test_a_decorated_function_of_a_library_has_its_own_line() -> None:
    sleep = live(asyncio.sleep)
    asyncio.run(sleep(0))
    asyncio.run(sleep(0))
    assert [(one.function, one.times) for one in counted(sleep).awaits] == [("sleep", 2)]


def test_a_call_without_suspension_counts_nothing() -> None:
    async def work() -> int:
        return 1

    decorated = live(work)
    asyncio.run(decorated())
    assert counted(decorated).awaits == ()


def test_nested_runs_count_as_parts_of_the_outermost_one() -> None:
    async def down(depth: int) -> None:
        await asyncio.sleep(0)
        if depth:
            await decorated(depth - 1)

    decorated = live(down)
    asyncio.run(decorated(2))
    found = [(one.awaited.rpartition(".")[2], one.times) for one in counted(decorated).awaits]
    assert sorted(found) == [("down", 2), ("sleep", 1)]


def test_of_very_many_suspensions_the_longer_ones_are_looked_at(
    suspended: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awaits, "_LOOKS", 3)
    looks, spent = AwaitLooks(), Awaits()
    thresholds_ns = []
    for _ in range(9):
        looks.count(suspended, spent, 90_000)
        thresholds_ns.append(looks.threshold_ns)
    assert thresholds_ns == [0, 0, 20_000, 20_000, 20_000, 40_000, 40_000, 40_000, 80_000]
    assert list(spent.values()) == [[9 * 90_000, 9]]
    looks.renew()
    assert looks.threshold_ns == 40_000
    looks.renew()
    looks.renew()
    assert looks.threshold_ns == 0


def test_a_chosen_suspension_stands_for_shorter_ones(suspended: object) -> None:
    looks, spent = AwaitLooks(), Awaits()
    looks.threshold_ns = 80_000
    looks.count(suspended, spent, 20_000)
    assert list(spent.values()) == [[80_000, 4]]


@pytest.mark.parametrize(("chance", "runs"), [(0.0, 1), (0.999, 0)])
def test_chance_decides_about_short_suspensions(chance: float, runs: int) -> None:
    decorated = live(_sleeps)
    counters = decorated._self_counters
    counters.looks.threshold_ns, counters.looks.random = 10**15, lambda: chance
    asyncio.run(decorated())
    assert len(counters.awaits) == runs


def test_an_interrupt_during_a_look_is_thrown_into_the_coroutine(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_looks: AwaitLooks, _root: object, _awaits: Awaits, _suspended_ns: int) -> None:
        raise KeyboardInterrupt

    async def work() -> str:
        try:
            await asyncio.sleep(0)
        except KeyboardInterrupt:
            return "interrupted"
        return "not interrupted"

    monkeypatch.setattr(AwaitLooks, "count", interrupt)
    assert asyncio.run(live(work)()) == "interrupted"


def test_code_made_again_and_again_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaits, "_MOST_CODES", 3)
    for _ in range(10):
        names: dict[str, Any] = {"sleep": asyncio.sleep}
        exec(compile("async def work(): await sleep(0)", "/home/me/made.py", "exec"), names)
        suspended = names["work"]()
        suspended.send(None)
        place = place_of(suspended)
        assert place is not None
        assert place.awaited == "sleep"
        suspended.close()
    assert len(awaits._CODES) <= 3


def test_a_failure_is_logged_and_not_raised(suspended: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_chain: list[object], _inner: object) -> object:
        raise LookupError

    monkeypatch.setattr(awaits, "_follow", fail)
    monkeypatch.setattr(awaits, "_CODES", {})
    assert place_of(suspended) is None
