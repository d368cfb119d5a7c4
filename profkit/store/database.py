"""Database of the store, SQLite or PostgreSQL: tables, migrations, transactions, clear errors.

Names begin with `profkit_`, because a database may have other tables too. Text columns hold values that
SQL can search; a run's document has everything.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    Engine,
    ForeignKey,
    LargeBinary,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    func,
    insert,
    inspect,
    select,
)
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import StoreUnavailable
from profkit.store.files import make_file, make_folder, refuse_other_owner
from profkit.store.urls import parse_url, shown_url

METADATA = MetaData()

RUN_SCHEMA = "profkit.run/1"
"""Schema of a sampled run's document; `measured` has that of measured runs. Version 1 lacks `imported`."""

# One row per migration that was applied.
APPLIED = Table(
    "profkit_migrations",
    METADATA,
    # As in `MIGRATIONS`; a name that is unknown there comes from a newer profkit.
    Column("name", Text, primary_key=True),
    # Unix time, for information.
    Column("applied_ns", BigInteger, nullable=False),
)

# One row per run: columns for lists and look-ups, and everything else as a document.
RUNS = Table(
    "profkit_runs",
    METADATA,
    # Hexadecimal digits; the same on each host and each time that a session is read.
    Column("id", Text, primary_key=True),
    # The session that the run is part of, or the batch in which it was measured.
    Column("session", Text, nullable=False, index=True),
    # The label of the region or order; characters that SQL cannot hold are escaped.
    Column("label", Text, nullable=False, index=True),
    # Unix time of the region's first call, or of the start of measuring; "newest" and "older than" use it.
    Column("started_ns", BigInteger, nullable=False, index=True),
    # The schema of the document, which also distinguishes sampled and measured runs.
    Column("schema", Text, nullable=False),
    # The RunInfo or MeasuredInfo as JSON, in ASCII.
    Column("document", Text, nullable=False),
)

# The samples of a run, in a separate table so that lists never read them. No row if there are none.
PROFILES = Table(
    "profkit_profiles",
    METADATA,
    Column("run", Text, ForeignKey(RUNS.c.id), primary_key=True),
    # Gzipped pprof, as `formats.pprof` writes it.
    Column("pprof", LargeBinary, nullable=False),
)

# Resource usage of the process while the run was recorded. No row if none was measured.
RESOURCES = Table(
    "profkit_resources",
    METADATA,
    Column("run", Text, ForeignKey(RUNS.c.id), primary_key=True),
    # A JSON array of ResourcePoints in the schema of the run's document, compressed by zlib.
    Column("points", LargeBinary, nullable=False),
)

# Measurements, in a separate table like samples. No row if measuring failed.
MEASUREMENTS = Table(
    "profkit_measurements",
    METADATA,
    Column("run", Text, ForeignKey(RUNS.c.id), primary_key=True),
    # The Measurement as JSON in the schema of the run's document, compressed by zlib.
    Column("document", LargeBinary, nullable=False),
)

# Traces of torch.profiler as JSON, and the file about the last call; both compressed. Usually no row.
TRACES = Table(
    "profkit_traces",
    METADATA,
    Column("run", Text, ForeignKey(RUNS.c.id), primary_key=True),
    Column("document", LargeBinary, nullable=False),
    Column("file", LargeBinary, nullable=False),
)

# Runs that a user removed: they are not ingested again if their spool folder still exists.
REMOVED = Table(
    "profkit_removed",
    METADATA,
    Column("run", Text, primary_key=True),
)


@dataclass(frozen=True, slots=True)
class Migration:
    """Migration; `apply` runs once per database, in one transaction with other missing ones."""

    name: str
    apply: Callable[[Connection], None]


def _first_tables(connection: Connection) -> None:
    tables = MetaData()
    Table(
        "profkit_runs",
        tables,
        Column("id", Text, primary_key=True),
        Column("session", Text, nullable=False, index=True),
        Column("label", Text, nullable=False, index=True),
        Column("started_ns", BigInteger, nullable=False, index=True),
        Column("schema", Text, nullable=False),
        Column("document", Text, nullable=False),
    )
    for name, content in (("profiles", "pprof"), ("resources", "points"), ("measurements", "document")):
        _part_of_runs(name, tables, content)
    Table("profkit_removed", tables, Column("run", Text, primary_key=True))
    tables.create_all(connection, checkfirst=False)


def _traces(connection: Connection) -> None:
    tables = MetaData()
    Table("profkit_runs", tables, Column("id", Text, primary_key=True))
    _part_of_runs("traces", tables, "document", "file").create(connection)


def _part_of_runs(name: str, tables: MetaData, *contents: str) -> Table:
    run = Column("run", Text, ForeignKey("profkit_runs.id"), primary_key=True)
    columns = (Column(one, LargeBinary, nullable=False) for one in contents)
    return Table(f"profkit_{name}", tables, run, *columns)


MIGRATIONS = (Migration("001 tables", _first_tables), Migration("002 traces", _traces))
"""Migrations in the order in which they are applied. Only append to them."""


def missing(connection: Connection) -> tuple[Migration, ...]:
    """Return the migrations that a database lacks."""
    applied = _applied(connection)
    return tuple(migration for migration in MIGRATIONS if migration.name not in applied)


def unknown(connection: Connection) -> tuple[str, ...]:
    """Return the names of a newer profkit's migrations; if any, this one must not use the database."""
    return tuple(sorted(_applied(connection) - {migration.name for migration in MIGRATIONS}))


def migrate(connection: Connection) -> None:
    """Apply missing migrations; the connection must hold the store's write lock."""
    APPLIED.create(connection, checkfirst=True)
    for migration in missing(connection):
        migration.apply(connection)
        connection.execute(insert(APPLIED).values(name=migration.name, applied_ns=SYSTEM_CLOCK.unix_ns()))


def _applied(connection: Connection) -> set[str]:
    if not inspect(connection).has_table(APPLIED.name):
        return set()
    return set(connection.scalars(select(APPLIED.c.name)))


_BUSY_TIMEOUT_S = 30.0
_CONNECT_TIMEOUT_S = 10
_WRITE_LOCK = 0x70726F66
"""Key of PostgreSQL's advisory lock: "prof"."""

_CHECKED_BYTES = 256 * 2**20
"""Size of the largest SQLite file that is checked before runs are added, in a quarter of a second."""
_SIZE = ("page_count", "page_size")
_WHOLE = "ok"
"""SQLite's result for a file without damage."""


class Database:
    """Database with the tables of this module; `name` is its URL without the password."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._checked = engine, False
        self.name = shown_url(engine.url)

    @property
    def is_shared(self) -> bool:
        """True if other users may write to it: a server's, not a file of this user."""
        return self._engine.dialect.name != "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection in a transaction for reading; raises StoreUnavailable for any error in it."""
        with _clear_errors(self.name), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a connection as the only writer; others wait. Raises StoreUnavailable as `reading` does."""
        if not self.is_shared:
            refuse_other_owner(Path(self._engine.url.database or ""), self.name)
        engine = self._engine.execution_options(begin="BEGIN IMMEDIATE")
        with _clear_errors(self.name), engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(_WRITE_LOCK)))
            yield connection

    def check_file(self) -> None:
        """Raise StoreUnavailable if a SQLite file is damaged; SQLite may write to it even then.

        A file of more than `_CHECKED_BYTES` is not checked, and no file is checked twice.
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
    """Connect, create the file of a SQLite database if missing, and migrate; raises StoreUnavailable."""
    database = Database(_engine(url))
    try:
        _bring_up_to_date(database)
    except BaseException:
        database.close()
        raise
    return database


@dataclass(frozen=True, slots=True)
class SchemaState:
    """Migrations of a database; `name` is its URL without the password."""

    name: str
    applied: tuple[str, ...]
    missing: tuple[str, ...]
    """Migrations that the next command applies; all of them if the database has no tables yet."""


def inspect_database(url: str) -> SchemaState:
    """Return the state of an existing database; no migration is applied.

    Raises StoreUnavailable, also if it cannot be written or is a newer profkit's.
    """
    database = Database(_engine(url))
    try:
        with database.writing() as connection:
            newer, behind, applied = unknown(connection), missing(connection), _applied(connection)
    finally:
        database.close()
    if newer:
        raise _newer(database.name, newer)
    return SchemaState(database.name, tuple(sorted(applied)), tuple(step.name for step in behind))


def _bring_up_to_date(database: Database) -> None:
    # Check first, so that a current store can be read even if it cannot be written.
    with database.reading() as connection:
        newer, behind = unknown(connection), missing(connection)
        others = inspect(connection).get_table_names() if behind == MIGRATIONS else []
    if newer:
        raise _newer(database.name, newer)
    if others and not database.is_shared:
        raise StoreUnavailable(database.name, f"it is another program's, with a table {others[0]!r}")
    if behind:
        with database.writing() as connection:
            migrate(connection)


def _newer(name: str, steps: tuple[str, ...]) -> StoreUnavailable:
    return StoreUnavailable(name, f"a newer profkit has changed it ({', '.join(steps)}); upgrade profkit")


def _engine(text: str) -> Engine:
    url = parse_url(text)
    name = shown_url(url)
    with _clear_errors(name):
        match url.get_backend_name():
            case "sqlite":
                return _sqlite(url, name)
            case "postgresql":
                return _postgresql(url, name)
            case other:
                raise StoreUnavailable(name, f"only sqlite and postgresql are supported, not {other!r}")


def _sqlite(url: URL, name: str) -> Engine:
    if url.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise StoreUnavailable(name, "only Python's own SQLite driver is supported; write sqlite:///PATH")
    if url.database and not url.database.startswith((":memory:", "file:")):
        try:
            if not os.path.exists(url.database):  # else it may be another user's, and is only read
                make_folder(Path(url.database).parent)
                make_file(Path(url.database))
        except (OSError, ValueError) as error:
            raise StoreUnavailable(name, str(error)) from error
    engine = create_engine(url, connect_args={"timeout": _BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # sqlite3's implicit transactions begin too late for DDL and for the write lock.
    connection.isolation_level = None
    # A damaged byte in a text makes one run unreadable, not all of them.
    connection.text_factory = _text
    connection.execute("PRAGMA foreign_keys = ON")
    # Free the space of removed rows. This can be set only while a file is empty, and setting it takes a lock.
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
        raise StoreUnavailable(name, "its password contains an @; write it as %40")
    try:
        return create_engine(url, connect_args={"connect_timeout": _CONNECT_TIMEOUT_S})
    except ImportError as error:
        detail = f"{error}; install the driver with `pip install 'profkit[postgres]'`"
        raise StoreUnavailable(name, detail) from error


@contextmanager
def _clear_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, UnicodeError, OverflowError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise StoreUnavailable(name, " ".join(str(cause).split())) from error
