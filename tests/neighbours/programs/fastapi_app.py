"""A FastAPI application with profiled endpoints, dependencies and models."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated

from colours import blue, green, red
from fastapi import BackgroundTasks, Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from profkit import profile, profiled

EXACT = {"rate": 100.0, "blocking": True}


@asynccontextmanager
@profile(label="lifespan", **EXACT)
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    print("starting", flush=True)
    yield
    print("stopping", flush=True)


app = FastAPI(lifespan=lifespan)


class Item(BaseModel):
    name: str
    price: float = Field(gt=0)
    tags: list[str] = []

    @profile(label="Item.total", **EXACT)
    def total(self, count: int = 1) -> float:
        return self.price * count


class Receipt(BaseModel):
    name: str
    total: float


@app.middleware("http")
@profile(label="middleware", **EXACT)
async def name_the_worker(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    response = await call_next(request)
    response.headers["X-Pid"] = str(os.getpid())
    return response


@profile(label="user", **EXACT)
def user_of(user: str = "nobody") -> str:
    return user.upper()


@profile(label="connection", **EXACT)
async def connection() -> AsyncIterator[str]:
    await asyncio.sleep(0)
    yield "connected"
    await asyncio.sleep(0)


User = Annotated[str, Depends(user_of)]
Connection = Annotated[str, Depends(connection)]


@app.get("/ready")
async def ready() -> str:
    return "ready"


@app.get("/red/{number}")
@profile(label="red", **EXACT)
async def red_endpoint(number: int, user: User) -> dict[str, int | str]:
    for _ in range(5):
        red(0.004)
        await asyncio.sleep(0)
    return {"number": number, "user": user}


@app.get("/green/{number}")
@profile(label="green", **EXACT)
async def green_endpoint(number: int, connected: Connection) -> dict[str, int | str]:
    for _ in range(5):
        green(0.004)
        await asyncio.sleep(0)
    return {"number": number, "connected": connected}


@app.get("/plain/{number}")
async def plain_endpoint(number: int) -> int:
    blue(0.01)
    return number


@app.get("/thread/{number}")
@profile(label="thread", **EXACT)
def in_a_thread(number: int) -> int:
    red(0.01)
    return number


@app.get("/block/{number}")
async def with_a_block(number: int) -> int:
    with profiled("block", **EXACT):
        green(0.01)
        await asyncio.sleep(0)
    return number


@app.post("/items")
@profile(label="items", **EXACT)
async def sell(item: Item, tasks: BackgroundTasks, count: int = 1) -> Receipt:
    tasks.add_task(later, item.name)
    return Receipt(name=item.name, total=item.total(count))


@profile(label="later", **EXACT)
def later(name: str) -> None:
    red(0.005)


@app.get("/stream/{count}")
@profile(label="stream", **EXACT)
async def stream(count: int) -> StreamingResponse:
    return StreamingResponse(lines(count), media_type="text/plain")


@profile(label="lines", **EXACT)
async def lines(count: int) -> AsyncIterator[str]:
    for number in range(count):
        await asyncio.sleep(0)
        yield f"line {number}\n"


@app.get("/missing")
@profile(label="missing", **EXACT)
async def missing() -> None:
    raise HTTPException(404, "nothing here")


@app.get("/broken")
@profile(label="broken", **EXACT)
async def broken() -> None:
    raise ValueError("mine")


@app.get("/reach")
@profile(label="reach", **EXACT)
async def reach() -> str:
    return "reached"
