"""Store of sampled and measured runs: add, list, load and remove them, and find the run a name means."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Self

from profkit.config import CONFIG
from profkit.errors import DamagedFile, RunNotFound, StoreEmpty, UsageError
from profkit.model.measurement import AnyInfo, AnyRun, MeasuredInfo, MeasuredRun, unsealed
from profkit.model.notes import NoteCode
from profkit.model.run import RunInfo
from profkit.store.connections import Connection, Database, Row, Value
from profkit.store.database import (
    MEASUREMENTS,
    PARTS,
    PROFILES,
    REMOVED,
    RESOURCES,
    RUNS,
    TRACES,
    open_database,
)
from profkit.store.rows import info_of, rows_of, run_of, searchable

_SHOWN = 5
"""Maximum number of labels or ids in an error."""
_BATCH = 500
"""Maximum number of ids in a statement, since databases limit its parameters."""


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

        Known runs are skipped, unless these have more of them, as after a part of a folder was copied. So are
        removed ones, unless `again`.
        """
        given = {run.info.id: self._keepable(run) for run in runs}
        with self._database.reading() as connection:
            new = [*_unknown(connection, given, again), *_fuller(connection, given)]
        if new:
            self._database.check_file()
        # Encoding is slow, and others may write meanwhile.
        rows = {run_id: rows_of(given[run_id]) for run_id in new}
        with self._database.writing() as connection:
            fuller = _fuller(connection, {run_id: given[run_id] for run_id in new})
            _delete(connection, fuller)
            new = _unknown(connection, new, again)
            for batch in _batches(new if again else ()):
                connection.execute(f"DELETE FROM {REMOVED} WHERE run IN {_places(batch)}", *batch)
            for table in (RUNS, *PARTS):
                if values := [rows[run_id][table] for run_id in new if table in rows[run_id]]:
                    connection.execute_many(f"INSERT INTO {table} VALUES {_places(values[0])}", values)
        return tuple(given[run_id].info for run_id in new)

    def runs(self, label: str | None = None, limit: int | None = None) -> tuple[AnyInfo, ...]:
        """Return the runs of a label or all, newest first, at most `limit`."""
        with self._database.reading() as connection:
            if label is None:
                return self._readable(connection, limit=limit)
            return self._readable(connection, "label = ?", searchable(label), limit=limit)

    def find(self, wanted: str | None, recording: Collection[AnyInfo] = ()) -> AnyInfo:
        """Return the run of an id, else the newest of a label, else of an id prefix; None: the newest.

        `recording` are runs that are not stored yet. Raises what `not_found` returns, and UsageError for an
        ambiguous prefix.
        """
        with self._database.reading() as connection:
            stored = _newest(connection, limit=1) if wanted is None else _matching(connection, wanted)
        found = _meant((*recording, *stored), wanted)
        if found is None:
            raise self.not_found(wanted, recording)
        return found

    def not_found(self, wanted: str | None, recording: Iterable[AnyInfo] = ()) -> RunNotFound:
        """Return the error for a missing run, with some labels; StoreEmpty if there are no runs at all."""
        with self._database.reading() as connection:
            stored = _latest_labels(connection)
        labels = tuple(dict.fromkeys((*(info.label for info in recording), *stored)))
        if wanted is None or not labels:
            return StoreEmpty(self.name, CONFIG.spool)
        return RunNotFound(wanted, labels[:_SHOWN])

    def load(self, run_id: str, *, in_order: bool = True, trace_file: bool = False) -> AnyRun:
        """Load the run of exactly this id, with its samples and resources, or its measurement.

        Samples load faster if not `in_order`, the order in which they were taken. The file of its trace is
        loaded only if requested. Raises RunNotFound.
        """
        text = searchable(run_id)
        with self._database.reading() as connection:
            found = _newest(connection, "id = ?", text)
            parts = [
                connection.execute(f"SELECT {columns} FROM {table} WHERE run = ?", text)
                for table, columns in (
                    (PROFILES, "pprof"),
                    (RESOURCES, "points"),
                    (MEASUREMENTS, "document"),
                    (TRACES, f"document, {'file' if trace_file else 'NULL'}"),
                )
            ]
        if not found:
            raise RunNotFound(run_id)
        samples, points, numbers = (rows[0][0] if rows else None for rows in parts[:3])
        trace = parts[3][0] if parts[3] else None
        return run_of(found[0], samples, points, numbers, trace, in_order=in_order)

    def batch(self, batch: str) -> tuple[MeasuredInfo, ...]:
        """Return the runs that were measured together, in the order in which they started."""
        return tuple(info for info in self._of_session(batch) if isinstance(info, MeasuredInfo))

    def session(self, session: str) -> tuple[RunInfo, ...]:
        """Return the sampled runs of a session, in the order in which their regions started."""
        return tuple(info for info in self._of_session(session) if isinstance(info, RunInfo))

    def _of_session(self, session: str) -> list[AnyInfo]:
        with self._database.reading() as connection:
            found = self._readable(connection, "session = ?", searchable(session))
        return sorted(found, key=lambda info: (info.started_ns, info.id))

    def older_than(self, unix_ns: int) -> tuple[str, ...]:
        """Return the ids of runs that started before a time, oldest first."""
        query = f"SELECT id FROM {RUNS} WHERE started_ns < ? ORDER BY started_ns, id"
        with self._database.reading() as connection:
            return tuple(run_id for (run_id,) in connection.execute(query, unix_ns))

    def remove(self, run_ids: Iterable[str]) -> int:
        """Remove runs permanently, and return their number; unknown ids are ignored."""
        wanted = dict.fromkeys(map(searchable, run_ids))
        with self._database.writing() as connection:
            present = _present(connection, RUNS, "id", wanted)
            _delete(connection, present)
            connection.execute_many(f"INSERT INTO {REMOVED} VALUES (?)", [(run_id,) for run_id in present])
        return len(present)

    def has(self, run_id: str) -> bool:
        """Return whether there is a run of exactly this id, readable or not."""
        with self._database.reading() as connection:
            return bool(_present(connection, RUNS, "id", [searchable(run_id)]))

    def _keepable(self, run: AnyRun) -> AnyRun:
        """Return the run, without its seal if other users could copy that to their runs."""
        if not self._database.is_shared:
            return run
        if isinstance(run, MeasuredRun):
            return replace(run, info=unsealed(run.info))
        return replace(run, info=unsealed(run.info))

    def _readable(
        self, connection: Connection, condition: str = "", *values: Value, limit: int | None = None
    ) -> tuple[AnyInfo, ...]:
        infos = []
        for run_id, schema, document in _rows(connection, condition, *values, limit=limit):
            try:
                infos.append(info_of(run_id, schema, document))
            except DamagedFile as damage:
                if not self._skip_damaged:
                    raise
                self._damaged[run_id] = damage
        return tuple(infos)


def _unknown(connection: Connection, run_ids: Collection[str], again: bool) -> list[str]:
    """Return, in order, the ids that are not stored and, unless `again`, not removed."""
    known = _present(connection, RUNS, "id", run_ids)
    if not again:
        known |= _present(connection, REMOVED, "run", run_ids)
    return [run_id for run_id in run_ids if run_id not in known]


def _fuller(connection: Connection, given: Mapping[str, AnyRun]) -> list[str]:
    """Return the ids of stored runs of which these have more."""
    sampled = {run_id: run.info for run_id, run in given.items() if isinstance(run.info, RunInfo)}
    found: list[str] = []
    for batch in _batches(sampled):
        for run_id, schema, document in _rows(connection, f"id IN {_places(batch)}", *batch):
            with suppress(DamagedFile):
                stored = info_of(run_id, schema, document)
                if isinstance(stored, RunInfo) and _has_more(sampled[run_id], stored):
                    found.append(run_id)
    return found


def _has_more(one: RunInfo, other: RunInfo) -> bool:
    """Return whether more of a run was recorded, or has arrived; each of these only grows meanwhile."""
    first, second = (
        (
            info.last_ns,
            info.calls,
            info.samples,
            -sum(note.code is NoteCode.FILE_UNREADABLE for note in info.notes),
        )
        for info in (one, other)
    )
    return first != second and all(a >= b for a, b in zip(first, second, strict=True))


def _delete(connection: Connection, run_ids: Iterable[str]) -> None:
    for batch in _batches(run_ids):
        for table in PARTS:
            connection.execute(f"DELETE FROM {table} WHERE run IN {_places(batch)}", *batch)
        connection.execute(f"DELETE FROM {RUNS} WHERE id IN {_places(batch)}", *batch)


def _present(connection: Connection, table: str, column: str, values: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for batch in _batches(values):
        query = f"SELECT {column} FROM {table} WHERE {column} IN {_places(batch)}"
        found.update(value for (value,) in connection.execute(query, *batch))
    return found


def _places(values: Collection[object]) -> str:
    """Return the places of parameters, such as `(?, ?)`."""
    return f"({', '.join('?' * len(values))})"


def _batches(values: Iterable[str]) -> Iterator[list[str]]:
    left = iter(values)
    while batch := list(islice(left, _BATCH)):
        yield batch


def _newest(
    connection: Connection, condition: str = "", *values: Value, limit: int | None = None
) -> tuple[AnyInfo, ...]:
    return tuple(info_of(*row) for row in _rows(connection, condition, *values, limit=limit))


def _rows(connection: Connection, condition: str = "", *values: Value, limit: int | None = None) -> list[Row]:
    """Return the ids, schemas and documents of the runs that fulfil a condition, newest first."""
    where = f" WHERE {condition}" if condition else ""
    at_most = "" if limit is None else f" LIMIT {limit}"
    query = f"SELECT id, schema, document FROM {RUNS}{where} ORDER BY started_ns DESC, id{at_most}"
    return connection.execute(query, *values)


_BY_ID, _BY_LABEL, _BY_PREFIX = range(3)
"""How well a run matches, best first."""


def _meant(found: Iterable[AnyInfo], wanted: str | None) -> AnyInfo | None:
    """Return the newest of the runs that match best; raises UsageError for several of an id prefix."""
    ranked: dict[int, list[AnyInfo]] = {}
    for info in found:
        if (rank := _rank(info, wanted)) is not None:
            ranked.setdefault(rank, []).append(info)
    if not ranked:
        return None
    best = min(ranked)
    if best == _BY_PREFIX and len(ranked[best]) > 1:
        known = ", ".join(f"{info.id} ({info.label})" for info in ranked[best])
        raise UsageError(f"several runs have ids that begin with {wanted!r}: {known}", "give more digits")
    return min(ranked[best], key=lambda info: (-info.started_ns, info.id))


def _rank(info: AnyInfo, wanted: str | None) -> int | None:
    if wanted is None:
        return _BY_ID
    run_id, text = searchable(info.id), searchable(wanted)
    if run_id == text:
        return _BY_ID
    if searchable(info.label) == text:
        return _BY_LABEL
    # Ignore case, as LIKE does in SQLite.
    return _BY_PREFIX if run_id.lower().startswith(text.lower()) else None


def _matching(connection: Connection, wanted: str) -> tuple[AnyInfo, ...]:
    """Return the stored runs that match best; of several ids with a prefix, some."""
    text = searchable(wanted)
    for column in ("id", "label"):
        if exact := _newest(connection, f"{column} = ?", text, limit=1):
            return exact
    beginning = "".join(f"/{character}" if character in "/%_" else character for character in text)
    return _newest(connection, "id LIKE ? ESCAPE '/'", f"{beginning}%", limit=_SHOWN)


def _latest_labels(connection: Connection) -> tuple[str, ...]:
    query = f"SELECT label FROM {RUNS} GROUP BY label ORDER BY max(started_ns) DESC LIMIT {_SHOWN}"
    return tuple(label for (label,) in connection.execute(query))
