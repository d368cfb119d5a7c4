"""Odd places from which a profiled program calls what is profiled: `callers.py SCENARIO`."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

from spinning import spin

from profkit import profile, profiled


@profile(rate=200, label="region")
def region(work, *args):
    return work(*args)


def at_import() -> None:
    """A module that calls what is profiled while it is imported, in two threads at once."""
    with ThreadPoolExecutor(2) as pool:
        for answer in pool.map(lambda _: __import__("calls_at_import").ANSWER, range(2)):
            print(answer)


def in_finalizers() -> None:
    """Collections happen in the middle of profkit's own work too."""

    class Cycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            region(closed.append, 1)

    closed: list[int] = []
    gc.set_threshold(5)
    for number in range(30):
        Cycle()
        with profiled("another", rate=100 + number % 3):
            region(spin, 0.001)
    gc.set_threshold(700)
    gc.collect()
    gone: list[int] = []
    kept = Cycle()
    weakref.finalize(kept, region, gone.append, 1)
    del kept
    gc.collect()
    print(len(closed), gone)


def in_handlers() -> None:
    """A signal handler that calls what is profiled, at any moment of the first call."""
    calls: list[int] = []

    def handler(signum, frame):
        region(calls.append, 1)

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    region(spin, 0.2)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print("calls:", len(calls) > 20)


def traced() -> None:
    """Under a trace function that counts lines and one that counts calls, of the user's own files."""
    for set_hook, name in ((sys.settrace, "trace"), (sys.setprofile, "profile")):
        seen: list[str] = []

        def hook(frame, event, arg, seen=seen):
            if frame.f_code.co_filename == __file__:
                seen.append(f"{event} {frame.f_code.co_name}")
            return hook

        set_hook(hook)
        region(nested, 2)
        with profiled("block", rate=200):
            nested(1)
        set_hook(None)
        print(name, seen)


def nested(depth: int) -> int:
    if depth:
        return region(nested, depth - 1)
    return depth


def recursion_limit() -> None:
    """Runs into the limit of recursion, profiled calls and all, and goes on."""

    def down(depth):
        return region(down, depth + 1)

    for _ in range(3):
        try:
            down(0)
        except RecursionError:
            print("too deep")
    region(spin, 0.05)


def cancelled() -> None:
    """Tasks that are cancelled before, while and after their region starts; timeouts; task groups."""

    @profile(rate=200, label="task")
    async def task(number):
        try:
            await asyncio.sleep(5)
        finally:
            ended.append(number)

    @profile(rate=200, threads=True, label="covering")
    async def covering():
        await asyncio.sleep(5)

    async def main():
        region(spin, 0.01)
        for after_s in (0, 0.001, 0.01, 0.1):
            for function, *arguments in ((task, after_s), (covering,)):
                try:
                    async with asyncio.timeout(after_s):
                        await function(*arguments)
                except TimeoutError:
                    print("timed out")
        tasks = [asyncio.create_task(task(number)) for number in range(3)]
        await asyncio.sleep(0.05)
        for one in tasks:
            one.cancel()
        print([type(result).__name__ for result in await asyncio.gather(*tasks, return_exceptions=True)])

    ended: list[float] = []
    asyncio.run(main())
    print(ended[-3:])


def responsive() -> None:
    """An event loop goes on while samplers start and stop for its tasks."""
    gaps: list[float] = []

    async def beat():
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(0.001)
            gaps.append(loop.time() - before)

    @profile(rate=200, threads=True, label="covering")
    async def covering():
        await asyncio.sleep(0.01)

    @profile(rate=200, label="task")
    async def task():
        await asyncio.sleep(0.01)

    async def main():
        beats = asyncio.create_task(beat())
        for _ in range(5):
            await asyncio.gather(*(task() for _ in range(5)), covering())
        beats.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await beats

    asyncio.run(main())
    print("it beat", len(gaps) > 20)


def context_variables() -> None:
    """Context variables and thread-local state are the caller's own."""
    import contextvars

    variable = contextvars.ContextVar("variable", default="unset")
    local = threading.local()

    @profile(rate=200, label="task")
    async def task(value):
        variable.set(value)
        await asyncio.sleep(0)
        return variable.get()

    @profile(rate=200, label="stream")
    async def stream():
        for value in "ab":
            variable.set(value)
            yield variable.get()

    async def main():
        print(await asyncio.gather(task(1), task(2)), variable.get())
        print(await task(3), variable.get())
        print([item async for item in stream()], variable.get())

    region(setattr, local, "value", 1)
    asyncio.run(main())
    print(local.value, region(variable.get))


SCENARIOS = {
    function.__name__: function
    for function in (
        at_import, in_finalizers, in_handlers, traced, recursion_limit, cancelled, responsive,
        context_variables,
    )
}  # fmt: skip

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
