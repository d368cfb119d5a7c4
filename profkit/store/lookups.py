"""Queries of the table of runs: pages of lists, which run a text means, and what `profkit gc` removes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from profkit.errors import UsageError
from profkit.model.measurement import AnyInfo
from profkit.store.connections import Connection, Row, Value
from profkit.store.database import RUNS, SENT
from profkit.store.rows import earlier_id, searchable

MOST_AT_ONCE = 500
"""Maximum number of runs in a page, and of ids in a statement, since databases limit its parameters."""
SHOWN = 5
"""Maximum number of labels or ids in an error."""

_SEARCHED = 1000
"""Number of the newest runs among which the latest labels are searched."""
_AFTER_HEX = "~"
"""A character after all those of ids, which are hexadecimal digits."""
_LAST_CHARACTER = "\U0010ffff"
_MOST_RANKS = 1000
"""Number of the newest runs, for each wanted job, among which the newest jobs are searched first."""

_EXPIRED = f"""
SELECT id FROM (
    SELECT id, started_ns, row_number() OVER (PARTITION BY label ORDER BY started_ns DESC, id) AS place
    FROM {RUNS}
) AS placed WHERE place > ?"""
_OLDER = f"SELECT id FROM {RUNS} WHERE started_ns < ?"


def _each_of(column: str, indexed: str = "TRUE") -> str:
    """Return the beginning of a query of the values of a column: `value`, which is null at their end.

    It steps from value to value in an index, of the rows for which `indexed` is true. A scan of all its
    entries would take as long as there are runs.
    """
    return f"""
WITH RECURSIVE steps (value) AS (
    SELECT min({column}) FROM {RUNS} WHERE {indexed}
    UNION ALL
    SELECT (SELECT min({column}) FROM {RUNS} WHERE {column} > steps.value AND {indexed})
    FROM steps WHERE value IS NOT NULL
) """


_LABELS = f"{_each_of('label')} SELECT value FROM steps WHERE value IS NOT NULL"
_IN_JOB, _IN_SERIES = "job <> ''", "series <> ''"
"""Conditions of partial indexes, which queries must repeat."""
_NEWEST_JOBS = f"""
SELECT job FROM (
    SELECT job, started_ns FROM {RUNS} WHERE {_IN_JOB} ORDER BY started_ns DESC LIMIT ?
) AS newest GROUP BY job ORDER BY max(started_ns) DESC, job LIMIT ?"""
_LATEST_OF_JOB = f"SELECT max(started_ns) FROM {RUNS} WHERE {_IN_JOB} AND job = value"
_OF_JOB = f"{_each_of('series', f'{_IN_JOB} AND job = ?')} SELECT value FROM steps WHERE value IS NOT NULL"
_SERIES = f"{_each_of('series', _IN_SERIES)} SELECT value FROM steps WHERE value IS NOT NULL"
_LABEL_OF_SERIES = (
    f"SELECT label FROM {RUNS} WHERE {_IN_SERIES} AND series = value ORDER BY started_ns DESC, id LIMIT 1"
)
_NEWEST_SERIES = (
    f" ORDER BY (SELECT max(started_ns) FROM {RUNS} WHERE {_IN_SERIES} AND series = value) DESC, value LIMIT "
)
_SUMS = f"""
SELECT count(*), min(started_ns), sum(calls), sum(wall_ns), sum(samples) FROM {RUNS}
WHERE {_IN_SERIES} AND series = ?"""


def rows_where(
    connection: Connection, condition: str = "", *values: Value, limit: int | None = None
) -> list[Row]:
    """Return columns of the runs that fulfil a condition, newest first.

    They are the ids, schemas, documents, starts and series.
    """
    where = f" WHERE {condition}" if condition else ""
    at_most = "" if limit is None else f" LIMIT {limit}"
    query = (
        f"SELECT id, schema, document, started_ns, series FROM {RUNS}{where} "
        f"ORDER BY started_ns DESC, id{at_most}"
    )
    return connection.execute(query, *values)


def page(connection: Connection, label: str | None, after: Row | None, limit: int) -> list[Row]:
    """Return the next rows of a label or all, after the last one of the page before."""
    conditions: list[str] = []
    values: list[Value] = []
    if label is not None:
        conditions.append("label = ?")
        values.append(searchable(label))
    if after is not None:
        # The first part is a range of the index.
        conditions.append("started_ns <= ? AND (started_ns < ? OR id > ?)")
        values += [after[3], after[3], after[0]]
    return rows_where(connection, " AND ".join(conditions), *values, limit=limit)


def count_of_label(connection: Connection, label: str) -> int:
    """Return the number of runs of a label."""
    ((number,),) = connection.execute(f"SELECT count(*) FROM {RUNS} WHERE label = ?", searchable(label))
    return int(number)


def newest_of_each(
    connection: Connection, label: str | None, limit: int, without: Collection[str]
) -> list[Row]:
    """Return the newest rows of a label or all; of windows the newest one of each series."""
    of_label, values = ("", ()) if label is None else (" AND label = ?", (searchable(label),))
    others = rows_where(connection, f"series = ''{of_label}", *values, limit=limit)
    has_label = f" AND ({_LABEL_OF_SERIES}) = ?" if values else ""
    query = f"{_SERIES}{has_label}{_NEWEST_SERIES}{limit + len(without)}"
    left = [series for (series,) in connection.execute(query, *values) if series not in without]
    windows = [row for series in left for row in rows_of_series(connection, series, 1)]
    return sorted((*others, *windows), key=lambda row: (-row[3], row[0]))[:limit]


def rows_of_series(connection: Connection, series: str, limit: int) -> list[Row]:
    """Return the rows of the newest windows of a series."""
    return rows_where(connection, f"{_IN_SERIES} AND series = ?", series, limit=limit)


def sums_of_series(connection: Connection, series: str) -> tuple[int, ...]:
    """Return the number of the windows of a series, their first start, calls, wall time and samples."""
    (sums,) = connection.execute(_SUMS, series)
    return tuple(map(int, sums))


def rows_of_job(connection: Connection, job: str, limit: int | None) -> list[Row]:
    """Return the rows of the job with exactly this name."""
    return rows_where(connection, f"{_IN_JOB} AND job = ?", searchable(job), limit=limit)


def newest_of_job(connection: Connection, job: str) -> list[Row]:
    """Return the rows of the job with exactly this name; of windows the newest one of each series."""
    name = searchable(job)
    each = [series for (series,) in connection.execute(_OF_JOB, name, name)]
    limits = ((series, 1 if series else None) for series in each)
    where = f"{_IN_JOB} AND job = ? AND series = ?"
    return [row for series, most in limits for row in rows_where(connection, where, name, series, limit=most)]


def matching(connection: Connection, wanted: str | None) -> list[Row]:
    """Return the rows of the stored runs that match best; of several ids with a prefix, some."""
    if wanted is None:
        return rows_where(connection, limit=1)
    text = searchable(wanted)
    for column in ("id", "label"):
        if exact := rows_where(connection, f"{column} = ?", text, limit=1):
            return exact
    found = rows_where(connection, *_beginning(connection, text), limit=SHOWN)
    return found or rows_where(connection, "id = ?", earlier_id(text), limit=1)


def ids_beginning(connection: Connection, text: str, limit: int) -> list[str]:
    """Return some ids with a prefix."""
    condition, *values = _beginning(connection, searchable(text))
    found = connection.execute(f"SELECT id FROM {RUNS} WHERE {condition} LIMIT {limit}", *values)
    return [run_id for (run_id,) in found]


def _beginning(connection: Connection, text: str) -> tuple[str, str, str]:
    """Return a condition that an index fulfils, which LIKE is not for all collations, and its values."""
    column = f"id {connection.bytewise}"
    digits = text.lower()
    return f"{column} >= ? AND {column} < ?", digits, f"{digits}{_AFTER_HEX}"


def job_names(connection: Connection, beginning: str, limit: int | None) -> list[str]:
    """Return the names of jobs that begin with a text, newest first."""
    if limit is None or beginning or len(found := _newest_jobs(connection, limit)) < limit:
        column, text = f"job {connection.bytewise}", searchable(beginning)
        each = _each_of(column, f"{_IN_JOB} AND {column} >= ? AND {column} < ?")
        at_most = "" if limit is None else f" LIMIT {limit}"
        query = (
            f"{each} SELECT value FROM steps WHERE value IS NOT NULL "
            f"ORDER BY ({_LATEST_OF_JOB}) DESC, value{at_most}"
        )
        found = connection.execute(query, *(text, f"{text}{_LAST_CHARACTER}") * 2)
    return [job for (job,) in found]


def _newest_jobs(connection: Connection, limit: int) -> list[Row]:
    """Return the names of the newest jobs; possibly too few if some have very many runs."""
    return connection.execute(_NEWEST_JOBS, limit * _MOST_RANKS, limit)


def unsent_ids(connection: Connection, place: str, host: str) -> list[str]:
    """Return the ids of runs in a file that were not sent to a place yet, oldest first.

    Most are of the host: only its name is searched in the documents, which is fast, and those of runs that
    were sent are not read.
    """
    query = (
        f"SELECT id FROM (SELECT id AS unsent FROM {RUNS} WHERE NOT EXISTS "
        f"(SELECT 1 FROM {SENT} WHERE run = id AND place = ?)) CROSS JOIN {RUNS} ON id = unsent "
        "WHERE instr(document, ?) > 0 ORDER BY started_ns, id"
    )
    found = connection.execute(query, searchable(place), f'"host": {json.dumps(host)}')
    return [run_id for (run_id,) in found]


def latest_labels(connection: Connection) -> tuple[str, ...]:
    """Return the labels of the newest runs."""
    newest = f"SELECT label, started_ns FROM {RUNS} ORDER BY started_ns DESC, id LIMIT {_SEARCHED}"
    query = (
        f"SELECT label FROM ({newest}) AS newest GROUP BY label ORDER BY max(started_ns) DESC LIMIT {SHOWN}"
    )
    return tuple(label for (label,) in connection.execute(query))


def all_labels(connection: Connection) -> list[str]:
    """Return all labels, sorted."""
    return [label for (label,) in connection.execute(_LABELS)]


def count_expired(connection: Connection, before_ns: int | None, keep: int) -> int:
    """Return the number of old runs, as `expired_ids` chooses them."""
    query, values = _expired(before_ns, keep)
    ((number,),) = connection.execute(f"SELECT count(*) FROM ({query}) AS expired", *values)
    return int(number)


def expired_ids(
    connection: Connection, before_ns: int | None, keep: int, limit: int | None = None
) -> list[str]:
    """Return the ids of old runs (before None: any) but the newest `keep` of each label, newest first."""
    query, values = _expired(before_ns, keep)
    at_most = "" if limit is None else f" LIMIT {limit}"
    found = connection.execute(f"{query} ORDER BY started_ns DESC, id{at_most}", *values)
    return [run_id for (run_id,) in found]


def _expired(before_ns: int | None, keep: int) -> tuple[str, tuple[int, ...]]:
    if before_ns is None:
        return _EXPIRED, (keep,)
    return (_OLDER, (before_ns,)) if keep == 0 else (f"{_EXPIRED} AND started_ns < ?", (keep, before_ns))


def present(connection: Connection, table: str, column: str, values: Iterable[str]) -> set[str]:
    """Return those of the values that a column of a table has."""
    found: set[str] = set()
    for batch in batches(values):
        query = f"SELECT {column} FROM {table} WHERE {column} IN {places(batch)}"
        found.update(value for (value,) in connection.execute(query, *batch))
    return found


def places(values: Collection[object]) -> str:
    """Return the places of parameters, such as `(?, ?)`."""
    return f"({', '.join('?' * len(values))})"


def batches(values: Iterable[str]) -> Iterator[list[str]]:
    """Yield the values in lists that a statement can have."""
    left = iter(values)
    while batch := list(islice(left, MOST_AT_ONCE)):
        yield batch


_BY_ID, _BY_LABEL, _BY_PREFIX, _BY_EARLIER_ID = range(4)
"""How well a run matches, best first."""


def meant(found: Iterable[AnyInfo], wanted: str | None) -> AnyInfo | None:
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
    if run_id.lower().startswith(text.lower()):
        return _BY_PREFIX
    return _BY_EARLIER_ID if run_id == earlier_id(text) else None
