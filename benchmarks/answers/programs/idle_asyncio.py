"""An asyncio server without clients."""

import asyncio
from contextlib import suppress

from benchmarks.answers import truth


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(line)
        await writer.drain()


async def main() -> None:
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server:
        with suppress(TimeoutError):
            await asyncio.wait_for(server.serve_forever(), truth.SECONDS)


asyncio.run(main())
