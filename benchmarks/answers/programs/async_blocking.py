"""A coroutine that blocks its event loop."""

import asyncio
import time

from benchmarks.answers import truth

JOB_S = 0.08


def download(url: str) -> bytes:
    with truth.planted:
        time.sleep(JOB_S)  # PLANTED
    return url.encode() * 100


async def handle(urls: list[str]) -> int:
    size = 0
    for url in urls:
        size += len(download(url))
        await asyncio.sleep(0)
    return size


async def main() -> None:
    urls = [f"https://example.org/{number}" for number in range(int(truth.SECONDS / JOB_S / 2))]
    print(sum(await asyncio.gather(handle(urls), handle(urls))), "bytes")


asyncio.run(main())
