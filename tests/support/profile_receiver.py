"""A server of profiles that records requests and answers as a test tells it, on this machine."""

from __future__ import annotations

import gzip
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Request(NamedTuple):
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    """By name in lower case."""
    body: bytes
    """Without its gzip."""


Respond = Callable[[BaseHTTPRequestHandler], None]


def answer(status: int, body: bytes = b"", **headers: str) -> Respond:
    """Return a function that answers so."""

    def respond(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return respond


class Receiver:
    """The server; `respond` is how it answers from now on."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.respond = answer(200)
        self.ended = threading.Event()
        """Set when the test has ended."""
        self.host = ""

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        """Record a request and answer it."""
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.requests.append(Request(handler.path, headers, gzip.decompress(body)))
        self.respond(handler)


@contextmanager
def receiving(port: int = 0, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Run a server for the time of the block, at any port unless it is given; `host` is its host and port.

    With `tls`, it speaks that.
    """
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            try:
                receiver.take(self)
            except (ConnectionError, TimeoutError):
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        receiver.host = f"127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield receiver
        finally:
            receiver.ended.set()
            server.shutdown()
            thread.join()
