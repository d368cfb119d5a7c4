"""What an earlier profkit wrote is still read.

A failure here means that a dataclass of the model has changed its form. Once a version with the old form is
out, give the new form a new schema name, and a migration or a reader for the old one.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from profkit.errors import DamagedFile
from profkit.model.run import Imported, RunInfo
from profkit.store.records import to_json
from profkit.store.rows import info_of
from profkit.store.runs import open_store
from profkit.store.spool import read_session
from profkit.units import Unit
from tests.support.example_measured_runs import measured_run
from tests.support.example_runs import made_run
from tests.support.folders import GOLDEN
from tests.support.spool_folders import read_measured

MEMBER = {"job": "", "rank": None, "local_rank": None, "world_size": None, "worker": ""}
LATER: dict[str, dict[str, object]] = {
    "region": {"compilation": None},
    "plan": {"gil": False, "async_stacks": False, "window_s": None},
    "process": {"launch": "", "recorder": [], "member": MEMBER},
}
"""Fields of parts that documents of this schema may lack."""


LATER_OF_RUNS: dict[str, object] = {"memory": None, "awaits": []}
"""Fields that documents of runs may lack."""


def completed(written: dict[str, dict[str, object]]) -> dict[str, object]:
    """What is written now for a document of an earlier version."""
    return written | {name: written[name] | later for name, later in LATER.items() if name in written}


def test_a_run_of_schema_1_is_read() -> None:
    document = (GOLDEN / "run-1.json").read_text("utf-8")
    info = info_of("7d10b3a9f2", "profkit.run/1", document)
    assert isinstance(info, RunInfo)
    assert info.imported == Imported("collapsed", "py-spy 0.4.1", "/tmp/profile.txt", Unit.SAMPLES, 1200)
    written = json.loads(document)
    assert to_json(info) == completed(written) | LATER_OF_RUNS


@pytest.mark.parametrize("schema", ["profkit.run/0", "profkit.run/2"])
def test_an_unknown_schema_is_refused(schema: str) -> None:
    document = (GOLDEN / "run-1.json").read_text("utf-8")
    with pytest.raises(DamagedFile, match=r"its schema is .*; upgrade profkit"):
        info_of("7d10b3a9f2", schema, document)


def test_a_spool_of_schema_1_is_read() -> None:
    session = read_session(GOLDEN / "spool-1")
    assert session.damaged == ()
    assert session.manifest.segments[0].covers[0].tid == 4242
    assert [region.key.label for region in session.regions] == ["train_step"]
    assert session.calls[session.regions[0].id].durations.count == 2
    assert session.resources[0].threads == 6


def test_a_measured_run_of_schema_1_is_read() -> None:
    path = GOLDEN / "measured-1.json"
    run = read_measured(path)
    assert run.measurement is not None
    assert (run.info.id, run.info.label, run.info.median_s) == ("5c1d0a77e2", "sort", 2.05e-06)
    fields = {"schema": "profkit.measured/1", **cast("dict[str, object]", to_json(run))}
    written = json.loads(path.read_text("utf-8"))
    measurement = written["measurement"]
    measurement["instructions"]["python"] = None  # a later field, as those below
    for order in (written["info"]["order"], measurement["order"]):
        order["program"] = None
    for process in measurement["timing"]["processes"]:
        process["usage"] = None
    written["info"] = completed(written["info"]) | {"machine": ""}
    assert fields == written


def test_a_store_with_two_migrations_is_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        connection.executescript((GOLDEN / "store-2.sql").read_text("utf-8"))
    with open_store(f"sqlite:///{tmp_path}/runs.db") as store:
        sampled, measured = made_run(), measured_run(id="5c1d0a77e2")
        assert set(store.runs()) == {sampled.info, measured.info}
        assert store.load(sampled.info.id) == sampled
        assert store.load("5c1d0a77e2") == measured
        again = made_run(id="b200000000")
        assert store.add([again]) == (again.info,)
        assert store.load(again.info.id) == again, "written as columns"
        assert store.add([made_run(id="dead000000")]) == (), "it was removed"
        assert store.remove([sampled.info.id, "5c1d0a77e2"]) == 2
