"""Middleware for WSGI applications: Flask, Django's and others."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Unpack, cast

from profkit.integrations.web.access import Answer, Environ
from profkit.integrations.web.following import following
from profkit.integrations.web.options import WebOptions, web_settings
from profkit.integrations.web.requests import Profiled, Requests, answer_headers, page_of
from profkit.integrations.web.routes import route_of_environ, shown_in_environ
from profkit.model.region import RegionKind

StartResponse = Callable[..., Callable[[bytes], object]]
App = Callable[[Environ, StartResponse], Iterable[bytes]]


class ProfkitMiddleware:
    """WSGI application that runs another, and profiles requests of it as its options say.

    A request lasts until the server closes its response.
    """

    def __init__(self, app: App, **options: Unpack[WebOptions]) -> None:
        self._app = app
        self._settings = web_settings(options)
        self._active = self._settings.active
        self._asked, self._checks = self._settings.access.asked_in_environ, self._settings.access.is_open
        self._requests = Requests(self._settings, self._handle, RegionKind.GENERATOR)
        self._is_next, self._samples = self._requests.is_next, self._requests.takes_some

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Run the application, and profile the request if it is chosen."""
        if self._active:
            answer = self._asked(environ) if self._checks else None
            if answer is not None:
                return self._run_on_demand(answer, environ, start_response)
            if self._samples and self._is_next():
                return self._run_sampled(environ, start_response)
        return self._app(environ, start_response)

    def _handle(
        self, environ: Environ, start_response: StartResponse
    ) -> Generator[Iterable[bytes] | bytes, None, None]:
        """Run a request step by step: yield the response, then each part of its body; close it at the end.

        If its work is done at once, as for a list or a file, the server has the response itself.
        """
        body = self._app(environ, start_response)
        if _is_done(body, environ):
            yield body
            return
        try:
            yield body
            for part in body:  # noqa: UP028 - `yield from` would close it, too
                yield part
        finally:
            _close(body)

    def _run_sampled(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        method, path = _method_and_path(environ)
        profiled = self._requests.sampled(method, path, lambda: route_of_environ(self._app, environ))
        body = _begun(profiled, self._handle, environ, start_response)
        template = shown_in_environ(environ)
        if template is not None:
            self._requests.labels.learn(method, path, template)
        return body

    def _run_on_demand(
        self, answer: Answer, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        method, path = _method_and_path(environ)
        profiled = self._requests.on_demand(
            answer, method, path, lambda: route_of_environ(self._app, environ)
        )
        if answer is Answer.RESPONSE:
            return _begun(profiled, self._handle, environ, _with_run(profiled, start_response))
        _read(_begun(profiled, self._handle, environ, _discarding))
        page = page_of(profiled, source=self._settings.source)
        start_response(page.status, list(page.headers))
        return [] if method == "HEAD" else [page.body]


class _Body:
    """Body of a profiled response: the server's steps through it run under the request's marker."""

    def __init__(self, profiled: Profiled, steps: Generator[Any, None, None]) -> None:
        self._carrier, self._steps = profiled.carrier, steps

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        with following(self._carrier):
            return next(self._steps)  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close the application's response."""
        with following(self._carrier):
            self._steps.close()


def _begun(
    profiled: Profiled, handle: Callable[..., object], environ: Environ, start_response: StartResponse
) -> Iterable[bytes]:
    """Run the application under the request's marker until it returns its response; return the body."""
    steps: Generator[Any, None, None] = profiled.marker(handle, environ, start_response)
    body = _Body(profiled, steps)
    response = cast(Iterable[bytes], next(body))
    if not _is_done(response, environ):
        return body
    _read(body)
    return response


def _is_done(response: Iterable[bytes], environ: Environ) -> bool:
    """Return whether the rest of a response is work of the server: a list in memory, or a file."""
    wrapper = environ.get("wsgi.file_wrapper")
    return type(response) in (list, tuple) or (isinstance(wrapper, type) and isinstance(response, wrapper))


def _read(body: Iterable[bytes]) -> None:
    """Take a whole response, and drop it."""
    try:
        for _ in body:
            pass
    finally:
        _close(body)


def _close(body: Iterable[bytes]) -> None:
    close = getattr(body, "close", None)
    if close is not None:
        close()


def _discarding(_status: str, _headers: object, _error: object = None) -> Callable[[bytes], object]:
    return len


def _with_run(profiled: Profiled, start_response: StartResponse) -> StartResponse:
    def start_with_run(
        status: str, headers: list[tuple[str, str]], *error: object
    ) -> Callable[[bytes], object]:
        return start_response(status, [*headers, *answer_headers(profiled.run_id)], *error)

    return start_with_run


def _method_and_path(environ: Environ) -> tuple[str, str]:
    path = f"{environ.get('SCRIPT_NAME', '')}{environ.get('PATH_INFO', '')}"
    return str(environ.get("REQUEST_METHOD", "")), path
