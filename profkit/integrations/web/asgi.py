"""Middleware for ASGI applications: FastAPI, Starlette, Django's and others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Unpack

from profkit.calls.slow_path import running_loop
from profkit.errors import UsageError
from profkit.integrations.web.access import Answer, Scope
from profkit.integrations.web.following import following
from profkit.integrations.web.options import WebOptions, web_settings
from profkit.integrations.web.requests import Page, Profiled, Requests, answer_headers, end_session, page_of
from profkit.integrations.web.routes import route_of_scope, shown_in_scope
from profkit.model.region import RegionKind
from profkit.process.guard import say_once

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class ProfkitMiddleware:
    """ASGI application that runs another, and profiles requests of it as its options say.

    Only requests by HTTP are profiled: a WebSocket lasts for long, and would keep the sampler running.
    """

    def __init__(self, app: App, **options: Unpack[WebOptions]) -> None:
        self._app = app
        try:
            self._settings = web_settings(options)
        except UsageError as error:  # frameworks make middleware late, and servers may hide what it raises
            say_once(str(error))
            raise
        self._active = self._settings.active
        self._asked, self._checks = self._settings.access.asked_in_scope, self._settings.access.is_open
        self._requests = Requests(self._settings, self._handle, RegionKind.COROUTINE)
        self._is_next, self._samples = self._requests.is_next, self._requests.takes_some

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application, and profile the request if it is chosen."""
        if self._active:
            if scope["type"] == "http":
                answer = self._asked(scope) if self._checks else None
                if answer is not None:
                    await self._run_on_demand(answer, scope, receive, send)
                    return
                if self._samples and self._is_next():
                    await self._run_sampled(scope, receive, send)
                    return
            elif scope["type"] == "lifespan":
                await self._app(scope, receive, send)
                end_session()
                return
        await self._app(scope, receive, send)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    async def _run_sampled(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path = scope["method"], scope["path"]
        profiled = self._requests.sampled(method, path, lambda: route_of_scope(self._app, scope))
        try:
            with following(profiled.carrier):
                await profiled.marker(self._handle, scope, receive, send)
        finally:
            template = shown_in_scope(scope)
            if template is not None:
                self._requests.labels.learn(method, path, template)

    async def _run_on_demand(self, answer: Answer, scope: Scope, receive: Receive, send: Send) -> None:
        profiled = self._requests.on_demand(
            answer, scope["method"], scope["path"], lambda: route_of_scope(self._app, scope)
        )
        sending = _discard if answer is Answer.PAGE else _with_run(profiled, send)
        with following(profiled.carrier):
            await profiled.marker(self._handle, scope, receive, sending)
        if answer is Answer.PAGE:
            await _send_page(await self._page_of(profiled), scope["method"], send)

    async def _page_of(self, profiled: Profiled) -> Page:
        loop = running_loop()
        if loop is None:  # another event loop than asyncio's
            return page_of(profiled, source=self._settings.source)
        return await loop.run_in_executor(None, lambda: page_of(profiled, source=self._settings.source))


async def _discard(_message: Message) -> None:
    """Drop a part of the response that the page replaces."""


def _with_run(profiled: Profiled, send: Send) -> Send:
    async def send_with_run(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [
                (name.lower().encode(), value.encode()) for name, value in answer_headers(profiled.run_id)
            ]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return send_with_run


async def _send_page(page: Page, method: str, send: Send) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in page.headers]
    await send({"type": "http.response.start", "status": page.code, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else page.body})
