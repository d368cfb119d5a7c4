"""Ten requests at once in one event loop: how much of their time is work, and how much is waiting?

Run it, then `profkit report handle`: its header shows active and suspended time separately.
"""

from __future__ import annotations

import asyncio
import hashlib

from profkit import profile

REQUESTS, ROUNDS = 10, 6


async def fetch() -> bytes:
    """Simulate a database: wait, without using the processor."""
    await asyncio.sleep(0.05)
    return b"row" * 4096


def digest(rows: bytes) -> str:
    """Simulate work that blocks all other requests."""
    return hashlib.pbkdf2_hmac("sha256", rows, b"salt", 30_000).hex()


@profile(label="handle")
async def handle() -> str:
    """Handle one request: fetch, then work, several times."""
    answer = ""
    for _ in range(ROUNDS):
        answer = digest(await fetch())
    return answer


async def serve() -> None:
    """Handle all requests at the same time."""
    await asyncio.gather(*(handle() for _ in range(REQUESTS)))


if __name__ == "__main__":
    asyncio.run(serve())
    run = handle.last_run
    if run is not None:
        info = run.info
        print(f"{info.calls} requests: {info.active_s:.2f} s at work, {info.suspended_s:.2f} s waiting")
