"""Connections to SQLite's files, which are checked for damage, and PostgreSQL's servers: transactions, SQL.

Both take the same SQL, with `?` for parameters.
"""

from __future__ import annotations

import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from profkit.errors import StoreUnavailable
from profkit.store.files import make_file, make_folder, refuse_other_owner
from profkit.store.urls import ServerPlace, SqlitePlace

if TYPE_CHECKING:
    import psycopg

Row = tuple[Any, ...]
"""Values of a row; SQLite accepts values of any type in any column."""
Value = str | int | bytes | None

_WRITE_LOCK = 0x70726F66
"""Key of PostgreSQL's advisory lock: "prof"."""

_CHECKED_BYTES = 256 * 2**20
"""Size of the largest SQLite file that is checked before runs are added, in a quarter of a second."""
_WHOLE = "ok"
"""SQLite's result for a file without damage."""


class Connection(ABC):
    """A connection in a transaction."""

    is_server: bool
    """Whether it is a server's database, not a file."""
    blob: str
    """SQL type of bytes."""
    bytewise: str
    """SQL that has texts compared byte by byte."""
    _has_table: str
    """Query with a row if there is a table with a name."""

    @abstractmethod
    def execute(self, sql: str, *values: Value) -> list[Row]:
        """Execute a statement and return its rows; none if it returns no rows."""

    @abstractmethod
    def insert(self, sql: str, values: Sequence[Value]) -> bool:
        """Execute an insertion of one row, and return whether it was inserted."""

    @abstractmethod
    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """Execute a statement once per row of values."""

    def has_table(self, name: str) -> bool:
        """Return whether there is a table with this name."""
        return bool(self.execute(self._has_table, name))


class Database(ABC):
    """A database; `name` is its URL without the password."""

    is_shared: bool
    """True if other users may write to it: a server's, not a file of this user."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """Begin a transaction for reading; raises StoreUnavailable for any error in it."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Connection]:
        """Begin a transaction as the only writer; others wait. Raises StoreUnavailable as `reading` does."""

    def adding(self) -> AbstractContextManager[Connection]:
        """Begin a transaction that only adds rows; writers wait, but others may add theirs at once."""
        return self.writing()

    @abstractmethod
    def check_file(self) -> None:
        """Raise StoreUnavailable if the database is a damaged file."""

    @abstractmethod
    def other_table(self) -> str | None:
        """Return the name of a table if the database is a file that has some; None for a server's."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections."""


def connect(url: str) -> Database:
    """Return the database of a URL; create the file of a SQLite database if missing."""
    place = SqlitePlace.of(url)
    return SqliteDatabase(place, url) if place is not None else ServerDatabase(ServerPlace.of(url))


class SqliteConnection(Connection):
    """A connection of Python's own SQLite module."""

    is_server = False
    blob, bytewise = "BLOB", "COLLATE BINARY"
    _has_table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, *values: Value) -> list[Row]:
        """Execute a statement and return its rows."""
        return self._connection.execute(sql, values).fetchall()

    def insert(self, sql: str, values: Sequence[Value]) -> bool:
        """Execute an insertion of one row, and return whether it was inserted."""
        return self._connection.execute(sql, values).rowcount == 1

    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """Execute a statement once per row of values."""
        self._connection.executemany(sql, rows)


class SqliteDatabase(Database):
    """A SQLite file, with one connection, which is made when it is first needed."""

    is_shared = False

    def __init__(self, place: SqlitePlace, name: str) -> None:
        super().__init__(name)
        self._place = place
        self._opened: sqlite3.Connection | None = None
        self._checked = False
        if place.file is not None:
            try:
                if not os.path.exists(place.file):  # else it may be another user's, and is only read
                    make_folder(Path(place.file).parent)
                    make_file(Path(place.file))
            except (OSError, ValueError) as error:
                raise StoreUnavailable(name, str(error)) from error

    def reading(self) -> AbstractContextManager[Connection]:
        """Begin a transaction, which takes no lock."""
        return self._transaction("BEGIN")

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Begin a transaction that holds the write lock."""
        refuse_other_owner(Path(self._place.path), self.name)
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def check_file(self) -> None:
        """Raise StoreUnavailable if the file is damaged; SQLite may write to it even then.

        A file of more than `_CHECKED_BYTES` is not checked, and no file is checked twice.
        """
        if self._checked:
            return
        with self.reading() as connection:
            pages, size = (connection.execute(f"PRAGMA {name}")[0][0] for name in ("page_count", "page_size"))
            damage = _WHOLE
            if pages * size <= _CHECKED_BYTES:
                damage = str(connection.execute("PRAGMA quick_check(1)")[0][0])
        if damage != _WHOLE:
            raise StoreUnavailable(self.name, f"database disk image is malformed: {damage.splitlines()[-1]}")
        self._checked = True

    def other_table(self) -> str | None:
        """Return the name of the first table, if there is one."""
        with self.reading() as connection:
            rows = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' "
                "AND name NOT LIKE 'sqlite/_%' ESCAPE '/' ORDER BY name"
            )
        return rows[0][0] if rows else None

    def close(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        try:
            connection = self._connection()
            try:
                connection.execute(begin)
                yield SqliteConnection(connection)
                connection.commit()
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.rollback()
                raise
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            raise StoreUnavailable(self.name, " ".join(str(error).split())) from error

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            self._opened = self._place.connect()
        return self._opened


class ServerConnection(Connection):
    """A connection to PostgreSQL."""

    is_server = True
    blob, bytewise = "BYTEA", 'COLLATE "C"'
    # A query of the catalog sees tables that others have made while this transaction waited for the lock.
    _has_table = "SELECT 1 FROM pg_catalog.pg_class WHERE relname = ? AND pg_table_is_visible(oid)"

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, *values: Value) -> list[Row]:
        """Execute a statement and return its rows."""
        cursor = self._connection.execute(_for_server(sql), values)
        return cursor.fetchall() if cursor.description else []

    def insert(self, sql: str, values: Sequence[Value]) -> bool:
        """Execute an insertion of one row, and return whether it was inserted."""
        return self._connection.execute(_for_server(sql), values).rowcount == 1

    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """Execute a statement once per row of values."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_for_server(sql), rows)


def _for_server(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()


class ServerDatabase(Database):
    """A PostgreSQL database, with one connection, which is made again if it was lost."""

    is_shared = True

    def __init__(self, place: ServerPlace) -> None:
        super().__init__(place.name)
        self._place = place
        self._opened: psycopg.Connection | None = None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Begin a transaction, which takes no lock."""
        with self._place.clear_errors():
            if self._opened is None or self._opened.closed:
                self._opened = self._place.connect()
            with self._opened.transaction():
                yield ServerConnection(self._opened)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Begin a transaction that holds the write lock."""
        with self.reading() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(?)", _WRITE_LOCK)
            yield connection

    @contextmanager
    def adding(self) -> Iterator[Connection]:
        """Begin a transaction that shares the write lock with others that only add rows."""
        with self.reading() as connection:
            connection.execute("SELECT pg_advisory_xact_lock_shared(?)", _WRITE_LOCK)
            yield connection

    def check_file(self) -> None:
        """Do nothing: the server checks its files."""

    def other_table(self) -> None:
        """Return None: the database may have tables of other programs."""

    def close(self) -> None:
        """Close the connection."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
