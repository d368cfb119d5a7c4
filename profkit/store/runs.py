"""Store of sampled and measured runs: add, list, load and remove them, and find the run a name means."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from sqlalchemy import Column, ColumnElement, Connection, CursorResult, delete, func, insert, null, select

from profkit.config import CONFIG
from profkit.errors import DamagedFile, RunNotFound, StoreEmpty, UsageError
from profkit.formats import pprof
from profkit.model.measurement import AnyInfo, AnyRun, MeasuredInfo, MeasuredRun, Measurement, unsealed
from profkit.model.profile import Profile
from profkit.model.run import Run, RunInfo
from profkit.model.session import ResourcePoint
from profkit.model.trace import Trace
from profkit.store.database import (
    MEASUREMENTS,
    PROFILES,
    REMOVED,
    RESOURCES,
    RUN_SCHEMA,
    RUNS,
    TRACES,
    Database,
    open_database,
)
from profkit.store.measured import SCHEMA as MEASURED_SCHEMA
from profkit.store.records import from_file, to_json

Values = dict[str, object]
_T = TypeVar("_T")


def rows_of(run: AnyRun) -> dict[str, Values]:
    """Return the run's rows by table name; tables without a row for it are omitted."""
    if isinstance(run, MeasuredRun):
        rows = {RUNS.name: _run_row(run.info, run.info.batch, MEASURED_SCHEMA)}
        if run.measurement is not None:
            rows[MEASUREMENTS.name] = {"run": run.info.id, "document": _compressed(run.measurement)}
        return rows
    rows = {RUNS.name: _run_row(run.info, run.info.session, RUN_SCHEMA)}
    if run.profile is not None:
        rows[PROFILES.name] = {"run": run.info.id, "pprof": pprof.encode(run.profile)}
    if run.resources:
        rows[RESOURCES.name] = {"run": run.info.id, "points": _compressed(run.resources)}
    if run.trace is not None:
        document, file = _compressed(run.trace), run.trace_file or b""
        rows[TRACES.name] = {"run": run.info.id, "document": document, "file": file}
    return rows


def searchable(text: str) -> str:
    """Escape NUL and lone surrogates, so that any database can hold and compare the text."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0")


def info_of(run_id: str, schema: str, document: str) -> AnyInfo:
    """Return the info in a row's document; raises DamagedFile."""
    try:
        if not isinstance(document, str) or not document.isascii():  # SQLite accepts any type in any column
            raise ValueError("it is not ASCII text")
        if schema == MEASURED_SCHEMA:
            return from_file(MeasuredInfo, json.loads(document))
        if schema == RUN_SCHEMA:
            return from_file(RunInfo, json.loads(document))
    except (ValueError, RecursionError) as error:
        fix = f"all other runs are intact; `profkit rm {run_id}` removes this one"
        raise DamagedFile(_place(run_id, "document"), str(error), fix=fix) from error
    known = f"{RUN_SCHEMA!r} and {MEASURED_SCHEMA!r}"
    detail = f"its schema is {schema!r}, and this profkit reads {known}"
    raise DamagedFile(_place(run_id, "document"), detail, fix="upgrade profkit")


def run_of(
    info: AnyInfo,
    samples: bytes | None,
    points: bytes | None,
    measurement: bytes | None,
    trace: tuple[bytes, bytes | None] | None = None,
    *,
    in_order: bool = True,
) -> AnyRun:
    """Return the run with the data of its other rows, None for missing rows; raises DamagedFile."""
    try:
        if isinstance(info, MeasuredInfo):
            return MeasuredRun(info, _part(Measurement, info.id, "measurement", measurement))
        of_torch = _part(Trace, info.id, "trace", trace and trace[0])
        profile, resources = _profile(info.id, samples, in_order), _resources(info.id, points)
        return Run(info, profile, resources, trace=of_torch, trace_file=trace[1] if trace else None)
    except DamagedFile as error:
        fix = f"all other runs are intact; `profkit rm {info.id}` removes this one"
        raise DamagedFile(error.path, error.detail, fix=fix) from error


def _run_row(info: AnyInfo, session: str, schema: str) -> Values:
    return {
        "id": info.id,
        "session": searchable(session),
        "label": searchable(info.label),
        "started_ns": info.started_ns,
        "schema": schema,
        "document": json.dumps(to_json(info)),
    }


def _profile(run_id: str, data: bytes | None, in_order: bool) -> Profile | None:
    if data is not None and not isinstance(data, bytes):
        raise DamagedFile(_place(run_id, "profile"), f"it is not a blob but {type(data).__name__}")
    return None if data is None else pprof.decode(data, _place(run_id, "profile"), in_order=in_order)


def _resources(run_id: str, data: bytes | None) -> tuple[ResourcePoint, ...]:
    if data is None:
        return ()
    try:
        return tuple(from_file(ResourcePoint, point) for point in json.loads(zlib.decompress(data)))
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise DamagedFile(_place(run_id, "resources"), str(error)) from error


def _part(kind: type[_T], run_id: str, name: str, data: bytes | None) -> _T | None:
    """Return the dataclass in a compressed document; None if there is none."""
    if data is None:
        return None
    try:
        return from_file(kind, json.loads(zlib.decompress(data)))
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise DamagedFile(_place(run_id, name), str(error)) from error


def _compressed(value: object) -> bytes:
    return zlib.compress(json.dumps(to_json(value)).encode("ascii"))


def _place(run_id: str, name: str) -> Path:
    """Return the path that an error shows for a damaged part of a run."""
    return Path(f"the {name} of run {run_id}")


_SHOWN = 5
"""Maximum number of labels or ids in an error."""
_BATCH = 500
"""Maximum number of ids in a statement, since databases limit its parameters."""


def open_store(url: str, *, skip_damaged: bool = False) -> Store:
    """Open the store of an SQLAlchemy URL; create or migrate it if necessary. Raises StoreUnavailable."""
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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

        Known runs are skipped, and so are removed ones unless `again`.
        """
        given = {run.info.id: self._keepable(run) for run in runs}
        with self._database.reading() as connection:
            new = _unknown(connection, given, again)
        if new:
            self._database.check_file()
        # Encoding is slow, and others may write meanwhile.
        rows = {run_id: rows_of(given[run_id]) for run_id in new}
        with self._database.writing() as connection:
            new = _unknown(connection, new, again)
            for batch in _batches(new if again else ()):
                connection.execute(delete(REMOVED).where(REMOVED.c.run.in_(batch)))
            for table in (RUNS, PROFILES, RESOURCES, MEASUREMENTS, TRACES):
                values = [rows[run_id][table.name] for run_id in new if table.name in rows[run_id]]
                if values:
                    connection.execute(insert(table), values)
        return tuple(given[run_id].info for run_id in new)

    def runs(self, label: str | None = None, limit: int | None = None) -> tuple[AnyInfo, ...]:
        """Return the runs of a label or all, newest first, at most `limit`."""
        conditions = () if label is None else (RUNS.c.label == searchable(label),)
        with self._database.reading() as connection:
            return self._readable(connection, *conditions, limit=limit)

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
            found = _newest(connection, RUNS.c.id == text)
            samples = connection.scalar(select(PROFILES.c.pprof).where(PROFILES.c.run == text))
            points = connection.scalar(select(RESOURCES.c.points).where(RESOURCES.c.run == text))
            numbers = connection.scalar(select(MEASUREMENTS.c.document).where(MEASUREMENTS.c.run == text))
            columns = TRACES.c.document, TRACES.c.file if trace_file else null()
            trace = connection.execute(select(*columns).where(TRACES.c.run == text)).one_or_none()
        if not found:
            raise RunNotFound(run_id)
        return run_of(found[0], samples, points, numbers, trace and tuple(trace), in_order=in_order)

    def batch(self, batch: str) -> tuple[MeasuredInfo, ...]:
        """Return the runs that were measured together, in the order in which they started."""
        with self._database.reading() as connection:
            found = self._readable(connection, RUNS.c.session == searchable(batch))
        measured = [info for info in found if isinstance(info, MeasuredInfo)]
        return tuple(sorted(measured, key=lambda info: (info.started_ns, info.id)))

    def session(self, session: str) -> tuple[RunInfo, ...]:
        """Return the sampled runs of a session, in the order in which their regions started."""
        with self._database.reading() as connection:
            found = self._readable(connection, RUNS.c.session == searchable(session))
        sampled = [info for info in found if isinstance(info, RunInfo)]
        return tuple(sorted(sampled, key=lambda info: (info.started_ns, info.id)))

    def older_than(self, unix_ns: int) -> tuple[str, ...]:
        """Return the ids of runs that started before a time, oldest first."""
        query = select(RUNS.c.id).where(RUNS.c.started_ns < unix_ns).order_by(RUNS.c.started_ns, RUNS.c.id)
        with self._database.reading() as connection:
            return tuple(connection.scalars(query))

    def remove(self, run_ids: Iterable[str]) -> int:
        """Remove runs permanently, and return their number; unknown ids are ignored."""
        wanted = dict.fromkeys(map(searchable, run_ids))
        with self._database.writing() as connection:
            present = _present(connection, RUNS.c.id, wanted)
            for batch in _batches(present):
                parts = PROFILES.c.run, RESOURCES.c.run, MEASUREMENTS.c.run, TRACES.c.run
                for column in (*parts, RUNS.c.id):
                    connection.execute(delete(column.table).where(column.in_(batch)))
                connection.execute(insert(REMOVED), [{"run": run_id} for run_id in batch])
        return len(present)

    def has(self, run_id: str) -> bool:
        """Return whether there is a run of exactly this id, readable or not."""
        with self._database.reading() as connection:
            return bool(_present(connection, RUNS.c.id, [searchable(run_id)]))

    def _keepable(self, run: AnyRun) -> AnyRun:
        """Return the run, without its seal if other users could copy that to their runs."""
        if not self._database.is_shared:
            return run
        if isinstance(run, MeasuredRun):
            return replace(run, info=unsealed(run.info))
        return replace(run, info=unsealed(run.info))

    def _readable(
        self, connection: Connection, *conditions: ColumnElement[bool], limit: int | None = None
    ) -> tuple[AnyInfo, ...]:
        infos = []
        for row in _rows(connection, *conditions, limit=limit):
            try:
                infos.append(info_of(row.id, row.schema, row.document))
            except DamagedFile as damage:
                if not self._skip_damaged:
                    raise
                self._damaged[row.id] = damage
        return tuple(infos)


def _unknown(connection: Connection, run_ids: Collection[str], again: bool) -> list[str]:
    """Return, in order, the ids that are not stored and, unless `again`, not removed."""
    known = _present(connection, RUNS.c.id, run_ids)
    if not again:
        known |= _present(connection, REMOVED.c.run, run_ids)
    return [run_id for run_id in run_ids if run_id not in known]


def _present(connection: Connection, column: Column[str], values: Iterable[str]) -> set[str]:
    """Return the values that a column holds."""
    found: set[str] = set()
    for batch in _batches(values):
        found.update(connection.scalars(select(column).where(column.in_(batch))))
    return found


def _batches(values: Iterable[str]) -> Iterator[list[str]]:
    left = iter(values)
    while batch := list(islice(left, _BATCH)):
        yield batch


def _newest(
    connection: Connection, *conditions: ColumnElement[bool], limit: int | None = None
) -> tuple[AnyInfo, ...]:
    rows = _rows(connection, *conditions, limit=limit)
    return tuple(info_of(row.id, row.schema, row.document) for row in rows)


def _rows(
    connection: Connection, *conditions: ColumnElement[bool], limit: int | None
) -> CursorResult[tuple[str, str, str]]:
    query = select(RUNS.c.id, RUNS.c.schema, RUNS.c.document).where(*conditions)
    return connection.execute(query.order_by(RUNS.c.started_ns.desc(), RUNS.c.id).limit(limit))


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
    exact = _newest(connection, RUNS.c.id == text, limit=1) or _newest(
        connection, RUNS.c.label == text, limit=1
    )
    return exact or _newest(connection, RUNS.c.id.startswith(text, autoescape=True), limit=_SHOWN)


def _latest_labels(connection: Connection) -> tuple[str, ...]:
    latest = func.max(RUNS.c.started_ns).desc()
    return tuple(
        connection.scalars(select(RUNS.c.label).group_by(RUNS.c.label).order_by(latest).limit(_SHOWN))
    )
