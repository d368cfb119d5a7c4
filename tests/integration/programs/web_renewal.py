"""A stream of events, and requests beside it, one of which comes when the session has lasted for long."""

from __future__ import annotations

import asyncio
from typing import Any

from spinning import spin_beside_sampler

from profkit.integrations.web import requests
from profkit.integrations.web.asgi import ProfkitMiddleware
from profkit.session.manager import MANAGER

RATE_HZ = 100.0
events_in_first, events_in_second = asyncio.Event(), asyncio.Event()


async def app(scope: dict[str, Any], _receive: Any, _send: Any) -> None:
    if scope["path"] != "/events":
        return
    for done in (events_in_first, events_in_second):
        for _ in range(15):
            spin_beside_sampler(0.02, RATE_HZ)
            await asyncio.sleep(0)
        done.set()
        while done is events_in_first and (MANAGER.session is None or MANAGER.session.id == FIRST[0]):
            await asyncio.sleep(0.01)


def scope_of(path: str) -> dict[str, Any]:
    return {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}


FIRST: list[str] = []


async def main() -> None:
    service = ProfkitMiddleware(app, every=1, rate=RATE_HZ)
    await service(scope_of("/other"), None, None)
    assert MANAGER.session is not None
    FIRST.append(MANAGER.session.id)
    events = asyncio.create_task(service(scope_of("/events"), None, None))
    await events_in_first.wait()
    requests._LONGEST_SESSION_S = 0.0
    await service(scope_of("/other"), None, None)
    requests._LONGEST_SESSION_S = 600.0
    await events


asyncio.run(main())
