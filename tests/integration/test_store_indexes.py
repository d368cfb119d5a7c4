"""Each look-up in a large store goes by an index: what SQLite and PostgreSQL explain of its queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import psycopg
import pytest

from benchmarks.filled_stores import fill
from profkit.store import lookups
from profkit.store.connections import Connection, Database, Row, Value
from profkit.store.database import RUNS, open_database
from tests.integration.postgres_server import new_database

NUMBER, WINDOWS = 20_000, 500
"""Runs of the store, and windows of a service: enough runs that PostgreSQL prefers an index."""
SCAN = re.compile(rf"Seq Scan on {RUNS}|SCAN {RUNS}$", re.MULTILINE)
"""What the plan of a query has that reads all rows of the table."""

LookUp = Callable[[Connection, Row], object]
"""Of a connection and a row of the store."""


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


LOOK_UPS: dict[str, tuple[str, LookUp]] = {
    "newest run": ("newest", lambda connection, _: lookups.matching(connection, None)),
    "id": ("", lambda connection, row: lookups.matching(connection, row[0])),
    "label": ("label_newest", lambda connection, _: lookups.matching(connection, "step-5")),
    "beginning of an id": ("prefix", lambda connection, row: lookups.matching(connection, row[0][:6])),
    "name that no run has": ("label_newest", lambda connection, _: lookups.matching(connection, "nosuch")),
    "ids": ("prefix", lambda connection, row: lookups.ids_beginning(connection, row[0][:3], 5)),
    "page": ("newest", lambda connection, row: lookups.page(connection, None, row, 9)),
    "page of a label": ("label_newest", lambda connection, row: lookups.page(connection, "step-5", row, 9)),
    "number of a label": ("label_newest", lambda connection, _: lookups.count_of_label(connection, "step-5")),
    "latest labels": ("newest", lambda connection, _: lookups.latest_labels(connection)),
    "all labels": ("label_newest", lambda connection, _: lookups.all_labels(connection)),
    "list": ("other", lambda connection, _: lookups.newest_of_each(connection, None, 9, ())),
    "list of a label": (
        "label_other", lambda connection, _: lookups.newest_of_each(connection, "step-5", 9, ())
    ),
    "newest windows": ("series", lambda connection, row: lookups.rows_of_series(connection, row[4], 9)),
    "sums of windows": ("series", lambda connection, row: lookups.sums_of_series(connection, row[4])),
    "newest job": ("of_jobs", lambda connection, _: lookups.job_names(connection, "", 1)),
    "beginning of a job": ("job_prefix", lambda connection, _: lookups.job_names(connection, "job-4", 1)),
    "runs of a job": ("job", lambda connection, _: lookups.rows_of_job(connection, "job-4", 9)),
    "windows of a job": ("job_series", lambda connection, _: lookups.newest_of_job(connection, "job-4")),
    "old runs": ("newest", lambda connection, row: lookups.expired_ids(connection, row[3], 0, 9)),
    "session": ("session", lambda connection, _: lookups.rows_where(connection, "session = ?", "session-4")),
}  # fmt: skip
"""The end of the name of an index that each uses, and the look-up."""
PREFIX_IN_FILE = {"prefix": f"sqlite_autoindex_{RUNS}_1", "job_prefix": f"ix_{RUNS}_job"}
"""Indexes for what a server has another one for, because of collations."""


@pytest.mark.parametrize("name", LOOK_UPS)
def test_a_look_up_goes_by_an_index(database: Database, name: str) -> None:
    index, look_up = LOOK_UPS[name]
    with database.reading() as connection:
        (*_, row) = lookups.rows_where(connection, "series <> ''", limit=20)
        explained = Explained(connection)
        assert look_up(explained, row) is not None
    plan = "\n".join(explained.plan)
    assert not SCAN.search(plan), plan
    key = f"{RUNS}_pkey" if database.is_shared else f"sqlite_autoindex_{RUNS}_1"
    wanted = f"ix_{RUNS}_{index}" if index else key
    wanted = wanted if database.is_shared else PREFIX_IN_FILE.get(index, wanted)
    assert re.search(rf"\b{wanted}\b", plan), plan
