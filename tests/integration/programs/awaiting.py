"""Asyncio tasks that await others in several ways; each leaf works under one chain of them only.

Prints for each region how many of its samples have the functions of its chain, and all others by function.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter

from profkit import profile

WORK = 100_000
ROUNDS = int(sys.argv[1])


def work() -> None:
    for _ in range(WORK):
        pass


async def of_gather() -> None:
    for _ in range(ROUNDS):
        work()
        await asyncio.sleep(0)


async def of_group() -> None:
    for _ in range(ROUNDS):
        work()
        await asyncio.sleep(0)


async def of_task() -> None:
    for _ in range(ROUNDS):
        work()
        await asyncio.sleep(0)


async def alone() -> None:
    for _ in range(ROUNDS):
        work()
        await asyncio.sleep(0)


@profile(label="inner", async_stacks=True, rate=500, sampler="cpython")
async def inner() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(of_group(), name="group-1")
        group.create_task(of_group(), name="group-2")


async def between() -> None:
    await inner()


@profile(label="outer", async_stacks=True, rate=500, sampler="cpython")
async def outer() -> None:
    await asyncio.gather(of_gather(), between())


@profile(label="other", async_stacks=True, rate=500, sampler="cpython")
async def other() -> None:
    await asyncio.create_task(of_task(), name="mine")


@profile(label="first", async_stacks=True, rate=500, sampler="cpython")
async def first() -> None:
    await asyncio.sleep(0)


async def main() -> None:
    await first()
    await asyncio.gather(outer(), other(), alone())


def stacks(region) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    profiled = region.last_run.profile
    for sample in profiled.samples:
        found[tuple(profiled.frames[number].name for number in profiled.stacks[sample.stack])] += (
            sample.weight
        )
    return found


if __name__ == "__main__":
    asyncio.run(main())
    told = {}
    for region in (inner, outer, other):
        told[region.last_run.info.label] = [[list(names), weight] for names, weight in stacks(region).items()]
    notes = [note.code.value for note in outer.last_run.info.notes]
    print(json.dumps({"stacks": told, "torn": outer.last_run.info.torn, "notes": notes}))
