"""Hash uploads in an event loop in which another coroutine polls a queue."""

import asyncio
import hashlib
from time import perf_counter

from benchmarks.answers import truth


async def poll(stopping: asyncio.Event) -> int:
    polls = 0
    while not stopping.is_set():
        await asyncio.sleep(0.1)
        polls += 1
    return polls


async def hash_uploads(end_s: float) -> str:
    digest = hashlib.sha256()
    upload = bytes(range(256)) * 40_000
    while perf_counter() < end_s:
        with truth.planted:
            digest.update(upload)  # PLANTED
        await asyncio.sleep(0)
    return digest.hexdigest()


async def main() -> None:
    stopping = asyncio.Event()
    poller = asyncio.create_task(poll(stopping))
    print(await hash_uploads(perf_counter() + truth.SECONDS))
    stopping.set()
    print(await poller, "polls")


asyncio.run(main())
