"""Store of sampled and measured runs: add, load and remove them; `lookups` has its queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import Self

from profkit.config import CONFIG
from profkit.errors import DamagedFile, RunNotFound, StoreEmpty
from profkit.model.measurement import AnyInfo, AnyRun, MeasuredInfo, MeasuredRun, unsealed
from profkit.model.run import RunInfo, WindowsInfo
from profkit.store.connections import Connection, Database, Row
from profkit.store.database import (
    CONTENTS,
    MEASUREMENTS,
    PARTS,
    PROFILES,
    REMOVED,
    RESOURCES,
    RUNS,
    SENT,
    TRACES,
    TURNS,
    open_database,
)
from profkit.store.known import by_id, fuller, unknown
from profkit.store.lookups import (
    MOST_AT_ONCE,
    SHOWN,
    all_labels,
    batches,
    count_expired,
    count_of_label,
    expired_ids,
    ids_beginning,
    job_names,
    latest_labels,
    matching,
    meant,
    newest_of_each,
    newest_of_job,
    page,
    places,
    present,
    rows_of_job,
    rows_of_series,
    rows_where,
    sums_of_series,
    unsent_ids,
)
from profkit.store.profiles import Kept
from profkit.store.rows import RUN_COLUMNS, Values, info_of, rows_of, run_of, searchable

_INSERTS = {
    RUNS: f"INSERT INTO {RUNS} ({', '.join(RUN_COLUMNS)}) VALUES {places(RUN_COLUMNS)} "
    "ON CONFLICT DO NOTHING",
    CONTENTS: f"INSERT INTO {CONTENTS} VALUES (?, ?) ON CONFLICT DO NOTHING",
    **{table: f"INSERT INTO {table} VALUES (?, ?)" for table in PARTS},
    TRACES: f"INSERT INTO {TRACES} VALUES (?, ?, ?)",
}


def _part(column: str, table: str, is_wanted: bool = True) -> str:
    return f"(SELECT {column} FROM {table} WHERE run = id)" if is_wanted else "NULL"


def _whole_run(*, in_order: bool, trace_file: bool) -> str:
    """Return the query of a run with all its parts; the second is the profile of an earlier version."""
    parts = (
        f"(SELECT data FROM {CONTENTS} WHERE digest = profile)",
        _part("pprof", PROFILES),
        _part("turns", TURNS, in_order),
        _part("points", RESOURCES),
        _part("document", MEASUREMENTS),
        _part("document", TRACES),
        _part("file", TRACES, trace_file),
    )
    return f"SELECT id, schema, document, {', '.join(parts)} FROM {RUNS} WHERE id = ?"


def open_store(url: str, *, skip_damaged: bool = False) -> Store:
    """Open the store of a URL; create or migrate it if necessary. Raises StoreUnavailable."""
    return Store(open_database(url), skip_damaged=skip_damaged)


class Store:
    """Runs in a database; a context manager that closes it.

    Every method raises StoreUnavailable if the database fails, and DamagedFile for a run that cannot be
    read. With `skip_damaged`, methods that return several runs skip it and note it in `damaged`.
    """

    def __init__(self, database: Database, *, skip_damaged: bool = False) -> None:
        self._database, self._skip_damaged = database, skip_damaged
        self._damaged: dict[str, DamagedFile] = {}

    @property
    def damaged(self) -> tuple[DamagedFile, ...]:
        """Runs that were skipped so far because their rows cannot be read."""
        return tuple(self._damaged.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """URL of the database, without its password."""
        return self._database.name

    def close(self) -> None:
        """Close the connections to the database."""
        self._database.close()

    def add(self, runs: Iterable[AnyRun], *, again: bool = False) -> tuple[AnyInfo, ...]:
        """Add all runs or none, and return the new ones.

        Known runs are skipped, unless these have more of them, as after a part of a folder was copied, or an
        imported one has joined a job; these are replaced afterwards. So are removed ones, unless `again`.
        Raises IdTaken.
        """
        given = by_id(map(self._keepable, runs))
        with self._database.reading() as connection:
            new = [*unknown(connection, given, again), *fuller(connection, given)]
        if not new:
            return ()
        self._database.check_file()
        # Encoding is slow, and others may write meanwhile.
        rows = {run_id: rows_of(given[run_id]) for run_id in new}
        with self._database.adding() as connection:
            still = unknown(connection, {one: given[one] for one in new}, again)
            added = _insert(connection, {one: rows[one] for one in still})
            for batch in batches(added if again else ()):
                connection.execute(f"DELETE FROM {REMOVED} WHERE run IN {places(batch)}", *batch)
            in_part = fuller(connection, {one: given[one] for one in new if one not in added})
        if in_part:
            added |= self._replace(in_part, given, rows)
        return tuple(run.info for run_id, run in given.items() if run_id in added)

    def _replace(
        self, in_part: Iterable[str], given: Mapping[str, AnyRun], rows: Mapping[str, dict[str, Values]]
    ) -> set[str]:
        with self._database.writing() as connection:
            still = fuller(connection, {run_id: given[run_id] for run_id in in_part})
            _delete(connection, still)
            return _insert(connection, {run_id: rows[run_id] for run_id in still})

    def each(self, label: str | None = None) -> Iterator[AnyInfo]:
        """Yield the runs of a label or all, newest first.

        They are read in pages, so that neither memory nor other writers depend on their number.
        """
        after: Row | None = None
        while True:
            with self._database.reading() as connection:
                found = page(connection, label, after, MOST_AT_ONCE)
            yield from self._readable(found)
            if len(found) < MOST_AT_ONCE:
                return
            after = found[-1]

    def runs(self, label: str | None = None, limit: int | None = None) -> tuple[AnyInfo, ...]:
        """Return the runs of a label or all, newest first, at most `limit`."""
        return tuple(islice(self.each(label), limit))

    def count(self, label: str) -> int:
        """Return the number of runs of a label."""
        with self._database.reading() as connection:
            return count_of_label(connection, label)

    def folded(
        self, label: str | None, limit: int, without: Collection[str] = ()
    ) -> tuple[tuple[AnyInfo, ...], bool]:
        """Return the newest runs of a label or all, at most `limit`, and whether there are more.

        The windows of a series are one run with their sums. Those of some series are left out.
        """
        hidden = set(map(searchable, without))
        with self._database.reading() as connection:
            found = newest_of_each(connection, label, limit + 1, hidden)
            return tuple(self._summed(connection, found[:limit])), len(found) > limit

    def sums(self, series: str) -> tuple[AnyInfo, ...]:
        """Return the windows of a series as one run with their sums; nothing if there are none."""
        with self._database.reading() as connection:
            return tuple(self._summed(connection, rows_of_series(connection, searchable(series), 1)))

    def windows(self, series: str, limit: int) -> tuple[RunInfo, ...]:
        """Return the newest windows of a series."""
        with self._database.reading() as connection:
            found = rows_of_series(connection, searchable(series), limit)
        return tuple(info for info in self._readable(found) if isinstance(info, RunInfo))

    def find(self, wanted: str | None, recording: Collection[AnyInfo] = ()) -> AnyInfo:
        """Return the run of an id, else the newest of a label, else of an id prefix; None: the newest.

        `recording` are runs that are not stored yet. Raises what `not_found` returns, and UsageError for an
        ambiguous prefix.
        """
        with self._database.reading() as connection:
            stored = matching(connection, wanted)
        found = meant((*recording, *map(_info, stored)), wanted)
        if found is None:
            raise self.not_found(wanted, recording)
        return found

    def not_found(self, wanted: str | None, recording: Iterable[AnyInfo] = ()) -> RunNotFound:
        """Return the error for a missing run, with some labels; StoreEmpty if there are no runs at all."""
        with self._database.reading() as connection:
            stored = latest_labels(connection)
        labels = tuple(dict.fromkeys((*(info.label for info in recording), *stored)))
        if wanted is None or not labels:
            return StoreEmpty(self.name, CONFIG.spool)
        return RunNotFound(wanted, labels[:SHOWN])

    def labels(self) -> tuple[str, ...]:
        """Return all labels, sorted."""
        with self._database.reading() as connection:
            return tuple(all_labels(connection))

    def ids(self, beginning: str) -> tuple[str, ...]:
        """Return some ids with a prefix."""
        with self._database.reading() as connection:
            return tuple(ids_beginning(connection, beginning, MOST_AT_ONCE))

    def load(self, run_id: str, *, in_order: bool = True, trace_file: bool = False) -> AnyRun:
        """Load the run of exactly this id, with its samples and resources, or its measurement.

        Samples load faster if not `in_order`, the order in which they were taken. The file of its trace is
        loaded only if requested. Raises RunNotFound.
        """
        query = _whole_run(in_order=in_order, trace_file=trace_file)
        with self._database.reading() as connection:
            found = connection.execute(query, searchable(run_id))
        if not found:
            raise RunNotFound(run_id)
        *_, profile, earlier, turns, points, numbers, trace, file = found[0]
        samples = earlier if profile is None else profile
        kept = None if samples is None else Kept(samples, turns)
        of_torch = None if trace is None else (trace, file)
        return run_of(_info(found[0]), kept, points, numbers, of_torch, in_order=in_order)

    def batch(self, batch: str) -> tuple[MeasuredInfo, ...]:
        """Return the runs that were measured together, in the order in which they started."""
        return tuple(info for info in self._of_session(batch) if isinstance(info, MeasuredInfo))

    def session(self, session: str) -> tuple[RunInfo, ...]:
        """Return the sampled runs of a session, in the order in which their regions started."""
        return tuple(info for info in self._of_session(session) if isinstance(info, RunInfo))

    def jobs(self, beginning: str = "", limit: int | None = None) -> tuple[str, ...]:
        """Return the names of jobs that begin with a text, newest first, at most `limit`."""
        with self._database.reading() as connection:
            return tuple(job_names(connection, beginning, limit))

    def job(self, job: str, limit: int | None = None) -> tuple[RunInfo, ...]:
        """Return the runs of the job with exactly this name, newest first, at most `limit`."""
        with self._database.reading() as connection:
            found = rows_of_job(connection, job, limit)
        return tuple(info for info in self._readable(found) if isinstance(info, RunInfo))

    def job_summed(self, job: str) -> tuple[RunInfo, ...]:
        """Return the runs of the job with exactly this name; of windows one of each series, with the sums."""
        with self._database.reading() as connection:
            found = tuple(self._summed(connection, newest_of_job(connection, job)))
        return tuple(info for info in found if isinstance(info, RunInfo))

    def _of_session(self, session: str) -> list[AnyInfo]:
        with self._database.reading() as connection:
            found = rows_where(connection, "session = ?", searchable(session))
        return sorted(self._readable(found), key=lambda info: (info.started_ns, info.id))

    def expired(self, before_ns: int | None, keep: int = 0, limit: int | None = None) -> tuple[str, ...]:
        """Return the ids of runs that started before a moment (None: any), newest first, at most `limit`.

        The newest `keep` of each label are not among them.
        """
        with self._database.reading() as connection:
            return tuple(expired_ids(connection, before_ns, keep, limit))

    def count_expired(self, before_ns: int | None, keep: int = 0) -> int:
        """Return the number of such runs, of which there may be very many."""
        with self._database.reading() as connection:
            return count_expired(connection, before_ns, keep)

    def unsent(self, place: str, host: str) -> tuple[str, ...]:
        """Return the ids of runs that `note_sent` has not noted for a place, oldest first.

        Most are of the host. A server has no such notes, and none of its runs is returned.
        """
        if self._database.is_shared:
            return ()
        with self._database.reading() as connection:
            return tuple(unsent_ids(connection, place, host))

    def note_sent(self, run_ids: Iterable[str], place: str) -> None:
        """Note that runs were sent to a place."""
        rows = [(searchable(run_id), searchable(place)) for run_id in run_ids]
        with self._database.writing() as connection:
            connection.execute_many(f"INSERT INTO {SENT} VALUES (?, ?) ON CONFLICT DO NOTHING", rows)

    def infos(self, run_ids: Iterable[str], *, remove: bool = False) -> Iterator[AnyInfo]:
        """Yield the runs of these ids in their order, in batches; with `remove`, after removing them."""
        for batch in batches(run_ids):
            with self._database.writing() if remove else self._database.reading() as connection:
                rows = {row[0]: row for row in rows_where(connection, f"id IN {places(batch)}", *batch)}
                found = tuple(self._readable(rows[run_id] for run_id in batch if run_id in rows))
                if remove:
                    _remove(connection, [searchable(info.id) for info in found])
            yield from found

    def remove(self, run_ids: Iterable[str]) -> int:
        """Remove runs permanently, and return their number; unknown ids are ignored."""
        wanted = dict.fromkeys(map(searchable, run_ids))
        with self._database.writing() as connection:
            there = present(connection, RUNS, "id", wanted)
            _remove(connection, there)
        return len(there)

    def has(self, run_id: str) -> bool:
        """Return whether there is a run of exactly this id, readable or not."""
        with self._database.reading() as connection:
            return bool(present(connection, RUNS, "id", [searchable(run_id)]))

    def _keepable(self, run: AnyRun) -> AnyRun:
        """Return the run, without its seal if other users could copy that to their runs."""
        if not self._database.is_shared:
            return run
        if isinstance(run, MeasuredRun):
            return replace(run, info=unsealed(run.info))
        return replace(run, info=unsealed(run.info))

    def _summed(self, connection: Connection, rows: Iterable[Row]) -> Iterator[AnyInfo]:
        """Yield the runs of rows; windows have the sums of their series."""
        for row in rows:
            for info in self._readable([row]):
                if row[4] and isinstance(info, RunInfo):
                    sums = sums_of_series(connection, row[4])
                    yield WindowsInfo.summed(info, *sums) if sums[0] > 1 else info
                else:
                    yield info

    def _readable(self, rows: Iterable[Row]) -> Iterator[AnyInfo]:
        for row in rows:
            try:
                yield _info(row)
            except DamagedFile as damage:
                if not self._skip_damaged:
                    raise
                self._damaged[row[0]] = damage


def _info(row: Row) -> AnyInfo:
    run_id, schema, document, *_ = row
    return info_of(run_id, schema, document)


def _remove(connection: Connection, run_ids: Iterable[str]) -> None:
    """Delete stored runs, and note that they were removed."""
    removed = sorted(run_ids)
    connection.execute_many(f"INSERT INTO {REMOVED} VALUES (?)", [(run_id,) for run_id in removed])
    _delete(connection, removed)


def _delete(connection: Connection, run_ids: Iterable[str]) -> None:
    for batch in batches(run_ids):
        for table in PARTS:
            connection.execute(f"DELETE FROM {table} WHERE run IN {places(batch)}", *batch)
        connection.execute(f"DELETE FROM {RUNS} WHERE id IN {places(batch)}", *batch)


def _insert(connection: Connection, rows: Mapping[str, dict[str, Values]]) -> set[str]:
    """Insert the rows of runs that nobody else has inserted meanwhile, and return the ids of these runs.

    All writers do so in the same order, so that they never wait for each other in a circle.
    """
    added = [run_id for run_id in sorted(rows) if connection.insert(_INSERTS[RUNS], rows[run_id][RUNS])]
    for table in (CONTENTS, *PARTS):
        if values := [rows[run_id][table] for run_id in added if table in rows[run_id]]:
            connection.execute_many(_INSERTS[table], sorted(values, key=itemgetter(0)))
    return set(added)
