"""URLs of stores: as users write them, and as messages show them, without passwords."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qsl

from profkit.errors import StoreUnavailable
from profkit.process.redaction import HIDDEN, without_secrets

if TYPE_CHECKING:
    import psycopg

_MEMORY = ":memory:"
_URL = re.compile(r"sqlite(?P<driver>\+\w+)?://(?P<host>[^/]*)(?:/(?P<path>.*))?", re.DOTALL)
_QUERY = re.compile(r"\w+=[^/&?]*(&\w+=[^/&?]*)*")
_PASSWORD = re.compile(r"((?://|^(?!.*://))[^:/@]*:).*@")
_SCHEME = re.compile(r"(?P<backend>\w+)(\+(?P<driver>\w+))?(?=://)")
_POSTGRES = ("postgresql", "postgres")
_DRIVER = "psycopg"
_CONNECT_TIMEOUT_S = 10
_TRUE = ("1", "on", "t", "true", "y", "yes")
_BUSY_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class SqlitePlace:
    """The database that a URL of SQLite names."""

    path: str
    """Its path is literal: `%20` may be part of it, and `?` unless options follow."""
    is_uri: bool = False
    """Whether the path is a URI of SQLite, as for `mode=ro`."""
    timeout_s: float = _BUSY_TIMEOUT_S

    @classmethod
    def of(cls, text: str) -> Self | None:
        """Parse a URL; None if it is of another database. Raises StoreUnavailable."""
        found = _URL.fullmatch(text)
        if found is None:
            return None
        if found["driver"] not in (None, "+pysqlite"):
            raise StoreUnavailable(text, "only Python's own SQLite driver is supported; write sqlite:///PATH")
        if found["host"]:
            raise StoreUnavailable(text, "Invalid SQLite URL; write sqlite:///PATH")
        path, _, query = (found["path"] or _MEMORY).partition("?")
        if not _QUERY.fullmatch(query):
            return cls(found["path"] or _MEMORY)
        options = dict(parse_qsl(query, keep_blank_values=True))
        is_uri = options.pop("uri", "").lower() in _TRUE
        try:
            timeout_s = float(options.pop("timeout", _BUSY_TIMEOUT_S))
        except ValueError as error:
            raise StoreUnavailable(text, "its timeout is not a number of seconds") from error
        passed_on = "&".join(f"{name}={value}" for name, value in sorted(options.items())) if is_uri else ""
        return cls(f"{path}?{passed_on}" if passed_on else path, is_uri, timeout_s)

    @property
    def file(self) -> str | None:
        """The path of the file; None if it has none, or SQLite finds it by a URI."""
        return None if self.path.startswith((_MEMORY, "file:")) else self.path

    def connect(self) -> sqlite3.Connection:
        """Connect to the database, without the implicit transactions of Python's module."""
        path = self.path if self.is_uri or self.path == _MEMORY else os.path.abspath(self.path)
        # Implicit transactions begin too late for DDL and for the write lock.
        connection = sqlite3.connect(
            path, timeout=self.timeout_s, isolation_level=None, check_same_thread=False, uri=self.is_uri
        )
        # A damaged byte in a text makes one run unreadable, not all of them.
        connection.text_factory = _text
        connection.execute("PRAGMA foreign_keys = ON")
        # Free the space of removed rows; this can be set only while a file is empty, and takes a lock.
        if connection.execute("PRAGMA page_count").fetchone() == (0,):
            connection.execute("PRAGMA auto_vacuum = FULL")
        return connection


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """The database that a URL of PostgreSQL names; libpq reads the URL."""

    url: str

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a URL, also with `postgres://`, as hosting services write it. Raises StoreUnavailable."""
        scheme = _SCHEME.match(text)
        if scheme is None:
            detail = "it is not a database URL such as sqlite:////home/me/runs.db"
            raise StoreUnavailable(hide_password(text), detail)
        if scheme["backend"] not in _POSTGRES:
            detail = f"only sqlite and postgresql are supported, not {scheme['backend']!r}"
            raise StoreUnavailable(hide_password(text), detail)
        if scheme["driver"] not in (None, _DRIVER):
            detail = f"only the driver {_DRIVER} is supported, not {scheme['driver']}; write postgresql://…"
            raise StoreUnavailable(hide_password(text), detail)
        place = cls(_SCHEME.sub("postgresql", text, count=1))
        place._check()
        return place

    @property
    def name(self) -> str:
        """The URL without its password."""
        return hide_password(self.url)

    def connect(self) -> psycopg.Connection:
        """Connect to the server; transactions begin when they are asked for."""
        import psycopg

        return psycopg.connect(self.url, autocommit=True, connect_timeout=_CONNECT_TIMEOUT_S)

    @contextmanager
    def clear_errors(self) -> Iterator[None]:
        """Raise StoreUnavailable for errors of the database, and of values that it cannot keep."""
        import psycopg

        try:
            yield
        except (psycopg.Error, UnicodeError, OverflowError) as error:
            raise StoreUnavailable(self.name, " ".join(str(error).split())) from error

    def _check(self) -> None:
        try:
            from psycopg import ProgrammingError
            from psycopg.conninfo import conninfo_to_dict
        except ImportError as error:
            detail = f"{error}; install the driver with `pip install 'profkit[postgres]'`"
            raise StoreUnavailable(self.name, detail) from error
        try:
            found = conninfo_to_dict(self.url)
        except (ProgrammingError, UnicodeError) as error:  # the message may have the whole URL
            raise StoreUnavailable(self.name, hide_password(" ".join(str(error).split()))) from error
        if "@" in str(found.get("host", "")):
            raise StoreUnavailable(self.name, "its password contains an @; write it as %40")
        if not str(found.get("port", "0")).isdecimal():
            raise StoreUnavailable(self.name, "its port is not a number")


def hide_password(text: str) -> str:
    """Hide the password of a URL, even of one that cannot be parsed."""
    return without_secrets(_PASSWORD.sub(rf"\1{HIDDEN}@", text))
