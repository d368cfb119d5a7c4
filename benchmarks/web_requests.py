"""Time that the middleware adds to a request of an application that does nothing.

The same requests run with and without it, interleaved, with the headers that a browser sends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from time import perf_counter

from benchmarks.attached import check_attached, detach
from benchmarks.figures import Figure
from benchmarks.pairs import difference_figure, interleaved
from profkit.integrations.web.access import Environ, Scope
from profkit.integrations.web.asgi import App as AsgiApp
from profkit.integrations.web.asgi import Message, Receive, Send
from profkit.integrations.web.asgi import ProfkitMiddleware as AsgiMiddleware
from profkit.integrations.web.options import WebOptions
from profkit.integrations.web.wsgi import App as WsgiApp
from profkit.integrations.web.wsgi import ProfkitMiddleware as WsgiMiddleware
from profkit.integrations.web.wsgi import StartResponse

_REQUESTS, _SAMPLED_REQUESTS = 10_000, 1_000
_OFF_US, _SAMPLED_US = 1.0, 100.0
_TOKEN = "a token for the benchmark"
_RARELY = 2**60
"""Interval of sampled requests in which none is sampled."""
_HEADERS = [
    (name.encode(), b"a value of about the usual length")
    for name in (
        "host", "user-agent", "accept", "accept-language", "accept-encoding", "connection", "cookie",
        "referer", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "priority",
    )
]  # fmt: skip

OFF: dict[str, WebOptions] = {
    "installed, not enabled": {"token": ""},
    "with a token": {"token": _TOKEN},
    "with a token, and 1 request in N sampled": {"token": _TOKEN, "every": _RARELY},
}
"""Options with which requests run that are not profiled."""


def measure(quick: bool) -> list[Figure]:
    """Measure requests that are not profiled, and sampled ones."""
    pairs = 6 if quick else 60
    figures = [figure for what, options in OFF.items() for figure in _figures(what, options, pairs)]
    figures += _figures("sampled", {"token": _TOKEN, "every": 1}, pairs, _SAMPLED_REQUESTS, _SAMPLED_US)
    check_attached()
    detach()
    return figures


def _figures(
    what: str, options: WebOptions, pairs: int, requests: int = _REQUESTS, bound_us: float = _OFF_US
) -> Iterable[Figure]:
    asgi = _asgi_run(AsgiMiddleware(_asgi_app, **options), requests), _asgi_run(_asgi_app, requests)
    wsgi = _wsgi_run(WsgiMiddleware(_wsgi_app, **options), requests), _wsgi_run(_wsgi_app, requests)
    for interface, (with_it, without_it) in (("ASGI", asgi), ("WSGI", wsgi)):
        with_it()
        taken = interleaved(with_it, without_it, pairs)
        yield difference_figure(f"{interface}, {what}", taken, requests, bound_us)


async def _asgi_app(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def _wsgi_app(_environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    start_response("200 OK", [])
    return []


async def _receive() -> Message:
    return {"type": "http.request"}


async def _send(_message: Message) -> None:
    pass


def _asgi_run(app: AsgiApp, requests: int) -> Callable[[], float]:
    async def run() -> float:
        scope: Scope = {
            "type": "http", "method": "GET", "path": "/items/7", "query_string": b"page=2&order=name",
            "headers": _HEADERS,
        }  # fmt: skip
        start_s = perf_counter()
        for _ in range(requests):
            await app(scope, _receive, _send)
        return perf_counter() - start_s

    return lambda: asyncio.run(run())


def _wsgi_run(app: WsgiApp, requests: int) -> Callable[[], float]:
    environ: dict[str, object] = {
        f"HTTP_{name.decode().upper().replace('-', '_')}": value.decode() for name, value in _HEADERS
    }
    environ |= {"REQUEST_METHOD": "GET", "PATH_INFO": "/items/7", "QUERY_STRING": "page=2&order=name"}

    def run() -> float:
        start_s = perf_counter()
        for _ in range(requests):
            app(environ, _start_response)
        return perf_counter() - start_s

    return run


def _start_response(_status: str, _headers: object, _error: object = None) -> Callable[[bytes], object]:
    return len
