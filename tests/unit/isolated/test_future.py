"""Futures of isolated calls: running, cancelled, awaited."""

from __future__ import annotations

import asyncio
import concurrent.futures

import pytest

from profkit.isolated.future import CallFuture


def future() -> CallFuture[int]:
    def drop(of: CallFuture[int]) -> bool:
        of.end_cancelled()
        return True

    return CallFuture("call", drop)


def test_a_future_runs_until_it_is_done() -> None:
    made = future()
    assert not made.running()
    assert repr(made) == "<CallFuture 'call' waiting>"
    made.begin()
    assert made.running()
    assert repr(made) == "<CallFuture 'call' running>"
    made.set_result(1)
    assert not made.running()
    assert made.result(0) == 1
    assert repr(made) == "<CallFuture 'call' done>"


def test_a_running_future_can_be_cancelled() -> None:
    made = future()
    made.begin()
    assert made.cancel()
    assert made.cancelled()
    assert repr(made) == "<CallFuture 'call' cancelled>"
    assert not made.running()
    assert concurrent.futures.wait([made], 0).done == {made}
    with pytest.raises(concurrent.futures.CancelledError):
        made.result(0)


def test_a_future_can_be_awaited() -> None:
    async def main() -> list[int]:
        futures = [future() for _ in range(3)]
        for number, each in enumerate(futures):
            each.set_result(number)
        return [await each for each in futures]

    assert asyncio.run(main()) == [0, 1, 2]


def test_a_cancelled_task_waits_for_the_end_of_its_call() -> None:
    asked: list[CallFuture[int]] = []

    def drop(of: CallFuture[int]) -> bool:
        asked.append(of)
        return True

    async def main() -> None:
        made = CallFuture("call", drop)
        task = asyncio.ensure_future(awaiting(made))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        while not asked:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not task.done()
        made.end_cancelled()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def awaiting(made: CallFuture[int]) -> int:
        return await made

    asyncio.run(main())
