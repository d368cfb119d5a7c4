"""The connection to the store's database, SQLite or PostgreSQL: opening, transactions, clear errors."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from profkit.errors import StoreUnavailable
from profkit.process.redaction import HIDDEN, without_secrets
from profkit.store.file_modes import make_file
from profkit.store.home import make_folder
from profkit.store.migrations import migrate, missing, unknown

_BUSY_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 10
_WRITE_LOCK = 0x70726F66
"""The key of PostgreSQL's advisory lock: "prof"."""

_CHECKED_BYTES = 256 * 2**20
"""Size of the largest SQLite file that is checked before runs are added: that takes a quarter of a second."""
_SIZE = ("page_count", "page_size")
_WHOLE = "ok"
"""What SQLite says of a file without damage."""

_SQLITE = "sqlite:///"
_QUERY = re.compile(r"\?\w+=[^/&?]*(&\w+=[^/&?]*)*")
_PASSWORD = re.compile(r"((?://|^(?!.*://))[^:/@]*:).*@")
_POSTGRES = re.compile(r"postgres(?=(\+\w+)?://)")


class Database:
    """A database with the tables of `schema`; `name` is its URL without the password."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._checked = engine, False
        self.name = _shown_url(engine.url)

    @property
    def is_shared(self) -> bool:
        """Whether other people may write it: a server's, not a file of this user."""
        return self._engine.dialect.name != "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that changes nothing; raises StoreUnavailable for whatever the database refuses."""
        with _clear_errors(self.name), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction of the only writer: others wait. Raises StoreUnavailable as `reading` does."""
        engine = self._engine.execution_options(begin="BEGIN IMMEDIATE")
        with _clear_errors(self.name), engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(_WRITE_LOCK)))
            yield connection

    def check_file(self) -> None:
        """Raise StoreUnavailable if a SQLite file is damaged: SQLite may write to it even then.

        A file of more than `_CHECKED_BYTES` is not checked, and no file twice.
        """
        if self._checked or self.is_shared:
            return
        with self.reading() as connection:
            pages, size = (connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in _SIZE)
            damage = _WHOLE
            if pages * size <= _CHECKED_BYTES:
                damage = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
        if damage != _WHOLE:
            raise StoreUnavailable(self.name, f"database disk image is malformed: {damage.splitlines()[-1]}")
        self._checked = True

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def open_database(url: str) -> Database:
    """Connect, make the file of a SQLite database if need be, and migrate; raises StoreUnavailable."""
    database = Database(_engine(url))
    try:
        _bring_up_to_date(database)
    except BaseException:
        database.close()
        raise
    return database


def _bring_up_to_date(database: Database) -> None:
    # Looking first lets a store that is up to date be read where it cannot be written.
    with database.reading() as connection:
        newer, behind = unknown(connection), missing(connection)
    if newer:
        steps = ", ".join(newer)
        raise StoreUnavailable(database.name, f"a newer profkit has changed it ({steps}); upgrade profkit")
    if behind:
        with database.writing() as connection:
            migrate(connection)


def _engine(text: str) -> Engine:
    url = _parse_url(text)
    name = _shown_url(url)
    with _clear_errors(name):
        match url.get_backend_name():
            case "sqlite":
                return _sqlite(url, name)
            case "postgresql":
                return _postgresql(url, name)
            case other:
                raise StoreUnavailable(name, f"runs are kept in sqlite or postgresql, not in {other!r}")


def _parse_url(text: str) -> URL:
    """Parse a store's URL; `postgres://`, as hosting services write it, is `postgresql://`.

    The path of a SQLite database is taken as it is on disk: `?` and `%20` may be part of it. Raises
    StoreUnavailable.
    """
    text = _POSTGRES.sub("postgresql", text, count=1)
    path, mark, query = text.removeprefix(_SQLITE).partition("?")
    if text.startswith(_SQLITE) and not _QUERY.fullmatch(mark + query):
        return URL.create("sqlite", database=path + mark + query)
    try:
        return make_url(text)
    except ArgumentError as error:
        detail = "it is no database URL such as sqlite:////home/me/runs.db"
        raise StoreUnavailable(_hide_password(text), detail) from error
    except ValueError as error:
        raise StoreUnavailable(_hide_password(text), "its port is no number") from error


def _shown_url(url: URL) -> str:
    """Write a URL for people: without its password, and with a path as it is on disk."""
    if url.get_backend_name() == "sqlite":
        query = "&".join(f"{name}={value}" for name, value in url.query.items())
        return f"{url.drivername}:///{url.database or ''}" + (f"?{query}" if query else "")
    return _hide_password(url.render_as_string(hide_password=True))


def _hide_password(text: str) -> str:
    """Hide the password of a URL, also in one that cannot be parsed."""
    return without_secrets(_PASSWORD.sub(rf"\1{HIDDEN}@", text))


def _sqlite(url: URL, name: str) -> Engine:
    if url.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise StoreUnavailable(name, "SQLite is read by Python's own driver; write sqlite:///PATH")
    if url.database and not url.database.startswith((":memory:", "file:")):
        try:
            make_folder(Path(url.database).parent)
            make_file(Path(url.database))
        except (OSError, ValueError) as error:
            raise StoreUnavailable(name, str(error)) from error
    engine = create_engine(url, connect_args={"timeout": _BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # sqlite3 would begin transactions by itself, but too late for DDL and for the write lock.
    connection.isolation_level = None
    # A damaged byte in a text makes one run unreadable, not all of them.
    connection.text_factory = _text
    connection.execute("PRAGMA foreign_keys = ON")
    # What is removed gives its space back. Only an empty file can be told so, and telling takes a lock.
    if connection.execute("PRAGMA page_count").fetchone() == (0,):
        connection.execute("PRAGMA auto_vacuum = FULL")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def _postgresql(url: URL, name: str) -> Engine:
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if "@" in (url.host or ""):
        raise StoreUnavailable(name, "its password has an @, which is written %40 in a URL")
    try:
        return create_engine(url, connect_args={"connect_timeout": _CONNECT_TIMEOUT_S})
    except ImportError as error:
        detail = f"{error}; pip install 'profkit[postgres]' brings the driver psycopg"
        raise StoreUnavailable(name, detail) from error


@contextmanager
def _clear_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, UnicodeError, OverflowError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise StoreUnavailable(name, " ".join(str(cause).split())) from error
