from __future__ import annotations

import asyncio
import contextvars
import os
import sys
import warnings
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from profkit.calls.importlib_bootstrap.carrying import Carrier
from profkit.integrations.web.following import following
from profkit.model.region import Region, RegionKey, RegionKind


def region(label: str) -> Region:
    return Region(RegionKey("web", label, 0, label), RegionKind.REQUEST, "")


RED, GREEN = region("red"), region("green")


def plain_task(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], **kwargs: Any) -> Any:
    return asyncio.Task(coroutine, loop=loop, **kwargs)


def markers() -> list[str]:
    """Return the markers in the caller's stack."""
    frame, found = sys._getframe(1), []
    while frame is not None:
        if frame.f_code.co_name.startswith("profkit:"):
            found.append(frame.f_code.co_name)
        frame = frame.f_back
    return found


async def markers_later() -> list[str]:
    await asyncio.sleep(0)
    return markers()


def test_tasks_and_threads_of_overlapping_requests() -> None:
    async def request(of: Region) -> list[list[str]]:
        with following(Carrier(of)):
            await asyncio.sleep(0)
            tasks = await asyncio.gather(markers_later(), markers_later())
            thread = await asyncio.to_thread(markers)
            nested = await asyncio.create_task(asyncio.to_thread(markers))
            async with asyncio.timeout(5):
                in_pool = await asyncio.get_running_loop().run_in_executor(None, markers)
        return [*tasks, thread, nested, in_pool]

    async def both() -> list[list[list[str]]]:
        return await asyncio.gather(request(RED), request(GREEN), other())

    async def other() -> list[list[str]]:
        in_task = await asyncio.create_task(markers_later())
        return [await markers_later(), in_task, await asyncio.to_thread(markers)]

    red, green, nothing = asyncio.run(both())
    assert red == [[RED.marker]] * 5
    assert green == [[GREEN.marker]] * 5
    assert nothing == [[]] * 3


def test_nothing_is_left_when_the_last_request_has_ended() -> None:
    before = ThreadPoolExecutor.submit

    async def requests() -> None:
        loop = asyncio.get_running_loop()
        with following(Carrier(RED)):
            with following(Carrier(GREEN)):
                assert loop.get_task_factory() is not None
            assert loop.get_task_factory() is not None
            assert ThreadPoolExecutor.submit is not before
        assert loop.get_task_factory() is None

    asyncio.run(requests())
    assert ThreadPoolExecutor.submit is before


def test_a_programs_own_task_factory_is_used_and_restored() -> None:
    made = []

    def factory(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], **kwargs: Any) -> Any:
        made.append(coroutine.__name__)
        return plain_task(loop, coroutine, **kwargs)

    async def request() -> list[str]:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(factory)
        with following(Carrier(RED)):
            found = await asyncio.create_task(markers_later())
        assert loop.get_task_factory() is factory
        return found

    assert asyncio.run(request()) == [RED.marker]
    assert made[0] == "markers_later", "a task has the name of its coroutine"


def test_a_factory_that_is_set_meanwhile_stays() -> None:
    async def request() -> None:
        loop = asyncio.get_running_loop()
        with following(Carrier(RED)):
            loop.set_task_factory(plain_task)
        assert loop.get_task_factory() is plain_task

    asyncio.run(request())


def test_a_task_that_is_cancelled_before_it_starts_causes_no_warning() -> None:
    async def request() -> None:
        with following(Carrier(RED)):
            task = asyncio.create_task(markers_later())
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(request())


def test_errors_and_values_pass_through() -> None:
    async def fail() -> None:
        raise LookupError("mine")

    async def request() -> None:
        with following(Carrier(RED)), pytest.raises(LookupError, match="mine"):
            await asyncio.create_task(fail())

    asyncio.run(request())
    with ThreadPoolExecutor(1) as pool, following(Carrier(RED)):
        assert pool.submit(dict, [("a", 1)], b=2).result() == {"a": 1, "b": 2}
        assert list(pool.map(abs, [-1, 2])) == [1, 2]
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()


def test_a_request_that_is_closed_in_another_context() -> None:
    async def request() -> None:
        with following(Carrier(RED)):
            await asyncio.sleep(60)

    async def abandon() -> None:
        coroutine = request()
        contextvars.copy_context().run(coroutine.send, None)
        coroutine.close()
        assert asyncio.get_running_loop().get_task_factory() is None

    asyncio.run(abandon())


def test_a_child_that_is_forked_during_a_request_follows_nothing() -> None:
    before = ThreadPoolExecutor.submit
    with following(Carrier(RED)):
        pid = os.fork()
        restored = ThreadPoolExecutor.submit is before
    if not pid:
        os._exit(0 if restored else 1)
    assert not restored
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
