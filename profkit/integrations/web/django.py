"""Middleware for the setting `MIDDLEWARE` of Django; its options are the setting `PROFKIT`.

It covers what Django runs below it: other middleware and the view, but not the parts of a streaming response.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, MutableMapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpResponse

from profkit.integrations.web.access import Answer
from profkit.integrations.web.following import following
from profkit.integrations.web.options import WebOptions, web_settings
from profkit.integrations.web.requests import Page, Profiled, Requests, answer_headers, page_of
from profkit.integrations.web.routes import django_route
from profkit.model.region import RegionKind

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    GetResponse = Callable[[HttpRequest], Any]

SETTING = "PROFKIT"
"""Name of Django's setting, a dictionary of options."""


class ProfkitMiddleware:
    """Middleware that profiles requests as its options say; put it first in `MIDDLEWARE`."""

    sync_capable = async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response
        self._settings = web_settings(cast(WebOptions, getattr(settings, SETTING, {})))
        self._access, self._active = self._settings.access, self._settings.active
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)
        kind = RegionKind.COROUTINE if self._is_async else RegionKind.GENERATOR
        self._requests = Requests(self._settings, self._await if self._is_async else self._handle, kind)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Return the response to a request, and profile the request if it is chosen."""
        profiled = self._chosen(request) if self._active else None
        if profiled is None:
            return self._get_response(request)
        return self._run_async(profiled, request) if self._is_async else self._run(profiled, request)

    def _chosen(self, request: HttpRequest) -> Profiled | None:
        answer = self._access.asked_in_environ(request.META) if self._access.is_open else None
        find = partial(django_route, request.path_info)
        if answer is not None:
            self._hide_in_scope(request)
            return self._requests.on_demand(answer, request.method or "", request.path, find)
        if self._requests.takes_some and self._requests.is_next():
            return self._requests.sampled(request.method or "", request.path, find)
        return None

    def _hide_in_scope(self, request: HttpRequest) -> None:
        """Hide the token from the log of an ASGI server."""
        scope: MutableMapping[str, Any] | None = getattr(request, "scope", None)
        if scope is not None:
            self._access.asked_in_scope(scope)

    def _handle(self, request: HttpRequest) -> Generator[HttpResponseBase, None, None]:
        yield self._get_response(request)

    async def _await(self, request: HttpRequest) -> HttpResponseBase:
        return await self._get_response(request)

    def _run(self, profiled: Profiled, request: HttpRequest) -> HttpResponseBase:
        with following(profiled.carrier):
            (response,) = profiled.marker(self._handle, request)
        if profiled.answer is Answer.PAGE:
            response.close()
            return _page_response(page_of(profiled, source=self._settings.source))
        return _with_run(response, profiled)

    async def _run_async(self, profiled: Profiled, request: HttpRequest) -> HttpResponseBase:
        with following(profiled.carrier):
            response = await profiled.marker(self._await, request)
        if profiled.answer is Answer.PAGE:
            await sync_to_async(response.close)()
            reading = sync_to_async(page_of, thread_sensitive=False)
            return _page_response(await reading(profiled, source=self._settings.source))
        return _with_run(response, profiled)


def _page_response(page: Page) -> HttpResponseBase:
    headers = {name: value for name, value in page.headers if name != "Content-Length"}
    return HttpResponse(page.body, status=page.code, headers=headers)


def _with_run(response: HttpResponseBase, profiled: Profiled) -> HttpResponseBase:
    """Return a response with the run's id, if its client asked for that."""
    if profiled.answer is Answer.RESPONSE:
        for name, value in answer_headers(profiled.run_id):
            response[name] = value
    return response
