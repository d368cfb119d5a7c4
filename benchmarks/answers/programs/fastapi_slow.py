"""A web service whose report waits for a database, and a client that asks for it."""

from benchmarks.answers import truth

# isort: split
import asyncio
import threading
from time import perf_counter
from urllib.request import urlopen

import uvicorn
from fastapi import FastAPI

app = FastAPI()


@app.get("/report")
async def report(rows: int) -> dict[str, int]:
    with truth.planted:
        await asyncio.sleep(0.15)  # PLANTED
    total = sum(number * number % 13 for number in range(rows))
    return {"total": total}


server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))


def ask() -> None:
    while not server.started:
        threading.Event().wait(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    end_s = perf_counter() + truth.SECONDS
    while perf_counter() < end_s:
        with urlopen(f"http://127.0.0.1:{port}/report?rows=200000") as response:
            response.read()
    truth.threads()
    server.should_exit = True


threading.Thread(target=ask, name="client").start()
server.run()
