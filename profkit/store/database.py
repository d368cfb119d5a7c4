"""Tables of the store in a database, and their migrations; a newer profkit's store is refused.

Names begin with `profkit_`, because a database may have other tables too. Text columns hold values that
SQL can search; a run's document has everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import StoreUnavailable
from profkit.store.connections import Connection, Database, connect

RUN_SCHEMA = "profkit.run/1"
"""Schema of a sampled run's document; `measured` has that of measured runs. Version 1 lacks `imported`."""

APPLIED = "profkit_migrations"
RUNS = "profkit_runs"
PROFILES = "profkit_profiles"
RESOURCES = "profkit_resources"
MEASUREMENTS = "profkit_measurements"
TRACES = "profkit_traces"
TURNS = "profkit_turns"
REMOVED = "profkit_removed"
CONTENTS = "profkit_contents"
SENT = "profkit_sent"
PARTS = (PROFILES, RESOURCES, MEASUREMENTS, TRACES, TURNS)
"""Tables with at most one row per run, named by its column `run`."""


@dataclass(frozen=True, slots=True)
class Migration:
    """Statements that run once per database, in one transaction with other missing ones."""

    name: str
    statements: tuple[str, ...]
    """SQL, in which `BYTES` is the database's type of them."""
    in_file: tuple[str, ...] = ()
    """Statements of SQLite alone, which follow."""
    on_server: tuple[str, ...] = ()
    """Statements of PostgreSQL alone."""


# One row per migration that was applied; a name that is unknown here comes from a newer profkit. The time is
# Unix time, for information.
_APPLIED = f"CREATE TABLE {APPLIED} (name TEXT NOT NULL PRIMARY KEY, applied_ns BIGINT NOT NULL)"

# One row per run: columns for lists and look-ups, and everything else as a document.
#   id          hexadecimal digits; the same on each host and each time that a session is read
#   session     the session that the run is part of, or the batch in which it was measured
#   label       the label of the region or order; characters that SQL cannot hold are escaped
#   started_ns  Unix time of the region's first call, or of the start of measuring; for "newest", "older than"
#   schema      the schema of the document, which also distinguishes sampled and measured runs
#   document    the RunInfo or MeasuredInfo as JSON, in ASCII
_RUNS = (
    f"CREATE TABLE {RUNS} (id TEXT NOT NULL PRIMARY KEY, session TEXT NOT NULL, label TEXT NOT NULL, "
    "started_ns BIGINT NOT NULL, schema TEXT NOT NULL, document TEXT NOT NULL)",
    *(
        f"CREATE INDEX ix_{RUNS}_{column} ON {RUNS} ({column})"
        for column in ("session", "label", "started_ns")
    ),
)


def _part(table: str, *columns: str) -> str:
    contents = ", ".join(f"{column} BYTES NOT NULL" for column in columns)
    return f"CREATE TABLE {table} (run TEXT NOT NULL PRIMARY KEY REFERENCES {RUNS} (id), {contents})"


_NEWEST = "started_ns DESC, id"
"""Order of lists."""

# Contents that no run has any more. A server's writers may not see whether others' runs have them.
_UNUSED = (
    f"DELETE FROM {CONTENTS} WHERE digest = OLD.profile "
    f"AND NOT EXISTS (SELECT 1 FROM {RUNS} WHERE profile = OLD.profile)"
)
_WITH_PROFILE = f"AFTER DELETE ON {RUNS} FOR EACH ROW WHEN (OLD.profile IS NOT NULL)"

MIGRATIONS = (
    Migration(
        "001 tables",
        (
            *_RUNS,
            # The samples of a run, apart so that lists never read them: gzipped pprof. Later profkits
            # write other tables, see below.
            _part(PROFILES, "pprof"),
            # ResourcePoints as compressed JSON: the resource usage of the process while the run was recorded.
            _part(RESOURCES, "points"),
            # The Measurement as compressed JSON. No row if measuring failed.
            _part(MEASUREMENTS, "document"),
            # Runs that a user removed: they are not ingested again if their spool folder still exists.
            f"CREATE TABLE {REMOVED} (run TEXT NOT NULL PRIMARY KEY)",
        ),
    ),
    # Traces of torch.profiler as JSON, and the file about the last call; both compressed. Usually no row.
    Migration("002 traces", (_part(TRACES, "document", "file"),)),
    # Profiles are written as columns, and the order of samples apart.
    Migration("003 columns", (_part(TURNS, "turns"),)),
    Migration(
        "004 look-ups and contents",
        (
            f"CREATE INDEX ix_{RUNS}_newest ON {RUNS} ({_NEWEST})",
            f"CREATE INDEX ix_{RUNS}_label_newest ON {RUNS} (label, {_NEWEST})",
            f"DROP INDEX ix_{RUNS}_started_ns",
            f"DROP INDEX ix_{RUNS}_label",
            # Profiles by the digest of their bytes, once for all runs that have the same. Runs of earlier
            # versions keep theirs in the table of profiles.
            f"CREATE TABLE {CONTENTS} (digest TEXT NOT NULL PRIMARY KEY, data BYTES NOT NULL)",
            f"ALTER TABLE {RUNS} ADD COLUMN profile TEXT REFERENCES {CONTENTS} (digest) "
            "DEFERRABLE INITIALLY DEFERRED",
            f"CREATE INDEX ix_{RUNS}_profile ON {RUNS} (profile)",
        ),
        in_file=(f"CREATE TRIGGER {CONTENTS}_unused {_WITH_PROFILE} BEGIN {_UNUSED}; END",),
        on_server=(
            f'CREATE INDEX ix_{RUNS}_prefix ON {RUNS} (id COLLATE "C")',
            f"CREATE FUNCTION {CONTENTS}_unused() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
            f"SET search_path FROM CURRENT AS $$ BEGIN {_UNUSED}; RETURN NULL; END $$",
            f"CREATE TRIGGER {CONTENTS}_unused {_WITH_PROFILE} EXECUTE FUNCTION {CONTENTS}_unused()",
        ),
    ),
    # The job of a sampled run, empty if it has none: most runs are then not in the index.
    Migration(
        "005 jobs",
        (
            f"ALTER TABLE {RUNS} ADD COLUMN job TEXT NOT NULL DEFAULT ''",
            f"CREATE INDEX ix_{RUNS}_job ON {RUNS} (job, started_ns) WHERE job <> ''",
        ),
    ),
    # The places to which the runs of a file were sent. A run that is replaced by a fuller one is sent again.
    Migration(
        "006 sent",
        (),
        in_file=(
            f"CREATE TABLE {SENT} (run TEXT NOT NULL, place TEXT NOT NULL, PRIMARY KEY (run, place)) "
            "WITHOUT ROWID",
            f"CREATE TRIGGER {SENT}_removed AFTER DELETE ON {RUNS} FOR EACH ROW "
            f"BEGIN DELETE FROM {SENT} WHERE run = OLD.id; END",
        ),
    ),
    # What the windows of one region of one process have in common, and their figures, so that lists can have
    # one row for all; empty and 0 for other runs. Windows that were stored before have rows of their own.
    Migration(
        "007 windows",
        (
            f"ALTER TABLE {RUNS} ADD COLUMN series TEXT NOT NULL DEFAULT ''",
            *(
                f"ALTER TABLE {RUNS} ADD COLUMN {name} BIGINT NOT NULL DEFAULT 0"
                for name in ("calls", "wall_ns", "samples")
            ),
            f"CREATE INDEX ix_{RUNS}_series ON {RUNS} (series, {_NEWEST}, calls, wall_ns, samples) "
            "WHERE series <> ''",
            f"CREATE INDEX ix_{RUNS}_other ON {RUNS} ({_NEWEST}) WHERE series = ''",
            f"CREATE INDEX ix_{RUNS}_label_other ON {RUNS} (label, {_NEWEST}) WHERE series = ''",
            f"CREATE INDEX ix_{RUNS}_job_series ON {RUNS} (job, series, {_NEWEST}) WHERE job <> ''",
        ),
    ),
    # The newest jobs, and those whose names begin with a text, which a server's other indexes are not for.
    Migration(
        "008 jobs by name",
        (f"CREATE INDEX ix_{RUNS}_of_jobs ON {RUNS} (started_ns DESC, job) WHERE job <> ''",),
        on_server=(
            f"CREATE INDEX ix_{RUNS}_job_prefix ON {RUNS} (job COLLATE \"C\", started_ns) WHERE job <> ''",
        ),
    ),
)
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
    if not connection.has_table(APPLIED):
        connection.execute(_APPLIED)
    for migration in missing(connection):
        own = migration.on_server if connection.is_server else migration.in_file
        for statement in (*migration.statements, *own):
            connection.execute(statement.replace("BYTES", connection.blob))
        connection.execute(f"INSERT INTO {APPLIED} VALUES (?, ?)", migration.name, SYSTEM_CLOCK.unix_ns())


def _applied(connection: Connection) -> set[str]:
    if not connection.has_table(APPLIED):
        return set()
    return {name for (name,) in connection.execute(f"SELECT name FROM {APPLIED}")}


def open_database(url: str) -> Database:
    """Connect, create the file of a SQLite database if missing, and migrate; raises StoreUnavailable."""
    database = connect(url)
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
    database = connect(url)
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
    if newer:
        raise _newer(database.name, newer)
    if behind == MIGRATIONS and (table := database.other_table()) is not None:
        raise StoreUnavailable(database.name, f"it is another program's, with a table {table!r}")
    if behind:
        with database.writing() as connection:
            migrate(connection)


def _newer(name: str, steps: tuple[str, ...]) -> StoreUnavailable:
    return StoreUnavailable(
        name, f"a newer profkit has changed it ({', '.join(map(str, steps))}); upgrade profkit"
    )
