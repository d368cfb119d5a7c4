"""Rows of a run in the store's tables, and the run from its rows."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import TypeVar

from profkit.errors import DamagedFile
from profkit.model.measurement import AnyInfo, AnyRun, MeasuredInfo, MeasuredRun, Measurement
from profkit.model.profile import Profile
from profkit.model.run import EARLIER_ID_DIGITS, ID_DIGITS, Run, RunInfo
from profkit.model.session import ResourcePoint
from profkit.model.trace import Trace
from profkit.store import profiles
from profkit.store.database import CONTENTS, MEASUREMENTS, RESOURCES, RUN_SCHEMA, RUNS, TRACES, TURNS
from profkit.store.measured import SCHEMA as MEASURED_SCHEMA
from profkit.store.profiles import Kept
from profkit.store.records import from_json, to_json

Values = tuple[str | int | bytes | None, ...]
"""Values of a row, in the order of the table's columns."""
RUN_COLUMNS = (
    "id", "session", "label", "started_ns", "schema", "document", "profile", "job",
    "series", "calls", "wall_ns", "samples",
)  # fmt: skip
"""Columns of a run's row; those that others have made have defaults."""
_T = TypeVar("_T")


def rows_of(run: AnyRun) -> dict[str, Values]:
    """Return the run's rows by table name; tables without a row for it are omitted."""
    if isinstance(run, MeasuredRun):
        rows = {RUNS: _run_row(run.info, run.info.batch, MEASURED_SCHEMA)}
        if run.measurement is not None:
            rows[MEASUREMENTS] = (run.info.id, _compressed(run.measurement))
        return rows
    kept = None if run.profile is None else profiles.encode(run.profile)
    digest = None if kept is None else hashlib.sha256(kept.profile).hexdigest()
    rows = {RUNS: _run_row(run.info, run.info.session, RUN_SCHEMA, digest)}
    if kept is not None:
        rows[CONTENTS] = (digest, kept.profile)
        if kept.turns is not None:
            rows[TURNS] = (run.info.id, kept.turns)
    if run.resources:
        rows[RESOURCES] = (run.info.id, _compressed(run.resources))
    if run.trace is not None:
        rows[TRACES] = (run.info.id, _compressed(run.trace), run.trace_file or b"")
    return rows


def earlier_id(text: str) -> str:
    """Return the id that an earlier version gave the run of an id; the text itself if it is none."""
    return text[:EARLIER_ID_DIGITS] if len(text) == ID_DIGITS else text


def searchable(text: str) -> str:
    """Escape NUL and lone surrogates, so that any database can hold and compare the text."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0")


def info_of(run_id: str, schema: str, document: str) -> AnyInfo:
    """Return the info in a row's document; raises DamagedFile."""
    try:
        if not isinstance(document, str) or not document.isascii():  # SQLite accepts any type in any column
            raise ValueError("it is not ASCII text")
        if schema == MEASURED_SCHEMA:
            return from_json(MeasuredInfo, json.loads(document))
        if schema == RUN_SCHEMA:
            return from_json(RunInfo, json.loads(document))
    except (ValueError, RecursionError) as error:
        fix = f"all other runs are intact; `profkit rm {run_id}` removes this one"
        raise DamagedFile(_place(run_id, "document"), str(error), fix=fix) from error
    known = f"{RUN_SCHEMA!r} and {MEASURED_SCHEMA!r}"
    detail = f"its schema is {schema!r}, and this profkit reads {known}"
    raise DamagedFile(_place(run_id, "document"), detail, fix="upgrade profkit")


def run_of(
    info: AnyInfo,
    samples: Kept | None,
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
        resources = _part(tuple[ResourcePoint, ...], info.id, "resources", points) or ()
        profile = _profile(info.id, samples, in_order)
        return Run(info, profile, resources, trace=of_torch, trace_file=trace[1] if trace else None)
    except DamagedFile as error:
        fix = f"all other runs are intact; `profkit rm {info.id}` removes this one"
        raise DamagedFile(error.path, error.detail, fix=fix) from error


def _run_row(info: AnyInfo, session: str, schema: str, profile: str | None = None) -> Values:
    document = json.dumps(to_json(info))
    job = info.process.member.job if isinstance(info, RunInfo) else ""
    return (
        info.id, searchable(session), searchable(info.label), info.started_ns, schema, document, profile,
        searchable(job), *_of_window(info),
    )  # fmt: skip


def _of_window(info: AnyInfo) -> tuple[str, int, int, int]:
    if isinstance(info, RunInfo) and info.series:
        return searchable(info.series), info.calls, info.durations.sum_ns, info.samples
    return "", 0, 0, 0


def _profile(run_id: str, kept: Kept | None, in_order: bool) -> Profile | None:
    if kept is None:
        return None
    for data in kept:
        if data is not None and not isinstance(data, bytes):
            raise DamagedFile(_place(run_id, "profile"), f"it is not a blob but {type(data).__name__}")
    return profiles.decode(kept, _place(run_id, "profile"), in_order=in_order)


def _part(kind: type[_T], run_id: str, name: str, data: bytes | None) -> _T | None:
    if data is None:
        return None
    try:
        return from_json(kind, json.loads(zlib.decompress(data)))
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise DamagedFile(_place(run_id, name), str(error)) from error


def _compressed(value: object) -> bytes:
    return zlib.compress(json.dumps(to_json(value)).encode("ascii"))


def _place(run_id: str, name: str) -> Path:
    return Path(f"the {name} of run {run_id}")
