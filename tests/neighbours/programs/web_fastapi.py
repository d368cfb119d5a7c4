"""A FastAPI application whose requests are profiled by route, below middleware that starts tasks."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable

from colours import blue, green, red, turns
from fastapi import APIRouter, BackgroundTasks, FastAPI, Request, Response, WebSocket
from fastapi.responses import StreamingResponse
from starlette.middleware.gzip import GZipMiddleware

from profkit.integrations.web.asgi import ProfkitMiddleware

app = FastAPI()
router = APIRouter(prefix="/shades")


@app.middleware("http")
async def name_the_worker(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    response = await call_next(request)
    response.headers["X-Pid"] = str(os.getpid())
    return response


app.add_middleware(GZipMiddleware, minimum_size=10)
app.add_middleware(ProfkitMiddleware, **json.loads(os.environ.get("WEB_OPTIONS", "{}")))


@app.get("/ready")
@app.get("/reach")
async def ready() -> str:
    return "ready"


@app.get("/red/{number}")
async def red_view(number: int, tasks: BackgroundTasks, late: bool = False) -> dict[str, int | str]:
    for _ in range(8 * turns(number)):
        red(0.01)
        await asyncio.sleep(0)
    if late:
        tasks.add_task(green, 0.01)
    return {"number": number}


@router.get("/{number}")
async def green_view(number: int) -> int:
    async def part() -> None:
        for _ in range(4 * turns(number)):
            green(0.01)
            await asyncio.sleep(0)

    await asyncio.gather(part(), part())
    return number


app.include_router(router, prefix="/green")


@app.get("/blue/{number}")
def blue_view(number: int) -> int:
    blue(0.08 * turns(number))
    return number


@app.get("/stream/{count}")
async def stream(count: int) -> StreamingResponse:
    async def lines() -> AsyncIterator[str]:
        for number in range(count):
            await asyncio.sleep(0)
            yield f"line {number}\n"

    return StreamingResponse(lines(), media_type="text/plain")


@app.get("/query")
async def query(request: Request) -> dict[str, str]:
    return dict(request.query_params) | {
        name: value for name, value in request.headers.items() if "profkit" in name
    }


@app.get("/broken")
async def broken() -> None:
    raise ValueError("mine")


@app.websocket("/echo")
async def echo(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(await socket.receive_text())
