"""A server of profiles: its URL, authentication, time-out, and which answers refuse one run or all."""

from __future__ import annotations

import gzip
import json
import os
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from profkit.errors import ProfkitError
from profkit.ingest.servers import otlp_http, pyroscope
from profkit.model.run import Run
from profkit.store.places import PlaceUnavailable
from profkit.store.urls import hide_password
from profkit.version import VERSION

TIMEOUT_S = 30.0
"""Time in which a server must have answered a request."""
_LARGEST_ANSWER = 2**16
_LONGEST_REASON = 300
_OF_THE_REQUEST = (400, 413, 415, 422)
"""Statuses of answers that refuse one request, not all."""
_PARAMETERS = ("service_name", "tenant")


class RunsRefused(ProfkitError):
    """A server refuses a run or those of one session; they are still here."""

    exit_code = 7

    def __init__(self, place: str, name: str, detail: str) -> None:
        self.place, self.name, self.detail = place, name, detail
        super().__init__(
            f"{place} refuses {name}: {detail}; it is still here: correct this, then try again, or keep it "
            "with `profkit list`"
        )


@dataclass(frozen=True, slots=True)
class _Protocol:
    """What distinguishes the requests that kinds of servers take."""

    path: str
    content_type: str
    request_of: Callable[[Sequence[Run], str], bytes]
    refusal_in: Callable[[bytes], str]
    headers_of: Callable[[Mapping[str, str], Mapping[str, str]], dict[str, str]]
    """From the parameters of the URL and the environment."""
    service_variable: str


def _pyroscope_headers(parameters: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    tenant = parameters.get("tenant") or environ.get("PYROSCOPE_TENANT_ID", "")
    user, password = (environ.get(f"PYROSCOPE_BASIC_AUTH_{part}", "") for part in ("USER", "PASSWORD"))
    headers = {"Authorization": _basic(user, password)} if user or password else {}
    return {**headers, **({"X-Scope-OrgID": tenant} if tenant else {})}


def _otlp_headers(parameters: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in environ.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(","))
    headers = {name.strip(): unquote(value.strip()) for name, _, value in pairs if name.strip()}
    tenant = parameters.get("tenant", "")
    return {**headers, **({"X-Scope-OrgID": tenant} if tenant else {})}


def _basic(user: str, password: str) -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


_PROTOCOLS = {
    "pyroscope": _Protocol(
        pyroscope.PATH,
        pyroscope.CONTENT_TYPE,
        pyroscope.request_of,
        pyroscope.refusal_in,
        _pyroscope_headers,
        "PYROSCOPE_APPLICATION_NAME",
    ),
    "otlp": _Protocol(
        otlp_http.PATH,
        otlp_http.CONTENT_TYPE,
        otlp_http.request_of,
        otlp_http.refusal_in,
        _otlp_headers,
        "OTEL_SERVICE_NAME",
    ),
}


class ProfileServer:
    """A Pyroscope server, or one that receives OTLP, at a URL such as `pyroscope+http://host:4040`.

    Raises PlaceUnavailable for a URL that names none.
    """

    def __init__(
        self, url: str, environ: Mapping[str, str] = os.environ, timeout_s: float = TIMEOUT_S
    ) -> None:
        self.name = hide_password(url)
        self._timeout_s = timeout_s
        try:
            self._url = urlsplit(url)
            self._port = self._url.port
        except ValueError:
            raise self._unavailable("it is no URL", "write it as pyroscope+http://HOST:PORT") from None
        kind, _, self._scheme = self._url.scheme.partition("+")
        if not self._url.hostname:
            raise self._unavailable("it names no host", f"write it as {kind}+http://HOST:PORT")
        self._protocol = _PROTOCOLS[kind]
        parameters = self._parameters(self._url)
        self._service = parameters.get("service_name") or environ.get(self._protocol.service_variable, "")
        self._headers = self._protocol.headers_of(parameters, environ)
        if self._url.username or self._url.password:
            user, password = (unquote(part or "") for part in (self._url.username, self._url.password))
            self._headers["Authorization"] = _basic(user, password)

    def close(self) -> None:
        """Do nothing: each request has a connection of its own."""

    def send(self, name: str, runs: Sequence[Run]) -> None:
        """Send the runs of a session, which have samples; raises RunsRefused and PlaceUnavailable.

        The server has them then as a whole, unless it answers that it does not.
        """
        status, reason, answer = self._post(self._protocol.request_of(runs, self._service))
        if 200 <= status < 300:
            try:
                refusal = self._protocol.refusal_in(answer)
            except (ValueError, RecursionError):
                refusal = ""  # of a proxy: the status alone says that it was accepted
            if refusal:
                raise RunsRefused(self.name, name, hide_password(_shortened(refusal)))
            return
        detail = f"it answered {status} {reason}".rstrip()
        if said := hide_password(_shortened(_message_in(answer))):
            detail += f": {said}"
        if status in _OF_THE_REQUEST:
            raise RunsRefused(self.name, name, detail)
        raise self._unavailable(detail)

    def _parameters(self, url: SplitResult) -> Mapping[str, str]:
        found = {name: values[-1] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        if unknown := found.keys() - _PARAMETERS:
            known = " and ".join(_PARAMETERS)
            raise self._unavailable(f"it has no parameter {min(unknown)!r}", f"its parameters are {known}")
        return found

    def _post(self, request: bytes) -> tuple[int, str, bytes]:
        """Return status, reason and the beginning of the body of the answer to a request."""
        headers = {
            "Content-Type": self._protocol.content_type,
            "Content-Encoding": "gzip",
            "User-Agent": f"profkit/{VERSION}",
            "Connection": "close",
            **self._headers,
        }
        with self._clear_errors(), self._connected() as connection:
            path = self._url.path.rstrip("/") + self._protocol.path
            with suppress(BrokenPipeError, ConnectionResetError):  # an early answer may be there
                connection.request("POST", path, gzip.compress(request, mtime=0), headers)
            answer = connection.getresponse()
            return answer.status, answer.reason, _beginning(answer)

    @contextmanager
    def _connected(self) -> Iterator[HTTPConnection]:
        """Connect to the server; the connection ends after the time limit, also if it is in use."""
        kind = HTTPSConnection if self._scheme == "https" else HTTPConnection
        connection = kind(self._url.hostname or "", self._port, timeout=self._timeout_s)
        is_late, limit = threading.Event(), None
        try:
            connection.connect()
            # The connection forgets its socket before the body of the answer is read.
            limit = threading.Timer(self._timeout_s, _end, (connection.sock, is_late))
            limit.daemon = True
            limit.start()
            yield connection
            if is_late.is_set():  # a part of the answer can seem to be all of it
                raise TimeoutError
        except (OSError, HTTPException) as error:
            if is_late.is_set() or isinstance(error, TimeoutError):
                raise TimeoutError(f"it has not answered within {self._timeout_s:g} s") from error
            raise
        finally:
            if limit is not None:
                limit.cancel()
            connection.close()

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except ssl.SSLCertVerificationError as error:
            raise self._unavailable(f"its certificate is not accepted: {error.verify_message}") from error
        except ssl.SSLError as error:
            reason = (error.reason or str(error)).replace("_", " ").lower()
            fix = "if it speaks no TLS, write http instead of https"
            raise self._unavailable(f"a connection by TLS fails ({reason})", fix) from error
        except OSError as error:
            raise self._unavailable(error.strerror or str(error)) from error
        except HTTPException as error:
            detail = f"it does not answer as an HTTP server does ({type(error).__name__})"
            raise self._unavailable(detail) from error
        except ValueError:  # its text may have the value of a header
            detail = "its host, user, password or tenant has characters that are not allowed there"
            raise self._unavailable(detail, "correct them") from None

    def _unavailable(self, detail: str, fix: str = "") -> PlaceUnavailable:
        return PlaceUnavailable(self.name, detail, fix)


def _end(connected: socket.socket, is_late: threading.Event) -> None:
    is_late.set()
    with suppress(OSError):
        # Not the method of an SSL socket, which the other thread may be reading.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


def _beginning(answer: HTTPResponse) -> bytes:
    """Return the beginning of a body, as far as it arrives: the status is known by then."""
    try:
        return answer.read(_LARGEST_ANSWER)
    except IncompleteRead as error:
        return error.partial
    except (OSError, HTTPException):
        return b""


def _message_in(answer: bytes) -> str:
    """Return the message in an answer that is JSON, as of Connect, or text; empty if it is neither."""
    try:
        text = answer.decode()
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        text = answer.decode(errors="replace")
        return text if "<" not in text and "\ufffd" not in text and text.isprintable() else ""
    message = parsed.get("message", "") if isinstance(parsed, dict) else ""
    return message if isinstance(message, str) else ""


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}…"
