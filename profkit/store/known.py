"""Duplicates among runs that are added to a store: new ones, fuller ones, and ids that are taken."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from itertools import chain

from profkit.errors import DamagedFile, ProfkitError
from profkit.model.measurement import AnyInfo, AnyRun
from profkit.model.notes import NoteCode
from profkit.model.run import RunInfo
from profkit.store.connections import Connection
from profkit.store.database import REMOVED, RUNS
from profkit.store.lookups import batches, places, present, rows_where
from profkit.store.rows import earlier_id, info_of, searchable


class IdTaken(ProfkitError):
    """A run has the id of another run."""

    exit_code = 7

    def __init__(self, given: AnyInfo, other: AnyInfo) -> None:
        self.run_id = given.id
        self.detail = (
            f"its run {given.id} ({given.label}) has the id of another one, {other.label} of {_origin(other)}"
        )
        super().__init__(
            f"run {given.id} ({given.label} of {_origin(given)}) has the id of another one, {other.label} of "
            f"{_origin(other)}; if you no longer need that, remove it with `profkit rm {given.id}`"
        )


def by_id(runs: Iterable[AnyRun]) -> dict[str, AnyRun]:
    """Return runs by id, the last of those that were given twice; raises IdTaken for different ones."""
    found: dict[str, AnyRun] = {}
    for run in runs:
        _check_same(run.info, found.setdefault(run.info.id, run).info)
        found[run.info.id] = run
    return found


def unknown(connection: Connection, given: Mapping[str, AnyRun], again: bool) -> list[str]:
    """Return, in order, the ids that are not stored and, unless `again`, not removed.

    A run that an earlier version has stored is known by the beginning of its id.
    """
    wanted = dict.fromkeys(chain(given, map(earlier_id, given)))
    stored: dict[str, str] = {}
    for batch in batches(wanted):
        query = f"SELECT id, session FROM {RUNS} WHERE id IN {places(batch)}"
        stored.update((run_id, session) for run_id, session in connection.execute(query, *batch))
    removed: Collection[str] = () if again else present(connection, REMOVED, "run", given)
    return [
        run_id
        for run_id, run in given.items()
        if not (run_id in stored or run_id in removed or _had_earlier_id(run.info, stored))
    ]


def _had_earlier_id(info: AnyInfo, stored: Mapping[str, str]) -> bool:
    # The session of an imported run has its id, too.
    session = stored.get(earlier_id(info.id))
    return session is not None and searchable(_origin(info)).startswith(session)


def fuller(connection: Connection, given: Mapping[str, AnyRun]) -> list[str]:
    """Return the ids of stored runs of which these have more, or have joined a job; raises IdTaken."""
    found: list[str] = []
    for batch in batches(given):
        for run_id, schema, document, *_ in rows_where(connection, f"id IN {places(batch)}", *batch):
            with suppress(DamagedFile):
                stored, info = info_of(run_id, schema, document), given[run_id].info
                _check_same(info, stored)
                if isinstance(stored, RunInfo) and isinstance(info, RunInfo):
                    found += [run_id] if _has_more(info, stored) or _has_joined(info, stored) else []
    return found


def _has_joined(one: RunInfo, other: RunInfo) -> bool:
    """Return whether an imported run now belongs to a job, or to another one."""
    return one.imported is not None and one.process.member.job not in ("", other.process.member.job)


def _check_same(given: AnyInfo, other: AnyInfo) -> None:
    if _origin(given) != _origin(other):
        raise IdTaken(given, other)


def _origin(info: AnyInfo) -> str:
    """Return the session of a run, or the batch in which it was measured."""
    return info.session if isinstance(info, RunInfo) else info.batch


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
