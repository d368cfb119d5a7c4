"""Functions of each kind, to be decorated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator


def function() -> int:
    """Return a number."""
    return 1


def generator() -> Iterator[int]:
    """Yield twice."""
    yield 1
    yield 2


async def coroutine() -> int:
    """Suspend once."""
    await asyncio.sleep(0)
    return 1


async def async_generator() -> AsyncIterator[int]:
    """Yield twice."""
    yield 1
    await asyncio.sleep(0)
    yield 2
