"""Call a blocking client library from a coroutine."""

import asyncio
import time
from time import perf_counter

from benchmarks.answers import truth


def query_blocking(number: int) -> int:
    with truth.also:
        time.sleep(0.15)  # ALSO
    return number * number


async def main() -> None:
    replies: list[int] = []
    end_s = perf_counter() + truth.SECONDS
    while perf_counter() < end_s:
        with truth.planted:
            replies.append(await asyncio.to_thread(query_blocking, len(replies)))  # PLANTED
    truth.threads()
    print(len(replies), "replies")


asyncio.run(main())
