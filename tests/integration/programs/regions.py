"""Regions whose work is identified by the names of its functions: `regions.py SCENE [SAMPLER]`.

Prints, for each region, the functions that its samples are of, with the number of samples.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import sys
import threading
from collections import Counter

from spinning import spin_beside_sampler

from profkit import profile, profiled
from profkit.model.run import Run

SCENE, SAMPLER = [*sys.argv[1:], "pyspy"][:2]
RATE_HZ = 250.0
OPTIONS = {"rate": RATE_HZ, "sampler": SAMPLER, "blocking": True if SAMPLER == "pyspy" else "auto"}


def red(duration_s: float) -> None:
    spin_beside_sampler(duration_s, RATE_HZ)


def green(duration_s: float) -> None:
    spin_beside_sampler(duration_s, RATE_HZ)


def blue(duration_s: float) -> None:
    spin_beside_sampler(duration_s, RATE_HZ)


def seen(run: Run | None) -> dict[str, int]:
    """Samples by function, each function once per sample."""
    if run is None or run.profile is None:
        return {}
    profile_, found = run.profile, Counter()
    for sample in profile_.samples:
        names = {profile_.frames[frame].name for frame in profile_.stacks[sample.stack]}
        found.update(dict.fromkeys(names, sample.weight))
    return dict(found) | {"samples": run.info.samples, "torn": run.info.torn, "calls": run.info.calls}


def two_threads() -> dict[str, Run | None]:
    """Two threads in one decorated function, each with work of its own."""

    @profile(label="shared", **OPTIONS)
    def shared(work):
        for _ in range(40):
            work(0.005)

    threads = [threading.Thread(target=shared, args=(work,), name=work.__name__) for work in (red, green)]
    for thread in threads:
        thread.start()
    blue(0.2)
    for thread in threads:
        thread.join()
    return {"shared": shared.last_run}


def coroutines() -> dict[str, Run | None]:
    """Ten coroutines of two functions in one loop; what runs between them belongs to neither."""

    @profile(label="red", **OPTIONS)
    async def first():
        for _ in range(10):
            red(0.004)
            await asyncio.sleep(0)

    @profile(label="green", **OPTIONS)
    async def second():
        for _ in range(10):
            green(0.004)
            await asyncio.sleep(0)

    async def plain():
        for _ in range(10):
            blue(0.004)
            await asyncio.sleep(0)

    async def main():
        await asyncio.gather(*(task() for _ in range(5) for task in (first, second)), plain())

    asyncio.run(main())
    return {"red": first.last_run, "green": second.last_run}


def nested() -> dict[str, Run | None]:
    """A sample belongs to every region that is on its stack; recursion stays within one."""

    @profile(label="inner", **OPTIONS)
    def inner():
        green(0.1)

    @profile(label="outer", **OPTIONS)
    def outer(depth):
        red(0.05)
        if depth:
            outer(depth - 1)
        else:
            inner()

    outer(3)
    blue(0.1)
    return {"outer": outer.last_run, "inner": inner.last_run}


def generators() -> dict[str, Run | None]:
    """Two generators, consumed in turn, with work of the consumer between."""

    @profile(label="red", **OPTIONS)
    def first():
        for _ in range(20):
            red(0.01)
            yield

    @profile(label="green", **OPTIONS)
    def second():
        for _ in range(20):
            green(0.01)
            yield

    for _ in zip(first(), second(), strict=True):
        blue(0.005)
    return {"red": first.last_run, "green": second.last_run}


def blocks() -> dict[str, Run | None]:
    """Blocks in a loop, in async code across awaits, and entered by an ExitStack."""
    for _ in range(10):
        with profiled("loop", **OPTIONS) as loop:
            red(0.01)
            red(0.01)
        blue(0.01)

    async def crossing():
        with profiled("async", **OPTIONS) as block:
            green(0.1)
            await asyncio.sleep(0)
            green(0.1)
        blue(0.05)
        return block

    async def other():
        blue(0.1)

    async def main():
        block, _ = await asyncio.gather(crossing(), other())
        return block

    within = asyncio.run(main())
    with contextlib.ExitStack() as stack:
        detached = stack.enter_context(profiled("detached", **OPTIONS))
        green(0.2)
    blue(0.1)
    return {"loop": loop.run, "async": within.run, "detached": detached.run}


def every_thread() -> dict[str, Run | None]:
    """A thread that the region starts has no marker: threads=True finds it, the default does not."""

    def starting():
        thread = threading.Thread(target=green, args=(0.25,))
        thread.start()
        red(0.25)
        thread.join()

    callers = profile(label="callers", **OPTIONS)(starting)
    everyone = profile(label="everyone", threads=True, **OPTIONS)(starting)
    callers()
    everyone()
    blue(0.1)
    return {"callers": callers.last_run, "everyone": everyone.last_run}


def processes() -> dict[str, Run | None]:
    """A child that the region forks is sampled where subprocesses were asked for."""

    @profile(label="family", scope="process", subprocesses=True, rate=100.0, sampler=SAMPLER)
    def family():
        child = multiprocessing.get_context("fork").Process(target=green, args=(0.8,))
        child.start()
        red(0.8)
        child.join()

    family()
    return {"family": family.last_run}


if __name__ == "__main__":
    print(json.dumps({label: seen(run) for label, run in globals()[SCENE]().items()}))
