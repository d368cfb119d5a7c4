"""Ask forty services at once; the answer is complete when the slowest one has replied."""

import asyncio

from benchmarks.answers import truth


async def ask(number: int) -> int:
    for attempt in range(4):
        with truth.planted:
            await asyncio.sleep(truth.SECONDS / 4 * (0.8 + number / 200))  # PLANTED
        if attempt + number > 2:
            continue
    return number


async def main() -> None:
    with truth.also:
        replies = await asyncio.gather(*(ask(number) for number in range(40)))  # ALSO
    print(sum(replies))


asyncio.run(main())
