"""URLs of stores: as users write them, and as messages show them, without passwords."""

from __future__ import annotations

import os
import re
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qsl

from profkit.errors import StoreUnavailable
from profkit.process.redaction import HIDDEN, without_secrets

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

_MEMORY = ":memory:"
_URL = re.compile(r"sqlite(?P<driver>\+\w+)?://(?P<host>[^/]*)(?:/(?P<path>.*))?", re.DOTALL)
_QUERY = re.compile(r"\w+=[^/&?]*(&\w+=[^/&?]*)*")
_PASSWORD = re.compile(r"((?://|^(?!.*://))[^:/@]*:).*@")
_POSTGRES = re.compile(r"postgres(?=(\+\w+)?://)")
_TRUE = ("1", "on", "t", "true", "y", "yes")
_BUSY_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class SqlitePlace:
    """The database that an SQLAlchemy URL of SQLite names."""

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


def server_url(text: str) -> URL:
    """Parse the URL of a server; read `postgres://`, as hosting services write it, as `postgresql://`.

    Raises StoreUnavailable.
    """
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(_POSTGRES.sub("postgresql", text, count=1))
    except ArgumentError as error:
        detail = "it is not a database URL such as sqlite:////home/me/runs.db"
        raise StoreUnavailable(hide_password(text), detail) from error
    except ValueError as error:
        raise StoreUnavailable(hide_password(text), "its port is not a number") from error


def hide_password(text: str) -> str:
    """Hide the password of a URL, even of one that cannot be parsed."""
    return without_secrets(_PASSWORD.sub(rf"\1{HIDDEN}@", text))
