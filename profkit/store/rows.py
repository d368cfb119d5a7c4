"""A run as rows of the store's tables, and back."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats import pprof
from profkit.model.measurement import MeasuredInfo, MeasuredRun, Measurement
from profkit.model.profile import Profile
from profkit.model.run import AnyInfo, AnyRun, Run, RunInfo
from profkit.model.session import ResourcePoint
from profkit.store.measured import SCHEMA as MEASURED_SCHEMA
from profkit.store.records import from_file, to_json
from profkit.store.schema import MEASUREMENTS, PROFILES, RESOURCES, RUN_SCHEMA, RUNS

Values = dict[str, object]

_RUN_SCHEMA_1 = "profkit.run/1"


def rows_of(run: AnyRun) -> dict[str, Values]:
    """The run's row in each table that has one for it, by the table's name."""
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
    return rows


def searchable(text: str) -> str:
    """Text that any database can hold and compare: NUL and lone surrogates become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0")


def info_of(run_id: str, schema: str, document: str) -> AnyInfo:
    """The run that a row's document describes; raises DamagedFile."""
    try:
        if not isinstance(document, str) or not document.isascii():  # SQLite keeps anything in any column
            raise ValueError("it is not ASCII text")
        if schema == MEASURED_SCHEMA:
            return from_file(MeasuredInfo, json.loads(document))
        if schema == RUN_SCHEMA:
            return from_file(RunInfo, json.loads(document))
        if schema == _RUN_SCHEMA_1:
            return _info_of_schema_1(json.loads(document))
    except (ValueError, RecursionError) as error:
        remedy = f"all other runs are whole; `profkit rm {run_id}` removes this one"
        raise DamagedFile(_part(run_id, "document"), str(error), remedy=remedy) from error
    known = f"{_RUN_SCHEMA_1!r}, {RUN_SCHEMA!r} and {MEASURED_SCHEMA!r}"
    detail = f"its schema is {schema!r}, and this profkit reads {known}"
    raise DamagedFile(_part(run_id, "document"), detail, remedy="upgrade profkit")


def run_of(
    info: AnyInfo,
    samples: bytes | None,
    points: bytes | None,
    measurement: bytes | None,
    *,
    in_order: bool = True,
) -> AnyRun:
    """The run with what its other rows hold, each None where there is no row; raises DamagedFile."""
    try:
        if isinstance(info, MeasuredInfo):
            return MeasuredRun(info, _measurement(info.id, measurement))
        return Run(info, _profile(info.id, samples, in_order), _resources(info.id, points))
    except DamagedFile as error:
        remedy = f"all other runs are whole; `profkit rm {info.id}` removes this one"
        raise DamagedFile(error.path, error.detail, remedy=remedy) from error


def _info_of_schema_1(document: object) -> RunInfo:
    """From before runs could be imported."""
    if not isinstance(document, dict) or "imported" in document:
        raise ValueError(f"it is no document of {_RUN_SCHEMA_1!r}")
    return from_file(RunInfo, {**document, "imported": None})


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
        raise DamagedFile(_part(run_id, "profile"), f"it is no blob but {type(data).__name__}")
    return None if data is None else pprof.decode(data, _part(run_id, "profile"), in_order=in_order)


def _resources(run_id: str, data: bytes | None) -> tuple[ResourcePoint, ...]:
    if data is None:
        return ()
    try:
        return tuple(from_file(ResourcePoint, point) for point in json.loads(zlib.decompress(data)))
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise DamagedFile(_part(run_id, "resources"), str(error)) from error


def _measurement(run_id: str, data: bytes | None) -> Measurement | None:
    if data is None:
        return None
    try:
        return from_file(Measurement, json.loads(zlib.decompress(data)))
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise DamagedFile(_part(run_id, "measurement"), str(error)) from error


def _compressed(value: object) -> bytes:
    return zlib.compress(json.dumps(to_json(value)).encode("ascii"))


def _part(run_id: str, name: str) -> Path:
    """What stands for a file where a part of a run is damaged."""
    return Path(f"the {name} of run {run_id}")
