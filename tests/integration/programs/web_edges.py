"""Requests that middleware for ASGI and WSGI must not change, each checked in this program."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from profkit.integrations.web import asgi, wsgi
from profkit.integrations.web.following import CURRENT
from profkit.originals import REAL

TOKEN = "0123456789-abcdef"
SUBMIT = ThreadPoolExecutor.submit
Message = MutableMapping[str, Any]


def busy(duration_s: float = 0.05) -> None:
    end_ns = REAL.perf_counter_ns() + int(duration_s * 1e9)
    while REAL.perf_counter_ns() < end_ns:
        pass


def scope_of(path: str, method: str = "GET", kind: str = "http", **headers: str) -> dict[str, Any]:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": kind, "method": method, "path": path, "query_string": b"", "headers": pairs}


async def receive() -> Message:
    return {"type": "http.disconnect"}


async def answered(app: Callable[..., Awaitable[None]], scope: dict[str, Any]) -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent


START = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]}
PARTS = [{"type": "http.response.body", "body": part, "more_body": part == b"ab"} for part in (b"ab", b"cd")]


async def streaming(scope: dict[str, Any], receive: Any, send: Any) -> None:
    for message in (START, *PARTS):
        busy(0.02)
        await asyncio.sleep(0)
        await send(message)
    assert await receive() == {"type": "http.disconnect"}


async def failing(*_: Any) -> None:
    busy()
    raise LookupError("mine")


async def waiting(*_: Any) -> None:
    await asyncio.sleep(60)


async def check_nothing_is_between(middleware: asgi.ProfkitMiddleware, kinds: Iterable[str]) -> None:
    """The application gets the server's own objects."""
    for kind in kinds:
        given = scope_of("/", kind=kind), receive, object()
        got: list[Any] = []

        async def app(*arguments: Any, into: list[Any] = got) -> None:
            into.extend(arguments)

        middleware._app = app
        await middleware(*given)
        assert all(one is other for one, other in zip(got, given, strict=True)), kind


async def asgi_requests() -> None:
    await check_nothing_is_between(asgi.ProfkitMiddleware(waiting), ["http", "websocket", "lifespan"])
    await check_nothing_is_between(asgi.ProfkitMiddleware(waiting, token=TOKEN), ["http", "websocket"])
    await check_nothing_is_between(
        asgi.ProfkitMiddleware(waiting, every=1), ["http", "websocket", "lifespan"]
    )
    stream = asgi.ProfkitMiddleware(streaming, token=TOKEN, every=1)
    assert await answered(stream, scope_of("/stream")) == [START, *PARTS]
    await check_on_demand(stream)
    await check_errors()


async def check_on_demand(stream: asgi.ProfkitMiddleware) -> None:
    pages = [
        await answered(stream, scope_of("/page", method, profkit_token=TOKEN)) for method in ("GET", "HEAD")
    ]
    for start, body in pages:
        assert start["status"] == 200
        headers = dict(start["headers"])
        assert headers[b"cache-control"] == b"no-store"
        assert int(headers[b"content-length"]) > 10_000
        assert len(body["body"]) in (0, int(headers[b"content-length"]))
    assert [len(body["body"]) > 0 for _, body in pages] == [True, False]
    scope = scope_of("/own", profkit_token=TOKEN, profkit_answer="response")
    start, *parts = await answered(stream, scope)
    assert parts == PARTS
    assert [name for name, _ in start["headers"]] == [
        *(b"content-length", b"cache-control", b"referrer-policy"), b"profkit-run"
    ]  # fmt: skip


async def check_errors() -> None:
    broken = asgi.ProfkitMiddleware(failing, token=TOKEN, every=1)
    for scope in (scope_of("/broken"), scope_of("/broken", profkit_token=TOKEN)):
        try:
            await answered(broken, scope)
        except LookupError:
            pass
        else:
            raise AssertionError("the error is gone")
    task = asyncio.create_task(answered(asgi.ProfkitMiddleware(waiting, every=1), scope_of("/cancelled")))
    await asyncio.sleep(0.2)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert asyncio.get_running_loop().get_task_factory() is None
    assert CURRENT.get() is None


class Body:
    """A response that counts how often it is closed."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self.parts, self.closed = parts, 0

    def __iter__(self) -> Iterator[bytes]:
        return self.parts

    def close(self) -> None:
        self.closed += 1


class File(Body):
    """A file wrapper, which servers know."""


def environ_of(path: str, **more: str) -> dict[str, Any]:
    return {"REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": "", "wsgi.file_wrapper": File, **more}


def parts() -> Iterator[bytes]:
    for part in (b"ab", b"cd"):
        busy()
        yield part


def broken_parts() -> Iterator[bytes]:
    yield b"ab"
    raise LookupError("mine")


class Started:
    """What a server has from an application."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.written = b""

    def __call__(self, *arguments: Any) -> Callable[[bytes], None]:
        self.calls.append(arguments)
        return self.write

    def write(self, data: bytes) -> None:
        self.written += data


def profiled(response: object, **options: object) -> wsgi.ProfkitMiddleware:
    def app(_environ: object, start_response: Any) -> Any:
        start_response("200 OK", [("X", "y")])(b"<")
        return response

    return wsgi.ProfkitMiddleware(app, **{"every": 1, **options})  # type: ignore[arg-type]


def check_wsgi_responses() -> None:
    for whole in ([b"ab"], (b"ab",), File(parts())):
        started = Started()
        assert profiled(whole)(environ_of("/whole"), started) is whole
        assert started.calls == [("200 OK", [("X", "y")])]
        assert started.written == b"<"
        assert getattr(whole, "closed", 0) == 0, "the server closes it"
    for taken in (0, 1, 2, 3):
        body = Body(parts())
        response = profiled(body)(environ_of("/parts"), Started())
        got = [part for part, _ in zip(response, range(taken), strict=False)]
        assert got == [b"ab", b"cd"][:taken]
        response.close()  # type: ignore[attr-defined]
        assert body.closed == 1, taken


def check_wsgi_errors() -> None:
    body = Body(broken_parts())
    response = profiled(body)(environ_of("/broken"), Started())
    try:
        list(response)
    except LookupError:
        response.close()  # type: ignore[attr-defined]
        assert body.closed == 1
    else:
        raise AssertionError("the error is gone")

    def app(*_: object) -> Iterable[bytes]:
        raise LookupError("mine")

    try:
        wsgi.ProfkitMiddleware(app, every=1)(environ_of("/broken"), Started())
    except LookupError:
        pass
    else:
        raise AssertionError("the error is gone")


def check_wsgi_on_demand() -> None:
    body, started = Body(parts()), Started()
    page = profiled(body, token=TOKEN)(environ_of("/page", HTTP_PROFKIT_TOKEN=TOKEN), started)
    assert body.closed == 1
    ((status, headers),) = started.calls
    assert status == "200 OK"
    assert dict(headers)["Content-Length"] == str(len(b"".join(page)))
    assert started.written == b"", "the application's own response is dropped"
    environ = environ_of("/own", HTTP_PROFKIT_TOKEN=TOKEN, HTTP_PROFKIT_ANSWER="response")
    started = Started()
    assert list(profiled(Body(parts()), token=TOKEN)(environ, started)) == [b"ab", b"cd"]
    assert [name for name, _ in started.calls[0][1]] == [
        *("X", "Cache-Control", "Referrer-Policy"), "Profkit-Run"
    ]  # fmt: skip


if sys.argv[1:] == ["asgi"]:
    asyncio.run(asgi_requests())
else:
    check_wsgi_responses()
    check_wsgi_errors()
    check_wsgi_on_demand()
assert ThreadPoolExecutor.submit is SUBMIT
