"""Each look-up in a large store goes by an index: what SQLite and PostgreSQL explain of its queries."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest

from benchmarks.filled_stores import fill
from profkit.store import lookups
from profkit.store.connections import Connection, Database, Row, Value
from profkit.store.database import RUNS, open_database
from tests.integration.postgres_server import new_database
from tests.support.look_ups import LOOK_UPS, newest_window

NUMBER, WINDOWS = 20_000, 500
"""Runs of the store, and windows of a service: enough runs that PostgreSQL prefers an index."""
SCAN = re.compile(rf"Seq Scan on {RUNS}|SCAN {RUNS}$", re.MULTILINE)
"""What the plan of a query has that reads all rows of the table."""


class Explained(Connection):
    """A connection that notes the plan of each query."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.is_server, self.bytewise = connection.is_server, connection.bytewise
        self.plan: list[str] = []

    def execute(self, sql: str, *values: Value) -> list[Row]:
        explain = "EXPLAIN" if self.is_server else "EXPLAIN QUERY PLAN"
        self.plan += [row[-1] for row in self._connection.execute(f"{explain} {sql}", *values)]
        return self._connection.execute(sql, *values)

    def insert(self, *_: object) -> bool:
        raise AssertionError("a look-up changes nothing")

    execute_many = insert  # type: ignore[assignment]


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A store of many runs, with windows and jobs."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('indexes') / 'runs.db'}"
        fill(url, NUMBER, WINDOWS)
    else:
        url = new_database(request.getfixturevalue("postgres"))
        fill(url, NUMBER, WINDOWS)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")  # as a server does by itself
    opened = open_database(url)
    yield opened
    opened.close()


PREFIX_IN_FILE = {"prefix": f"sqlite_autoindex_{RUNS}_1", "job_prefix": f"ix_{RUNS}_job"}
"""Indexes for what a server has another one for, because of collations."""


@pytest.mark.parametrize("name", LOOK_UPS)
def test_a_look_up_goes_by_an_index(database: Database, name: str) -> None:
    index, look_up = LOOK_UPS[name]
    with database.reading() as connection:
        explained = Explained(connection)
        look_up(explained, newest_window(connection))
    plan = "\n".join(explained.plan)
    assert not SCAN.search(plan), plan
    key = f"{RUNS}_pkey" if database.is_shared else f"sqlite_autoindex_{RUNS}_1"
    wanted = f"ix_{RUNS}_{index}" if index else key
    wanted = wanted if database.is_shared else PREFIX_IN_FILE.get(index, wanted)
    assert re.search(rf"\b{wanted}\b", plan), plan


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_documents_of_runs_that_were_sent_are_not_read(database: Database) -> None:
    with database.reading() as connection:
        explained = Explained(connection)
        assert lookups.unsent_ids(explained, "place", "nosuch") == []
    scans = [line for line in explained.plan if line.startswith("SCAN")]
    assert scans == [f"SCAN {RUNS} USING COVERING INDEX ix_{RUNS}_newest"]
