"""Access to profiles of single requests: who has the token, what they ask for, and how it stays secret."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, MutableMapping
from hmac import compare_digest
from typing import Any
from urllib.parse import unquote_plus, unquote_to_bytes

from profkit.errors import UsageError

Environ = MutableMapping[str, Any]
"""Environment of a WSGI request, or the part of it in Django's `request.META`."""
Scope = MutableMapping[str, Any]
"""Scope of an ASGI connection."""

TOKEN_VARIABLE = "PROFKIT_WEB_TOKEN"
TOKEN, ANSWER = "profkit_token", "profkit_answer"
"""Query parameters."""
TOKEN_HEADER, ANSWER_HEADER = b"profkit-token", b"profkit-answer"
"""Headers, as ASGI has them."""
_TOKEN_KEY, _ANSWER_KEY = "HTTP_PROFKIT_TOKEN", "HTTP_PROFKIT_ANSWER"
_IN_QUERY = TOKEN.encode()
_URI_KEYS = ("RAW_URI", "REQUEST_URI")
"""Keys in which servers keep the request's line with its query, for their logs."""
_MIN_LENGTH = 16


class Answer(enum.Enum):
    """Answer to a profiled request; the value is what a client writes."""

    PAGE = "page"
    """The report, as a page, in place of the application's response."""
    RESPONSE = "response"
    """The application's response, with the run's id in a header."""


class Access:
    """Check of the token in requests. Without a token, `is_open` is False and no request is checked."""

    def __init__(self, token: str) -> None:
        """Take a token, empty for none; raises UsageError for one that can be guessed or sent by nobody."""
        if token and len(token) < _MIN_LENGTH:
            raise UsageError(
                f"the token for profiles of requests has {len(token)} characters, and needs {_MIN_LENGTH}",
                'create one with `python -c "import secrets; print(secrets.token_urlsafe())"`',
            )
        if not token.isascii() or not token.isprintable() or token != token.strip():
            raise UsageError(
                "the token for profiles of requests has characters that a header cannot hold",
                "use printable ASCII characters without surrounding spaces",
            )
        self._token = token.encode()
        self.is_open = bool(token)

    def asked_in_scope(self, scope: Scope) -> Answer | None:
        """Return what a request with the token asks for, and hide the token in its scope; else None."""
        wanted, query = TOKEN_HEADER, scope["query_string"]
        for name, value in scope["headers"]:  # faster than any way without a loop
            if name == wanted:
                return self._asked_in_scope(scope, value)
        if _IN_QUERY in query or (b"%" in query and TOKEN in unquote_plus(query.decode("latin-1"))):
            return self._asked_in_scope(scope, None)
        return None

    def asked_in_environ(self, environ: Environ) -> Answer | None:
        """Return what a request with the token asks for, and hide the token in its environment; else None."""
        query = environ.get("QUERY_STRING", "")
        given = environ.get(_TOKEN_KEY)
        if given is None and TOKEN not in query and not ("%" in query and TOKEN in unquote_plus(query)):
            return None
        if not self._is_given(None if given is None else given.encode("utf-8", "surrogateescape"), query):
            return None
        answer = environ.get(_ANSWER_KEY, "").encode() or _parameter(query, ANSWER)
        _hide_in_environ(environ)
        return _answer(answer)

    def _asked_in_scope(self, scope: Scope, token: bytes | None) -> Answer | None:
        query = scope["query_string"].decode("latin-1")
        if not self._is_given(token, query):
            return None
        answers = [value for name, value in scope["headers"] if name == ANSWER_HEADER]
        answer = answers[0] if answers else _parameter(query, ANSWER)
        # In place: the server's access log uses this very object.
        scope["query_string"] = without_parameters(query).encode("latin-1")
        scope["headers"] = _without_headers(scope["headers"])
        if TOKEN.encode() in unquote_to_bytes(raw := scope.get("raw_path") or b""):
            scope["raw_path"] = raw.partition(b"?")[0]  # some servers keep the query there, too
        return _answer(answer)

    def _is_given(self, header: bytes | None, query: str) -> bool:
        """Return whether the token is in the header, or anywhere in the query."""
        given = [*(() if header is None else (header,)), *_parameters(query, TOKEN)]
        return any(self._is_token(one) for one in given)

    def _is_token(self, given: bytes) -> bool:
        return self.is_open and compare_digest(given, self._token)


def without_parameters(query: str) -> str:
    """Return a query string without profkit's own parameters; others keep their form and order."""
    return "&".join(part for part in query.split("&") if _name_of(part) not in (TOKEN, ANSWER))


def _hide_in_environ(environ: Environ) -> None:
    for key in (_TOKEN_KEY, _ANSWER_KEY):
        environ.pop(key, None)
    if environ.get("QUERY_STRING"):
        environ["QUERY_STRING"] = without_parameters(environ["QUERY_STRING"])
    for key in _URI_KEYS:
        uri = environ.get(key)
        if isinstance(uri, str) and TOKEN in unquote_plus(uri):
            path, _, query = uri.partition("?")
            left = without_parameters(query)
            environ[key] = f"{path}?{left}" if left else path


def _without_headers(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name not in (TOKEN_HEADER, ANSWER_HEADER)]


def _parameter(query: str, name: str) -> bytes | None:
    """Return the first value of a query parameter, None if there is none."""
    return next(_parameters(query, name), None)


def _parameters(query: str, name: str) -> Iterator[bytes]:
    """Yield all values of a query parameter."""
    for part in query.split("&"):
        if _name_of(part) == name:
            yield unquote_plus(part.partition("=")[2]).encode()


def _name_of(part: str) -> str:
    return unquote_plus(part.partition("=")[0])


def _answer(value: bytes | None) -> Answer:
    """Return the requested answer; a page if it is unknown or not given."""
    return Answer.RESPONSE if value == Answer.RESPONSE.value.encode() else Answer.PAGE
