"""Regions in odd shapes and places: `odd_regions.py SCENE`; prints what `regions.py` prints."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from regions import OPTIONS, blue, green, red, seen

from profkit import FunctionProfiler, profile, profiled
from profkit.model.run import Run

Runs = dict[str, Run | None]


def statements() -> Runs:
    """Two blocks in one statement, nested ones, one-line bodies, and bodies that are left in all ways."""
    with profiled("first", **OPTIONS) as first, profiled("second", **OPTIONS) as second:
        red(0.1)
    blue(0.05)
    with (
        profiled("outer", **OPTIONS) as outer,
        contextlib.nullcontext(),
    ):
        red(0.05)
        with profiled("inner", **OPTIONS) as inner:
            green(
                0.1,
            )
    with profiled("short", **OPTIONS) as short: red(0.1)  # noqa: E701  # fmt: skip
    blue(0.05)
    handles = [left(way) for way in ("return", "break", "raise")]
    return {
        "first": first.run, "second": second.run, "outer": outer.run, "inner": inner.run, "short": short.run,
    } | {f"left{number}": handle.run for number, handle in enumerate(handles)}  # fmt: skip


def left(way: str) -> profiled:
    """Leave the body of a block in one way, and do something else at other lines of the same function."""
    handle = profiled("left", **OPTIONS)
    blue(0.02)
    for _ in range(2):
        with contextlib.suppress(LookupError), handle:
            try:
                if way == "raise":
                    raise LookupError
                red(0.04)
                if way == "return":
                    return handle
                if way == "break":
                    break
            finally:
                red(0.02)
    blue(0.02)
    return handle


@contextlib.contextmanager
def managed(label: str):
    with profiled(label, **OPTIONS) as handle:
        yield handle


@contextlib.asynccontextmanager
async def async_managed(label: str):
    await asyncio.sleep(0)
    with profiled(label, **OPTIONS) as handle:
        yield handle


def managers() -> Runs:
    """Blocks that a context manager of one's own enters, plain, on a stack and in async code."""
    with managed("plain") as plain:
        red(0.3)
    blue(0.05)
    with contextlib.ExitStack() as stack:
        stacked = stack.enter_context(managed("stacked"))
        green(0.3)
    blue(0.05)

    async def main() -> tuple[profiled, profiled]:
        async with async_managed("async") as one:
            red(0.3)
        blue(0.05)
        async with contextlib.AsyncExitStack() as stack:
            other = stack.enter_context(profiled("async stack", **OPTIONS))
            green(0.3)
        return one, other

    one, other = asyncio.run(main())
    return {"plain": plain.run, "stacked": stacked.run, "async": one.run, "async stack": other.run}


def managed_tasks() -> Runs:
    """Blocks that a context manager of one's own enters in two tasks, which run in turn."""

    async def one() -> Run | None:
        async with async_managed("one") as handle:
            for _ in range(20):
                red(0.02)
                await asyncio.sleep(0)
        return handle.run

    async def two() -> Run | None:
        async with contextlib.nullcontext(), async_managed("two") as handle:
            for _ in range(20):
                green(0.02)
                await asyncio.sleep(0)
        return handle.run

    async def main() -> list[Run | None]:
        return await asyncio.gather(one(), two())

    return dict(zip(("one", "two"), asyncio.run(main()), strict=True))


def streams() -> Runs:
    """Two async generators, consumed in turn, with work of the consumer between; a block across a yield."""

    @profile(label="first", **OPTIONS)
    async def first():
        for _ in range(10):
            red(0.01)
            await asyncio.sleep(0)
            yield

    handles: list[profiled] = []

    async def second():
        with profiled("second", **OPTIONS) as handle:
            handles.append(handle)
            for _ in range(10):
                green(0.01)
                yield
        blue(0.01)

    async def main() -> None:
        others = second()
        async for _ in first():
            await anext(others)
            blue(0.005)
        await others.aclose()

    asyncio.run(main())
    return {"first": first.last_run, "second": handles[0].run}


def destructors() -> Runs:
    """A function whose local variable has a slow destructor: it runs when the function's frame has gone."""

    class Owned:
        def __del__(self) -> None:
            green(0.1)

    @profile(label="owner", **OPTIONS)
    def owner() -> None:
        _owned = Owned()
        red(0.1)

    for _ in range(5):  # a busy machine may keep the sampler from a whole part of a single call
        owner()
    blue(0.05)
    return {"owner": owner.last_run}


def shared() -> Runs:
    """One block that two threads and a recursion are in; each thread's own samples are told by its name."""
    handles: list[profiled] = []
    both = threading.Barrier(2)

    def down(work, depth: int) -> None:
        blue(0.005)
        with profiled("shared", **OPTIONS) as handle:
            if depth == 4:
                both.wait()  # the session samples both threads from here on
            work(0.02)
            if depth:
                down(work, depth - 1)
        handles.append(handle)
        blue(0.005)

    threads = [threading.Thread(target=down, args=(work, 4)) for work in (red, green)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"shared": handles[0].run}


class Worker:
    """Methods of all kinds, and an object that can be called."""

    @profile(label="method", **OPTIONS)
    def method(self) -> None:
        red(0.1)

    @profile(label="static", **OPTIONS)
    @staticmethod
    def static() -> None:
        red(0.1)

    @classmethod
    @profile(label="on class", **OPTIONS)
    def on_class(cls) -> None:
        red(0.1)

    @property
    @profile(label="property", **OPTIONS)
    def value(self) -> None:
        red(0.1)

    def __call__(self) -> None:
        red(0.1)


class AsyncWorker:
    """An object whose call is a coroutine, and one that streams."""

    async def __call__(self) -> None:
        red(0.05)
        await asyncio.sleep(0.01)
        red(0.05)

    async def stream(self):
        for _ in range(2):
            red(0.05)
            yield


def callables() -> Runs:
    """Everything that can be called: methods, lambdas, partials, objects, functions in C, and in threads."""
    worker = Worker()
    worker.method()
    worker.static()
    Worker.on_class()
    assert worker.value is None
    called = profile(label="object", **OPTIONS)(worker)
    partial = profile(label="partial", **OPTIONS)(functools.partial(red, 0.1))
    in_c = profile(label="in C", **OPTIONS)(sorted)
    called()
    partial()
    in_c(range(10), key=lambda number: red(0.01) or number)
    in_async = profile(label="async object", **OPTIONS)(AsyncWorker())
    streamed = profile(label="async partial", **OPTIONS)(functools.partial(AsyncWorker.stream, AsyncWorker()))

    async def main() -> None:
        await in_async()
        async for _ in streamed():
            blue(0.05)

    asyncio.run(main())
    with ThreadPoolExecutor(2) as pool:
        pooled = profile(label="pooled", **OPTIONS)(red)
        list(pool.map(pooled, [0.1, 0.1]))
    blue(0.1)
    return {
        "method": Worker.method.last_run, "static": Worker.static.last_run,
        "on class": Worker.on_class.last_run, "property": Worker.value.fget.last_run,
        "object": called.last_run, "partial": partial.last_run, "in C": in_c.last_run,
        "pooled": pooled.last_run, "async object": in_async.last_run, "async partial": streamed.last_run,
    }  # fmt: skip


def handed_over() -> Runs:
    """Functions that a profiler is handed, made anew each time, and two of them on one line."""
    one, two = FunctionProfiler(label="one", **OPTIONS), FunctionProfiler(label="two", **OPTIONS)
    for _ in range(5):
        one.profile(lambda: red(0.02)), two.profile(lambda: green(0.02))
    blue(0.05)
    return {"one": one.last_run, "two": two.last_run}


def thinned() -> Runs:
    """Of three calls one is profiled: the samples of the others are not the region's."""

    def work(number: int) -> None:
        (red if number % 3 == 0 else green)(0.1)

    third = profile(label="third", every=3, **OPTIONS)(work)
    for number in range(9):
        third(number)
    return {"third": third.last_run}


def exclusive() -> Runs:
    """A region of scope "process" has every thread, and what comes meanwhile runs unprofiled."""
    inside, shared = threading.Event(), threading.Event()
    other = profile(label="other", **OPTIONS)(green)

    @profile(label="all", scope="process", **OPTIONS)
    def everything() -> None:
        inside.set()
        while not shared.is_set():
            red(0.05)

    thread = threading.Thread(target=everything)
    thread.start()
    inside.wait()
    other(0.1)
    shared.set()
    thread.join()
    other(0.1)
    return {"all": everything.last_run, "other": other.last_run}


def nested_scopes() -> Runs:
    """Regions of other scopes within a region, which goes on after them."""
    runs: Runs = {}

    def after(duration_s: float) -> None:
        red(duration_s)

    for scope, options in (("process", {"scope": "process"}), ("threads", {"threads": True})):
        inner = profile(label=f"inner {scope}", **options, **OPTIONS)(green)

        def work(inner=inner) -> None:
            red(0.05)
            inner(0.1)
            after(0.15)

        outer = profile(label=f"outer {scope}", **OPTIONS)(work)
        outer()
        blue(0.05)
        runs |= {f"outer {scope}": outer.last_run, f"inner {scope}": inner.last_run}
    return runs


if __name__ == "__main__":
    print(json.dumps({label: seen(run) for label, run in globals()[sys.argv[1]]().items()}))
