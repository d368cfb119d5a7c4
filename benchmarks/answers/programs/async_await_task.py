"""Await a background task that reads pages from a slow service."""

import asyncio

from benchmarks.answers import truth

PAGE_S = 0.2


async def fetch_page(number: int) -> str:
    await asyncio.sleep(PAGE_S)  # ALSO
    return f"page {number}"


async def fetch_all(pages: int) -> list[str]:
    with truth.also:
        return [await fetch_page(number) for number in range(pages)]


async def main() -> None:
    task = asyncio.create_task(fetch_all(int(truth.SECONDS / PAGE_S)))
    await asyncio.sleep(0)
    header = ", ".join(str(number) for number in range(1_000))
    with truth.planted:
        pages = await task  # PLANTED
    print(len(header), len(pages))


asyncio.run(main())
