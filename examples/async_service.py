"""Ten requests at once in one event loop: whose time is spent working, and whose waiting?

Run it, then `profkit report handle`: its header tells the time at work from the time suspended.
"""

from __future__ import annotations

import asyncio
import hashlib

from profkit import profile

REQUESTS, ROUNDS = 10, 6


async def fetch() -> bytes:
    """Stands for a database: waits, without keeping the processor busy."""
    await asyncio.sleep(0.05)
    return b"row" * 4096


def digest(rows: bytes) -> str:
    """Stands for work that holds up every other request."""
    return hashlib.pbkdf2_hmac("sha256", rows, b"salt", 30_000).hex()


@profile(label="handle")
async def handle() -> str:
    """One request: fetch, then work, a few times over."""
    answer = ""
    for _ in range(ROUNDS):
        answer = digest(await fetch())
    return answer


async def serve() -> None:
    """All requests at the same time."""
    await asyncio.gather(*(handle() for _ in range(REQUESTS)))


if __name__ == "__main__":
    asyncio.run(serve())
    run = handle.last_run
    if run is not None:
        info = run.info
        print(f"{info.calls} requests: {info.active_s:.2f} s at work, {info.suspended_s:.2f} s waiting")
