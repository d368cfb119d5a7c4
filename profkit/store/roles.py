"""Roles of a PostgreSQL database: an owner, writers that see their own runs alone, and readers.

Row-level security does it. A row of the table of runs has the user who has written it, and rows of other
tables belong to their runs. All writers see the ids of removed runs, so that nobody stores these again.
"""

from __future__ import annotations

from collections.abc import Iterator

from profkit.errors import UsageError
from profkit.store.database import APPLIED, CONTENTS, PARTS, REMOVED, RUNS, open_database

OWNER, WRITER, READER = ROLES = ("profkit_owner", "profkit_writer", "profkit_reader")

_OWN_RUN = f"EXISTS (SELECT 1 FROM {RUNS} WHERE id = run)"
_OWN_CONTENT = f"EXISTS (SELECT 1 FROM {RUNS} WHERE profile = digest)"
_TRUE_DIGEST = "digest = encode(sha256(data), 'hex')"
"""Else a writer could spoil the profiles that others store later."""
_WRITES = {
    RUNS: {"ALL": "writer = current_user"},
    **{table: {"ALL": _OWN_RUN} for table in PARTS},
    REMOVED: {"SELECT": "true", "INSERT": _OWN_RUN, "DELETE": _OWN_RUN},
    CONTENTS: {"SELECT": _OWN_CONTENT, "INSERT": _TRUE_DIGEST},
}
"""By table, the commands that writers may execute, and on which rows."""


def make_roles(url: str) -> str:
    """Make the roles, or bring them up to date, and return the store's name.

    Raises UsageError if the store is a file, and StoreUnavailable.
    """
    database = open_database(url)
    try:
        if not database.is_shared:
            raise UsageError(
                "only a server has roles", "set PROFKIT_STORE to the URL of a PostgreSQL database"
            )
        with database.writing() as connection:
            ((schema,),) = connection.execute("SELECT quote_ident(current_schema())")
            known = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
            for role in ROLES:
                if role not in known:
                    connection.execute(f"CREATE ROLE {role} NOLOGIN")
            for statement in _statements(schema):
                connection.execute(statement)
    finally:
        database.close()
    return database.name


def _statements(schema: str) -> Iterator[str]:
    yield f"GRANT {OWNER} TO current_user"
    yield f"GRANT CREATE, USAGE ON SCHEMA {schema} TO {OWNER}"
    yield f"GRANT USAGE ON SCHEMA {schema} TO {WRITER}, {READER}"
    yield f"ALTER TABLE {RUNS} ADD COLUMN IF NOT EXISTS writer TEXT NOT NULL DEFAULT current_user"
    for table in (APPLIED, *_WRITES):
        yield f"ALTER TABLE {table} OWNER TO {OWNER}"
        yield f"GRANT SELECT ON {table} TO {WRITER}, {READER}"
    yield f"ALTER FUNCTION {CONTENTS}_unused() OWNER TO {OWNER}"
    for table, rules in _WRITES.items():
        yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
        yield from _policy(f"{READER}_select", table, READER, "SELECT", "true")
        for command, rows in rules.items():
            granted = "SELECT, INSERT, DELETE" if command == "ALL" else command
            yield f"GRANT {granted} ON {table} TO {WRITER}"
            yield from _policy(f"{WRITER}_{command.lower()}", table, WRITER, command, rows)


def _policy(name: str, table: str, role: str, command: str, rows: str) -> Iterator[str]:
    check = "WITH CHECK" if command == "INSERT" else "USING"
    yield f"DROP POLICY IF EXISTS {name} ON {table}"
    yield f"CREATE POLICY {name} ON {table} FOR {command} TO {role} {check} ({rows})"
