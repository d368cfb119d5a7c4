"""What a store does, whatever database is behind it: a class that each database's tests inherit."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import create_engine, inspect, text

from profkit.errors import DamagedFile, RunNotFound, StoreEmpty, StoreUnavailable, UsageError
from profkit.model.measurement import AnyInfo, AnyRun, MeasuredRun
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.model.run import Imported, Run, WindowsInfo, derived_id
from profkit.model.session import Member
from profkit.store import database
from profkit.store.database import CONTENTS, MEASUREMENTS, MIGRATIONS, RESOURCES, RUNS
from profkit.store.known import IdTaken
from profkit.store.rows import rows_of, searchable
from profkit.store.runs import Store, open_store
from profkit.units import Unit
from tests.support.example_measured_runs import failed_run, measured_run
from tests.support.example_measurements import COUNTS
from tests.support.example_runs import INFO, made_run

ODD_LABEL = "sur\udc80 \0 % _ \\ é 日"


RUN = {"run": "TEXT"}
TABLES = {
    "profkit_migrations": {"name": "TEXT", "applied_ns": "BIGINT"},
    "profkit_runs": {
        "id": "TEXT", "session": "TEXT", "label": "TEXT", "started_ns": "BIGINT", "schema": "TEXT",
        "document": "TEXT", "profile": "TEXT", "job": "TEXT",
        "series": "TEXT", "calls": "BIGINT", "wall_ns": "BIGINT", "samples": "BIGINT",
    },
    "profkit_contents": {"digest": "TEXT", "data": "BLOB"},
    "profkit_profiles": {**RUN, "pprof": "BLOB"},
    "profkit_resources": {**RUN, "points": "BLOB"},
    "profkit_measurements": {**RUN, "document": "BLOB"},
    "profkit_traces": {**RUN, "document": "BLOB", "file": "BLOB"},
    "profkit_turns": {**RUN, "turns": "BLOB"},
    "profkit_removed": RUN,
}  # fmt: skip
"""Columns of each table, and their types."""
SENT = {**RUN, "place": "TEXT"}
"""Columns of the table that only files have."""
INDEXED = {
    ("session",), ("label", "started_ns", "id"), ("started_ns", "id"), ("profile",), ("job", "started_ns"),
    ("series", "started_ns", "id", "calls", "wall_ns", "samples"), ("job", "series", "started_ns", "id"),
    ("started_ns", "job"),
}  # fmt: skip

Made = Callable[..., AnyRun]
"""From an id, a label, a start, and a session or batch."""


def run_of(run_id: str, label: str = "train", started_ns: int = 100, session: str = "s1") -> Run:
    key = replace(INFO.region.key, label=label)
    region = replace(INFO.region, key=key)
    return made_run(id=run_id, session=session, started_ns=started_ns, region=region)


def window_of(run_id: str, started_ns: int, label: str = "serve", pid: int = 1) -> Run:
    run = run_of(run_id, label, started_ns)
    plan, process = replace(run.info.plan, window_s=60.0), replace(run.info.process, pid=pid)
    return replace(run, info=replace(run.info, plan=plan, process=process))


def measured_of(run_id: str, label: str = "train", started_ns: int = 100, batch: str = "b1") -> MeasuredRun:
    return measured_run(label, id=run_id, batch=batch, started_ns=started_ns)


def ids(infos: tuple[AnyInfo, ...]) -> list[str]:
    return [info.id for info in infos]


class StoreSuite:
    """Needs a fixture `url`: an empty database for each test."""

    @pytest.fixture
    def store(self, url: str) -> Iterator[Store]:
        with open_store(url) as store:
            yield store

    @pytest.fixture(params=[run_of, measured_of], ids=["sampled", "measured"])
    def made(self, request: pytest.FixtureRequest) -> Made:
        """What makes runs of one kind."""
        made: Made = request.param
        return made

    def execute(self, url: str, statement: str, **values: object) -> None:
        """Change the database behind the store's back."""
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(text(statement), values)
        engine.dispose()

    def values(self, url: str, query: str) -> list[object]:
        """The first column of a query's result."""
        engine = create_engine(url)
        with engine.connect() as connection:
            found = list(connection.scalars(text(query)))
        engine.dispose()
        return found

    def test_a_run_comes_back_whole(self, store: Store) -> None:
        run = made_run()
        assert store.add([run]) == (run.info,)
        assert store.load(run.info.id) == run
        assert store.runs() == (run.info,)

    def test_a_fuller_copy_of_a_run_replaces_a_part_of_it(self, store: Store) -> None:
        run = made_run()
        fewer = replace(run.info, samples=run.info.samples - 1)
        part = replace(run, info=fewer, profile=ProfileBuilder().build())
        assert store.add([part]) == (part.info,)
        assert store.add([run]) == (run.info,)
        assert store.load(run.info.id) == run
        assert store.add([part]) == store.add([run]) == ()
        assert store.load(run.info.id) == run
        store.remove([run.info.id])
        assert store.add([run]) == (), "it was removed"

    def test_an_imported_run_that_has_joined_a_job_replaces_the_one_without(self, store: Store) -> None:
        run = made_run(imported=Imported("chrome-trace", "torch.profiler", "a.json", Unit.NANOSECONDS, 9))
        process = run.info.process
        joined, other = (
            replace(run, info=replace(run.info, process=replace(process, member=Member(job, 1, None, 4))))
            for job in ("a", "b")
        )
        assert store.add([run]) == (run.info,)
        assert store.add([joined]) == (joined.info,)
        assert store.add([run]) == store.add([joined]) == ()
        assert store.add([other]) == (other.info,)
        assert store.load(run.info.id) == other
        assert store.runs() == (other.info,)

    def test_a_run_with_the_id_of_another_is_refused(self, store: Store, made: Made) -> None:
        first, other = made("a1", "train", 100, "s1"), made("a1", "eval", 100, "s2")
        with pytest.raises(IdTaken, match=r"\(eval of s2\) has the id of another one, train of s1; .* rm a1"):
            store.add([first, other])
        store.add([first])
        with pytest.raises(IdTaken):
            store.add([made("b1"), other])
        assert ids(store.runs()) == ["a1"], "all or none"

    def test_a_run_that_an_earlier_version_has_stored_is_known(self, store: Store, made: Made) -> None:
        run_id = derived_id(b"train")
        earlier, again = made(run_id[:10]), made(run_id)
        store.add([earlier])
        assert store.add([again]) == ()
        assert store.find(run_id) == store.find(run_id[:4]) == earlier.info
        other = made(run_id, "eval", 100, "s2")
        assert store.add([other]) == (other.info,)
        assert store.find(run_id) == other.info
        assert store.find(run_id[:10]) == earlier.info
        assert store.find(run_id[:11]) == other.info

    def test_a_run_without_samples_or_resources_comes_back(self, store: Store) -> None:
        run = Run(INFO)
        store.add([run])
        assert store.load(INFO.id) == run

    def test_a_profile_without_samples_is_not_the_same_as_none(self, store: Store) -> None:
        run = Run(INFO, ProfileBuilder().build())
        store.add([run])
        assert store.load(INFO.id).profile == run.profile

    def test_a_measured_run_comes_back_whole(self, store: Store) -> None:
        run, failed = measured_run(), failed_run(id="f1")
        assert store.add([run, failed]) == (run.info, failed.info)
        assert store.load(run.info.id) == run
        assert store.load("f1") == failed
        assert set(store.runs()) == {run.info, failed.info}

    def test_any_text_of_a_measured_run_comes_back_and_is_found(self, store: Store) -> None:
        odd_note = Note.of(NoteCode.IN_PROCESS, detail=ODD_LABEL)
        odd = measured_run(ODD_LABEL, id="a1", batch=ODD_LABEL, notes=(odd_note,), error=ODD_LABEL)
        assert odd.measurement is not None
        functions = (replace(COUNTS.functions[0], name=ODD_LABEL, object=ODD_LABEL),)
        counts = replace(COUNTS, functions=functions)
        odd = replace(odd, measurement=replace(odd.measurement, instructions=counts))
        store.add([odd, measured_of("b2", "other")])
        assert store.load("a1") == odd
        assert store.find(ODD_LABEL) == odd.info
        assert store.batch(ODD_LABEL) == (odd.info,)

    def test_a_batch_is_in_the_order_of_measuring(self, store: Store) -> None:
        store.add([measured_of("b2", "x", 200, "one"), measured_of("a1", "y", 300, "one")])
        store.add([measured_of("d4", "x", 100, "one"), measured_of("c3", "x", 250, "other")])
        store.add([run_of("e5", session="one")])
        assert ids(store.batch("one")) == ["d4", "b2", "a1"]
        assert store.batch("none") == ()

    def test_a_session_is_in_the_order_of_its_regions(self, store: Store) -> None:
        store.add(
            [run_of("b2", "x", 200, "one"), run_of("a1", "y", 300, "one"), run_of("c3", "x", 100, "two")]
        )
        store.add([measured_of("d4", batch="one"), run_of("e5", "z", 100, "one")])
        assert ids(store.session("one")) == ["e5", "b2", "a1"]
        assert store.session("none") == ()

    def test_both_kinds_are_listed_and_found_together(self, store: Store) -> None:
        sampled, measured = run_of("a1", "x", 100), measured_of("b2", "x", 200)
        store.add([sampled, measured])
        assert store.runs() == (measured.info, sampled.info)
        assert store.find("x") == measured.info
        assert store.load("a1") == sampled
        assert store.expired(200) == ("a1",)

    def test_any_text_comes_back_and_is_found(self, store: Store) -> None:
        odd = run_of("a1", ODD_LABEL, session=ODD_LABEL)
        builder = ProfileBuilder()
        builder.add((Frame(ODD_LABEL, ODD_LABEL, 3),), Thread(1, 2, ODD_LABEL))
        odd = replace(odd, profile=builder.build(period_ns=1e7))
        store.add([odd, run_of("b2", "other")])
        assert store.load("a1") == odd
        assert store.find(ODD_LABEL) == odd.info
        assert store.runs(label=ODD_LABEL) == (odd.info,)

    def test_runs_outlive_the_connection(self, url: str) -> None:
        with open_store(url) as store:
            store.add([made_run()])
        with open_store(url) as store:
            assert store.load(INFO.id) == made_run()

    def test_a_run_is_kept_once(self, store: Store, made: Made) -> None:
        store.add([made("a1")])
        assert ids(store.add([made("a1", "changed"), made("b2"), made("b2")])) == ["b2"]
        assert store.add([]) == ()
        assert store.find("a1").label == "train"

    def test_a_removed_run_does_not_come_back(self, store: Store, made: Made) -> None:
        store.add([made("a1"), made("b2")])
        assert store.remove(["a1", "a1", "none", "no\udc80\0ne"]) == 1
        assert ids(store.add([made("a1"), made("c3")])) == ["c3"]
        assert ids(store.runs()) == ["b2", "c3"]
        assert store.remove(["a1"]) == 0

    def test_a_removed_run_comes_back_where_it_is_requested(self, store: Store, made: Made) -> None:
        store.add([made("a1"), made("b2")])
        store.remove(["a1"])
        assert ids(store.add([made("a1"), made("b2")], again=True)) == ["a1"]
        assert ids(store.add([made("a1")], again=True)) == []
        assert store.remove(["a1"]) == 1
        assert ids(store.add([made("a1")])) == []

    def test_a_removed_run_is_gone_from_every_table(self, store: Store, url: str) -> None:
        store.add([run_of("a1"), run_of("b2"), measured_of("c3"), measured_of("d4")])
        store.remove(["a1", "c3"])
        left = {"profkit_resources": "b2", "profkit_measurements": "d4"}
        for table, run_id in left.items():
            assert self.values(url, f"select run from {table}") == [run_id]

    def test_equal_profiles_are_kept_once_until_their_last_run_is_removed(
        self, store: Store, url: str
    ) -> None:
        other = replace(run_of("d4"), profile=ProfileBuilder().build())
        store.add([run_of("a1"), run_of("b2"), other])
        store.add([run_of("c3")])
        count = "select count(*) from profkit_contents"
        assert self.values(url, count) == [2]
        store.remove(["a1", "b2"])
        assert store.load("c3") == run_of("c3")
        store.remove(["c3"])
        assert store.load("d4") == other
        assert self.values(url, count) == [1]

    def test_a_store_without_the_third_migration_is_upgraded_and_keeps_its_runs(
        self, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(database, "MIGRATIONS", MIGRATIONS[:2])
            old = database.open_database(url)
        rows = [rows_of(run) for run in (run_of("a1"), run_of("b2"), measured_of("c3"))]
        with old.writing() as connection:
            for row in rows:
                connection.execute("insert into profkit_runs values (?, ?, ?, ?, ?, ?)", *row[RUNS][:6])
                for table in (RESOURCES, MEASUREMENTS):
                    if table in row:
                        connection.execute(f"insert into {table} values (?, ?)", *row[table])
                if CONTENTS in row:
                    profile = (row[RUNS][0], row[CONTENTS][1])
                    connection.execute("insert into profkit_profiles values (?, ?)", *profile)
        old.close()
        with open_store(url) as store:
            assert store.load("a1") == run_of("a1")
            assert store.load("c3") == measured_of("c3")
            store.add([run_of("d4")])
            assert store.remove(["a1", "c3"]) == 2
            assert [store.load(run_id) for run_id in ("b2", "d4")] == [run_of("b2"), run_of("d4")]
            assert self.values(url, "select run from profkit_profiles") == ["b2"]

    def test_all_of_the_runs_are_added_or_none(self, store: Store, made: Made) -> None:
        with pytest.raises((StoreUnavailable, OverflowError)):
            store.add([made("a1"), made("b2", started_ns=2**70)])
        assert store.runs() == ()

    def test_lists_are_newest_first(self, store: Store, made: Made) -> None:
        store.add([made("b2", "x", 200), made("c3", "y", 300), made("a1", "x", 100)])
        assert ids(store.runs()) == ["c3", "b2", "a1"]
        assert ids(store.runs(limit=2)) == ["c3", "b2"]
        assert ids(store.runs(label="x")) == ["b2", "a1"]
        assert ids(store.runs(label="x", limit=1)) == ["b2"]
        assert store.runs(label="none") == ()

    def test_old_runs_are_found_by_their_start(self, store: Store, made: Made) -> None:
        store.add([made("b2", started_ns=200), made("c3", started_ns=300), made("a1", started_ns=100)])
        assert store.expired(300) == ("b2", "a1")
        assert store.expired(100) == ()

    def test_the_newest_of_each_label_do_not_expire(self, store: Store, made: Made) -> None:
        starts = {"a1": ("x", 100), "b2": ("x", 200), "b3": ("x", 200), "c3": ("y", 300), "d4": ("y", 50)}
        store.add(made(run_id, *start) for run_id, start in starts.items())
        assert store.expired(None, 0) == ("c3", "b2", "b3", "a1", "d4")
        assert store.expired(None, 1) == ("b3", "a1", "d4")
        assert store.expired(100, 1) == ("d4",)
        assert store.expired(None, 3) == ()

    def test_removed_runs_are_returned_in_the_order_of_their_ids(self, store: Store, made: Made) -> None:
        store.add([made("b2"), made("c3"), made("a1")])
        wanted = ["c3", "none", "a1"]
        assert ids(tuple(store.infos(wanted))) == ["c3", "a1"]
        assert len(store.runs()) == 3
        assert ids(tuple(store.infos(wanted, remove=True))) == ["c3", "a1"]
        assert ids(store.runs()) == ["b2"]
        assert store.add([made("a1")]) == ()

    def test_labels_and_ids_for_completion(self, store: Store, made: Made) -> None:
        assert (store.labels(), store.ids("")) == ((), ())
        store.add([made("abc1", "x"), made("abd2", "y"), made("b3", "y"), made("c4", "")])
        assert store.labels() == ("", "x", "y")
        assert sorted(store.ids("ab")) == ["abc1", "abd2"]
        assert len(store.ids("")) == 4

    def test_a_digit_of_an_id_may_be_a_capital(self, store: Store, made: Made) -> None:
        store.add([made("abc1", "x")])
        assert store.find("AB").id == "abc1"

    def test_a_run_is_found_by_id_label_or_the_beginning_of_its_id(self, store: Store, made: Made) -> None:
        store.add([made("abc1", "x", 100), made("abd2", "x", 200), made("e3", "ab", 50), made("ab", "z", 1)])
        assert store.find(None).id == "abd2"
        assert store.find("abc1").id == store.find("abc").id == "abc1"
        assert store.find("x").id == "abd2", "the newest of the label"
        assert store.find("ab").id == "ab", "an id comes before a label"
        store.remove(["ab"])
        assert store.find("ab").id == "e3", "a label comes before the beginning of an id"

    def test_a_beginning_that_several_ids_have_is_reported(self, store: Store, made: Made) -> None:
        store.add([made("abc1", "x"), made("abd2", "y")])
        with pytest.raises(UsageError, match=r"begin with 'ab': abc1 \(x\), abd2 \(y\); give more digits"):
            store.find("ab")

    def test_runs_that_are_not_stored_yet_are_found_too(self, store: Store, made: Made) -> None:
        store.add([made("abc1", "x", 100), made("abd2", "y", 100)])
        recording = [made(*one).info for one in (("c1", "ab", 50), ("c2", "x", 200), ("d3", "z", 1))]
        assert store.find("ab", recording).id == "c1", "a label comes before the ids that begin so"
        assert store.find("x", recording).id == store.find(None, recording).id == "c2", "the newest of both"
        assert store.find("abc", recording).id == "abc1"
        assert store.find("d", recording).id == "d3"
        with pytest.raises(UsageError, match=r"begin with 'c': c1 \(ab\), c2 \(x\); give more digits"):
            store.find("c", recording)
        with pytest.raises(RunNotFound) as error:
            store.find("none", recording)
        assert error.value.known == ("ab", "x", "z", "y")

    def test_an_empty_store_beside_a_recording_run(self, store: Store, made: Made) -> None:
        recording = [made("c1", "ab", 50).info]
        assert store.find(None, recording).id == store.find("c", recording).id == "c1"
        with pytest.raises(RunNotFound, match="no run matches 'none'; the latest labels are ab"):
            store.find("none", recording)

    @pytest.mark.parametrize("wanted", ["none", "a%", "%", "a_", "no\udc80\0ne"])
    def test_an_unknown_run_is_reported_with_labels_that_are_known(self, store: Store, wanted: str) -> None:
        store.add([run_of(f"a{n}", f"label{n}", n) for n in range(9)])
        with pytest.raises(RunNotFound) as told:
            store.find(wanted)
        assert told.value.known == ("label8", "label7", "label6", "label5", "label4")
        with pytest.raises(RunNotFound):
            store.load(wanted)

    def test_an_empty_store_is_reported(self, store: Store) -> None:
        for wanted in (None, "x"):
            with pytest.raises(StoreEmpty, match="no runs"):
                store.find(wanted)
        assert store.runs() == ()

    def test_more_ids_than_a_statement_holds(self, store: Store) -> None:
        run = Run(INFO)
        store.add([replace(run, info=replace(INFO, id=f"{n:05x}")) for n in range(600)])
        store.add([failed_run(id=f"{n:05x}") for n in range(600, 1200)])
        assert len(set(store.each())) == 1200
        assert [info.id for info in store.each()] == [f"{n:05x}" for n in range(1200)]
        assert ids(store.runs(failed_run().info.label)) == [f"{n:05x}" for n in range(600, 1200)]
        assert store.remove(f"{n:05x}" for n in range(100, 1300)) == 1100
        assert len(store.runs()) == 100

    def test_lists_never_read_profiles(self, store: Store, url: str) -> None:
        store.add([run_of("a1")])
        self.execute(url, "update profkit_contents set data = :data", data=b"damaged")
        self.execute(url, "update profkit_resources set points = :data", data=b"damaged")
        assert ids(store.runs()) == ["a1"]
        damaged = r"the (profile|resources) of run a1 .*; `profkit rm a1` removes"
        with pytest.raises(DamagedFile, match=damaged):
            store.load("a1")

    def test_damaged_resources_are_reported(self, store: Store, url: str) -> None:
        store.add([run_of("a1")])
        self.execute(url, "update profkit_resources set points = :data", data=b"damaged")
        with pytest.raises(DamagedFile, match="the resources of run a1"):
            store.load("a1")

    def test_a_damaged_measurement_is_reported_and_its_run_listed(self, store: Store, url: str) -> None:
        store.add([measured_of("a1")])
        self.execute(url, "update profkit_measurements set document = :data", data=b"damaged")
        assert ids(store.runs()) == ["a1"]
        with pytest.raises(DamagedFile, match="the measurement of run a1"):
            store.load("a1")

    def test_a_document_of_another_form_is_reported(self, store: Store, made: Made, url: str) -> None:
        store.add([made("a1")])
        self.execute(url, "update profkit_runs set schema = 'profkit.run/9'")
        with pytest.raises(DamagedFile, match=r"the document of run a1 .*'profkit.run/9'.*; upgrade profkit"):
            store.runs()

    def test_the_tables_have_their_columns_keys_and_indexes(self, store: Store, url: str) -> None:
        engine = create_engine(url)
        found = inspect(engine)
        blob = "BLOB" if url.startswith("sqlite") else "BYTEA"
        tables = TABLES if blob == "BYTEA" else {**TABLES, "profkit_sent": SENT}
        assert set(found.get_table_names()) == set(tables)
        for table, wanted in tables.items():
            columns = found.get_columns(table)
            nullable = [column["name"] for column in columns if column["nullable"]]
            assert nullable == (["profile"] if table == "profkit_runs" else [])
            types = {column["name"]: column["type"].compile(engine.dialect) for column in columns}
            assert types == {name: blob if kind == "BLOB" else kind for name, kind in wanted.items()}
            key = [column["name"] for column in columns[: 2 if wanted is SENT else 1]]
            assert found.get_pk_constraint(table)["constrained_columns"] == key
            indexed = {tuple(index["column_names"]) for index in found.get_indexes(table)}
            prefixes = {("id",)} if blob == "BYTEA" else set()
            assert indexed == (INDEXED | prefixes if table == "profkit_runs" else set())
            keys = [key["referred_table"] for key in found.get_foreign_keys(table)]
            of_runs = "run" in wanted and len(wanted) > 1 and wanted is not SENT
            assert keys == (["profkit_runs"] if of_runs else ["profkit_contents"] * ("profile" in wanted))
        engine.dispose()

    def test_jobs(self, store: Store) -> None:
        names = [("a_1", 100), ("a_2", 300), ("b%", 200), ("", 400), (ODD_LABEL, 50)]
        for number, (job, started_ns) in enumerate(names):
            run = run_of(f"{number:010x}", started_ns=started_ns)
            process = replace(run.info.process, member=Member(job, 0, 0, 2))
            store.add([replace(run, info=replace(run.info, process=process))])
        assert store.jobs() == ("a_2", "b%", "a_1", searchable(ODD_LABEL))
        assert store.jobs("a_") == ("a_2", "a_1")
        assert store.jobs("_") == store.jobs("%") == ()
        assert store.jobs("a", limit=1) == ("a_2",)
        assert store.jobs(limit=2) == ("a_2", "b%")
        assert store.jobs(limit=9) == store.jobs()
        assert store.jobs("sur") == (searchable(ODD_LABEL),)
        assert ids(store.job("a_1")) == ["0000000000"]
        assert ids(store.job(ODD_LABEL)) == ["0000000004"]
        assert store.job("") == store.job("a") == ()

    def test_windows_are_one_run_in_lists(self, store: Store) -> None:
        windows = [window_of(f"a{number}", number, pid=pid) for number in range(6) for pid in (number % 2,)]
        store.add([*windows, window_of("b0", 9, ODD_LABEL), measured_of("c0", "serve", 3), run_of("d0")])
        rows, has_more = store.folded(None, 3)
        assert has_more
        assert ids(rows) == ["d0", "b0", "a5"]
        assert not isinstance(rows[1], WindowsInfo), "it has no other"
        rows, has_more = store.folded("serve", 3)
        assert not has_more
        assert ids(rows) == ["a5", "a4", "c0"]
        first, info = rows[0], windows[0].info
        assert isinstance(first, WindowsInfo)
        assert (first.windows, first.started_ns, first.samples) == (3, 1, 3 * info.samples)
        assert (first.calls, first.wall_s) == (3 * info.calls, pytest.approx(3 * info.wall_s))
        series = windows[5].info.series
        assert store.sums(series) == (first,)
        assert store.sums("no series") == ()
        assert ids(store.windows(series, 2)) == ["a5", "a3"]
        assert ids(store.folded("serve", 2, without=[series])[0]) == ["a4", "c0"]
        assert store.remove(["a1", "a3"]) == 2
        assert store.sums(series) == (windows[5].info,)
        assert ids(store.folded(ODD_LABEL, 2)[0]) == ["b0"]

    def test_windows_of_a_job_are_summed(self, store: Store) -> None:
        def in_job(run: Run, job: str = "job") -> Run:
            process = replace(run.info.process, member=Member(job, 0, 0, 2))
            return replace(run, info=replace(run.info, process=process))

        store.add([in_job(window_of(f"a{number}", number, pid=number % 2)) for number in range(6)])
        store.add([in_job(run_of("b0")), in_job(run_of("b1")), in_job(run_of("c0"), "other"), run_of("d0")])
        found = {info.id: info for info in store.job_summed("job")}
        assert sorted(found) == ["a4", "a5", "b0", "b1"]
        assert found["a5"].samples == 3 * found["b0"].samples
        assert found["a4"].started_ns == 0
        assert store.job_summed("jo") == store.job_summed("") == ()

    def test_a_store_of_an_earlier_profkit_gets_jobs_and_windows(self, url: str) -> None:
        with open_store(url) as store:
            store.add([run_of("0123456789")])
        for statement in (
            *(f"drop index if exists ix_profkit_runs_{name}"
              for name in ("job", "job_series", "job_prefix", "of_jobs", "series", "other", "label_other")),
            *(f"alter table profkit_runs drop column {name}"
              for name in ("job", "series", "calls", "wall_ns", "samples")),
            "delete from profkit_migrations where name in ('005 jobs', '007 windows', '008 jobs by name')",
        ):  # fmt: skip
            self.execute(url, statement)
        with open_store(url) as store:
            assert ids(store.runs()) == ids(store.folded(None, 2)[0]) == ["0123456789"]
            assert store.jobs() == ()

    def test_migrations_are_recorded_once(self, url: str) -> None:
        for _ in range(2):
            with open_store(url):
                pass
        engine = create_engine(url)
        with engine.connect() as connection:
            names = list(connection.scalars(text("select name from profkit_migrations order by name")))
        engine.dispose()
        assert names == [migration.name for migration in MIGRATIONS]

    def test_a_newer_store_is_left_alone(self, url: str) -> None:
        with open_store(url):
            pass
        self.execute(url, "insert into profkit_migrations values ('999 later', 1)")
        with pytest.raises(
            StoreUnavailable, match=r"a newer profkit has changed it.*999 later.*upgrade profkit"
        ):
            open_store(url)

    def test_writers_at_once_keep_each_run_and_profile_once(self, url: str) -> None:
        profiles = [run_of("p").profile, ProfileBuilder().build()]
        runs = [replace(run_of(f"{n:03}"), profile=profiles[n % 2]) for n in range(60)]
        orders = [runs, runs[::-1], runs[::2] + runs[1::2], runs[30:] + runs[:30]]
        start = threading.Barrier(len(orders) + 1)

        def add(order: list[Run]) -> int:
            with open_store(url) as store:
                start.wait()
                return sum(len(store.add(order[n : n + 10])) for n in range(0, len(order), 10))

        def remove() -> int:
            with open_store(url) as store:
                start.wait()
                return sum(store.remove([f"{n:03}"]) for n in range(60))

        with open_store(url), ThreadPoolExecutor(len(orders) + 1) as pool:
            removing = pool.submit(remove)
            added = [pool.submit(add, order) for order in orders]
        with open_store(url) as store:
            left = store.runs()
            assert sum(future.result() for future in added) == 60, "each run was added by one of them"
            assert len(left) == 60 - removing.result()
            assert all(isinstance(run := store.load(info.id), Run) and run.profile for info in left)
            store.remove(info.id for info in left[1:])
            contents = "select count(*) from profkit_contents"
            assert self.values(url, contents) == [min(1, len(left))]

    def test_a_fuller_copy_that_is_added_at_once_wins(self, url: str) -> None:
        """Whichever of two writers is first, the run with more samples is kept."""
        run = made_run()
        copies = [replace(run, info=replace(run.info, samples=run.info.samples - n)) for n in range(4)]
        start = threading.Barrier(len(copies))

        def add(copy: Run) -> None:
            with open_store(url) as store:
                start.wait()
                store.add([copy])

        with open_store(url), ThreadPoolExecutor(len(copies)) as pool:
            for future in [pool.submit(add, copy) for copy in copies]:
                future.result()
        with open_store(url) as store:
            assert store.runs() == (run.info,)

    @pytest.mark.slow
    def test_processes_that_open_a_new_store_at_once_all_can(self, url: str) -> None:
        code = """
import sys
from dataclasses import replace
from profkit.store.runs import open_store
from tests.support.example_runs import made_run
print("ready", flush=True)
sys.stdin.read()
with open_store(sys.argv[1]) as store:
    print(len(store.add([made_run(id=f"{n:03}") for n in range(20)])))
"""
        command = [sys.executable, "-c", code, url]
        processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(5)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.close()
            process.stdin = None
        added = [int(process.communicate()[0]) for process in processes]
        assert [process.returncode for process in processes] == [0] * 5
        assert sorted(added) == [0, 0, 0, 0, 20], "each run was added by one of them"
