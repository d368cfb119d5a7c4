"""Whole runs as one JSON document, without loss, for baselines and for transfer to another store.

`{"schema": "profkit.runs-file/1", "runs": [...]}`. Each run has the schema of its `info` as `schema`, and
the store's other data: `profile` as gzipped pprof in base64, `resources`, `measurement`, and, if it
was traced, `trace` and the gzipped `trace_file` in base64.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Iterable
from pathlib import Path

from profkit.errors import DamagedFile
from profkit.formats import pprof
from profkit.formats.json_members import read_json
from profkit.model.measurement import AnyInfo, AnyRun, MeasuredRun, unsealed
from profkit.model.run import Run
from profkit.store.database import RUN_SCHEMA
from profkit.store.measured import SCHEMA as MEASURED_SCHEMA
from profkit.store.profiles import Kept
from profkit.store.records import to_json
from profkit.store.rows import info_of, run_of

SCHEMA = "profkit.runs-file/1"

_HEAD = re.compile(rb'\s*\{\s*"schema"\s*:\s*"' + re.escape(SCHEMA).encode())


def encode_runs(runs: Iterable[AnyRun]) -> bytes:
    """Return the document, in ASCII; equal runs give equal bytes."""
    lines = ",\n".join(json.dumps(_object(run)) for run in runs)
    return f'{{"schema": {json.dumps(SCHEMA)}, "runs": [\n{lines}\n]}}\n'.encode("ascii")


def is_runs_file(data: bytes) -> bool:
    """Return whether the data is such a document."""
    return _HEAD.match(data) is not None


def decode_runs(data: bytes, source: Path) -> tuple[AnyRun, ...]:
    """Return the runs in a document; raises DamagedFile that names `source` if it is invalid."""
    try:
        document = read_json(data)
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA!r}")
        entries = document.get("runs")
        if not isinstance(entries, list):
            raise ValueError("it has no list of runs")
        return tuple(_run(entry) for entry in entries)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(source, str(error)) from error
    except DamagedFile as error:
        raise DamagedFile(source, f"{error.path}: {error.detail}") from error


def _object(run: AnyRun) -> dict[str, object]:
    if isinstance(run, MeasuredRun):
        measurement = None if run.measurement is None else to_json(run.measurement)
        return {"schema": MEASURED_SCHEMA, "info": _unsealed(run.info), "measurement": measurement}
    profile = None if run.profile is None else base64.b64encode(pprof.encode(run.profile)).decode("ascii")
    return {
        "schema": RUN_SCHEMA,
        "info": _unsealed(run.info),
        "profile": profile,
        "resources": to_json(run.resources),
        **_trace(run),
    }


def _trace(run: Run) -> dict[str, object]:
    if run.trace is None:
        return {}
    return {
        "trace": to_json(run.trace),
        "trace_file": base64.b64encode(run.trace_file or b"").decode("ascii"),
    }


def _unsealed(info: AnyInfo) -> object:
    """Return the info without its seal: an imported run must not count as recorded here."""
    return to_json(unsealed(info))


def _run(entry: object) -> AnyRun:
    if not isinstance(entry, dict) or not isinstance(info := entry.get("info"), dict):
        raise ValueError("one of its runs is not a JSON object with an info")
    run_id, schema = str(info.get("id")), str(entry.get("schema"))
    return run_of(
        unsealed(info_of(run_id, schema, json.dumps(info))),
        None if (profile := _bytes(entry.get("profile"))) is None else Kept(profile, None),
        _compressed(entry.get("resources") or None),
        _compressed(entry.get("measurement")),
        None
        if (trace := _compressed(entry.get("trace"))) is None
        else (trace, _bytes(entry.get("trace_file"))),
    )


def _bytes(text: object) -> bytes | None:
    if text is None:
        return None
    try:
        return base64.b64decode(str(text), validate=True)
    except binascii.Error as error:
        raise ValueError(f"a profile is not valid base64: {error}") from error


def _compressed(value: object) -> bytes | None:
    # As in the store, so that both are read and checked alike.
    return None if value is None else zlib.compress(json.dumps(value).encode("ascii"), 1)
