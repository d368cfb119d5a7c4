"""How a database comes to have the tables of `schema`: named steps, recorded, only ever added to.

A step is history: it says what it does by itself, whatever `schema` says by now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    LargeBinary,
    MetaData,
    Table,
    Text,
    insert,
    inspect,
    select,
)

from profkit.clock import SYSTEM_CLOCK
from profkit.store.schema import MIGRATIONS as APPLIED


@dataclass(frozen=True, slots=True)
class Migration:
    """A step; `apply` runs once per database, in a transaction with the steps beside it."""

    name: str
    apply: Callable[[Connection], None]


def _runs_and_profiles(connection: Connection) -> None:
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
    for name, content in (("profkit_profiles", "pprof"), ("profkit_resources", "points")):
        Table(
            name,
            tables,
            Column("run", Text, ForeignKey("profkit_runs.id"), primary_key=True),
            Column(content, LargeBinary, nullable=False),
        )
    Table("profkit_removed", tables, Column("run", Text, primary_key=True))
    tables.create_all(connection, checkfirst=False)


def _measurements(connection: Connection) -> None:
    tables = MetaData()
    Table("profkit_runs", tables, Column("id", Text, primary_key=True))
    Table(
        "profkit_measurements",
        tables,
        Column("run", Text, ForeignKey("profkit_runs.id"), primary_key=True),
        Column("document", LargeBinary, nullable=False),
    ).create(connection)


MIGRATIONS = (
    Migration("001 runs and profiles", _runs_and_profiles),
    Migration("002 measurements", _measurements),
)
"""In the order in which they are applied. Add to the end; change none."""


def missing(connection: Connection) -> tuple[Migration, ...]:
    """The steps that a database lacks."""
    applied = _applied(connection)
    return tuple(migration for migration in MIGRATIONS if migration.name not in applied)


def unknown(connection: Connection) -> tuple[str, ...]:
    """The names of steps that a newer profkit took: this one must leave the database alone."""
    return tuple(sorted(_applied(connection) - {migration.name for migration in MIGRATIONS}))


def migrate(connection: Connection) -> None:
    """Apply what is missing; the connection holds the store's write lock."""
    APPLIED.create(connection, checkfirst=True)
    for migration in missing(connection):
        migration.apply(connection)
        connection.execute(insert(APPLIED).values(name=migration.name, applied_ns=SYSTEM_CLOCK.unix_ns()))


def _applied(connection: Connection) -> set[str]:
    if not inspect(connection).has_table(APPLIED.name):
        return set()
    return set(connection.scalars(select(APPLIED.c.name)))
