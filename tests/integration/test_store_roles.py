"""Roles of a store in PostgreSQL: writers neither read nor remove runs of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import psycopg
import pytest

from profkit.errors import RunNotFound, StoreUnavailable, UsageError
from profkit.model.measurement import AnyRun
from profkit.model.profile import ProfileBuilder
from profkit.store.database import PARTS
from profkit.store.roles import make_roles
from profkit.store.runs import open_store
from tests.integration.postgres_server import new_database
from tests.integration.store_suite import ids, measured_of, run_of

pytestmark = pytest.mark.postgres
USERS = {"ann": "profkit_writer", "bob": "profkit_writer", "ray": "profkit_reader", "olga": "profkit_owner"}

UrlOf = Callable[[str], str]


@pytest.fixture
def url_of(postgres: str) -> UrlOf:
    """The URL of a database with roles, by user; one run is older than the roles."""
    url = new_database(postgres)
    with open_store(url) as store:
        store.add([run_of("01d0")])
    make_roles(url)
    with psycopg.connect(postgres, autocommit=True) as connection:
        for user, role in USERS.items():
            if not connection.execute("select 1 from pg_roles where rolname = %s", (user,)).fetchall():
                connection.execute(f"create role {user} login".encode())
                connection.execute(f"grant {role} to {user}".encode())
    return lambda user: url.replace("postgres@", f"{user}@")


def test_a_writer_has_its_own_runs_alone(url_of: UrlOf) -> None:
    with open_store(url_of("ann")) as ann, open_store(url_of("bob")) as bob:
        ours: list[AnyRun] = [run_of("a1", "x", 100), measured_of("a2", "y", 200)]
        assert ids(ann.add(ours)) == ["a1", "a2"]
        assert ids(bob.add([run_of("b1", "z")])) == ["b1"]
        assert (ids(ann.runs()), ids(bob.runs())) == (["a2", "a1"], ["b1"])
        assert [ann.load(run.info.id) for run in ours] == ours
        for run_id in ("a1", "a2", "01d0"):
            with pytest.raises(RunNotFound, match="the latest labels are z"):
                bob.find(run_id)
            with pytest.raises(RunNotFound):
                bob.load(run_id)
        assert bob.remove(["a1", "01d0", "b1"]) == 1
        assert bob.expired(None) == ()
    with open_store(url_of("olga")) as store:
        assert ids(store.runs()) == ["a2", "01d0", "a1"]


def test_runs_are_kept_once_whoever_writes_them(url_of: UrlOf) -> None:
    with open_store(url_of("ann")) as ann, open_store(url_of("bob")) as bob:
        ann.add([run_of("a1"), run_of("a2")])
        assert bob.add([run_of("a1"), run_of("01d0")]) == ()
        ann.remove(["a2"])
        assert bob.add([run_of("a2")]) == ()
        assert ids(ann.add([run_of("a2")], again=True)) == ["a2"]
        fuller = replace(run_of("a1"), info=replace(run_of("a1").info, samples=10**6))
        assert bob.add([fuller]) == ()
        assert ann.add([fuller]) == (fuller.info,)


def test_equal_profiles_of_several_writers_are_kept_once(url_of: UrlOf) -> None:
    with open_store(url_of("ann")) as ann, open_store(url_of("bob")) as bob:
        ann.add([replace(run_of("a1"), profile=ProfileBuilder().build())])
        bob.add([replace(run_of("b1"), profile=ProfileBuilder().build())])
        count = "select count(*) from profkit_contents"
        assert _values(url_of("olga"), count) == [2]
        ann.remove(["a1"])
        assert bob.load("b1") == replace(run_of("b1"), profile=ProfileBuilder().build())
        bob.remove(["b1"])
        assert _values(url_of("olga"), count) == [1]


def test_a_writer_sees_no_rows_of_others(url_of: UrlOf) -> None:
    with open_store(url_of("ann")) as store:
        store.add([run_of("a1"), measured_of("a2")])
    for table in ("profkit_runs", "profkit_contents", *PARTS):
        assert _values(url_of("bob"), f"select 1 from {table}") == [], table
        if table != "profkit_contents":
            assert _values(url_of("bob"), f"delete from {table} returning 1") == [], table
    with open_store(url_of("ann")) as store:
        assert store.load("a1") == run_of("a1")


FORBIDDEN = [
    "update profkit_runs set writer = 'bob'",
    "update profkit_contents set data = ''",
    "delete from profkit_contents",
    "delete from profkit_migrations",
    "insert into profkit_removed values ('a1')",
    "insert into profkit_traces values ('a1', '', '')",
    "insert into profkit_contents values ('another', 'forged')",
    "insert into profkit_runs (id, session, label, started_ns, schema, document, writer) "
    "select id || 'x', session, label, started_ns, schema, document, 'ann' from profkit_runs",
    "alter table profkit_runs disable row level security",
]


def test_what_a_writer_must_not_do_is_refused(url_of: UrlOf) -> None:
    for user in ("ann", "bob"):
        with open_store(url_of(user)) as store:
            store.add([run_of(f"{user[0]}1")])
    for statement in FORBIDDEN:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            _values(url_of("bob"), statement)


def test_a_reader_reads_all_runs_and_writes_none(url_of: UrlOf) -> None:
    with open_store(url_of("ann")) as ann, open_store(url_of("ray")) as ray:
        ann.add([run_of("a1")])
        assert ids(ray.runs()) == ["01d0", "a1"]
        assert ray.load("a1") == run_of("a1")
        with pytest.raises(StoreUnavailable, match="permission denied"):
            ray.add([run_of("c1")])
        with pytest.raises(StoreUnavailable, match="permission denied"):
            ray.remove(["a1"])


def test_an_owner_removes_all_and_makes_the_roles_again(url_of: UrlOf) -> None:
    with open_store(url_of("ann")) as ann:
        ann.add([run_of("a1")])
        with open_store(url_of("olga")) as store:
            assert ids(tuple(store.infos(store.expired(None), remove=True))) == ["01d0", "a1"]
        make_roles(url_of("postgres"))
        assert ann.add([run_of("a1")]) == ()
        assert ids(ann.add([run_of("a2")])) == ["a2"]
    assert _values(url_of("olga"), "select writer from profkit_runs") == ["ann"]


def test_a_file_has_no_roles() -> None:
    with pytest.raises(UsageError, match="only a server has roles"):
        make_roles("sqlite://")


def _values(url: str, statement: str) -> list[object]:
    with psycopg.connect(url) as connection:
        cursor = connection.execute(statement.encode())
        return [value for (value,) in cursor.fetchall()] if cursor.description else []
