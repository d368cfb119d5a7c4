"""A run as rows of the store's tables, and back."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats import pprof
from profkit.model.profile import Profile
from profkit.model.run import Run, RunInfo
from profkit.model.session import ResourcePoint
from profkit.store.records import from_json, to_json
from profkit.store.schema import PROFILES, RESOURCES, RUN_SCHEMA, RUNS

Values = dict[str, object]


def rows_of(run: Run) -> dict[str, Values]:
    """The run's row in each table that has one for it, by the table's name."""
    info = run.info
    rows: dict[str, Values] = {
        RUNS.name: {
            "id": info.id,
            "session": searchable(info.session),
            "label": searchable(info.label),
            "started_ns": info.started_ns,
            "schema": RUN_SCHEMA,
            "document": json.dumps(to_json(info)),
        }
    }
    if run.profile is not None:
        rows[PROFILES.name] = {"run": info.id, "pprof": pprof.encode(run.profile)}
    if run.resources:
        points = json.dumps(to_json(run.resources)).encode("ascii")
        rows[RESOURCES.name] = {"run": info.id, "points": zlib.compress(points)}
    return rows


def searchable(text: str) -> str:
    """Text that any database can hold and compare: NUL and lone surrogates become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0")


def info_of(run_id: str, schema: str, document: str) -> RunInfo:
    """The run that a row's document describes; raises DamagedFile."""
    try:
        if schema != RUN_SCHEMA:
            raise ValueError(f"its schema is {schema!r}, and this profkit reads {RUN_SCHEMA!r}")
        return from_json(RunInfo, json.loads(document))
    except ValueError as error:
        raise DamagedFile(_part(run_id, "document"), str(error)) from error


def profile_of(run_id: str, data: bytes | None) -> Profile | None:
    """The profile in a row, None where there is no row; raises DamagedFile."""
    return None if data is None else pprof.decode(data, _part(run_id, "profile"))


def resources_of(run_id: str, data: bytes | None) -> tuple[ResourcePoint, ...]:
    """The resources in a row, none where there is no row; raises DamagedFile."""
    if data is None:
        return ()
    try:
        return tuple(from_json(ResourcePoint, point) for point in json.loads(zlib.decompress(data)))
    except (zlib.error, ValueError, TypeError) as error:
        raise DamagedFile(_part(run_id, "resources"), str(error)) from error


def _part(run_id: str, name: str) -> Path:
    """What stands for a file where a part of a run is damaged."""
    return Path(f"the {name} of run {run_id}")
