"""Traces of torch.profiler in a session's folder: read, kept, exported, and set aside if damaged."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from profkit.config import Config
from profkit.ingest.keep import ingest
from profkit.ingest.read import read_runs
from profkit.model.run import Run
from profkit.store.run_files import decode_runs, encode_runs
from profkit.store.runs import open_store
from profkit.store.spool_files import is_trace_file, region_of, trace_name
from tests.support.cli_runs import Profkit, finished_session
from tests.support.example_sessions import F
from tests.support.torch_traces import CPU

SESSION = "20261121T113217-4711-9f3a07c2"


def write_trace(folder: Path, number: int = 0, text: str | None = None) -> Path:
    path = folder / trace_name(F.id, number)
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": CPU}) if text is None else text)
    return path


def stored_run(config: Config) -> Run:
    with open_store(config.store_url) as store:
        assert ingest(config.spool, store).damaged == ()
        (info,) = store.runs()
        run = store.load(info.id, trace_file=True)
        assert isinstance(run, Run)
        assert isinstance(again := store.load(info.id), Run)
        assert (again.trace, again.trace_file) == (run.trace, None)
        return run


def test_traces_are_part_of_their_regions_run(config: Config) -> None:
    folder = finished_session(config, SESSION)
    write_trace(folder, 0), write_trace(folder, 1)
    run = stored_run(config)
    assert run.trace is not None
    assert run.trace.calls == 2
    assert run.trace_file is not None
    assert json.loads(gzip.decompress(run.trace_file))["traceEvents"][1]["name"] == "step"
    assert not folder.exists()


def test_a_damaged_trace_is_set_aside_and_the_others_are_read(config: Config) -> None:
    folder = finished_session(config, SESSION)
    write_trace(folder, 0)
    cut = write_trace(folder, 1, '{"traceEvents": [{"ph": "X"')
    write_trace(folder, 2, '{"traceEvents": 3}')
    (run,) = read_runs(folder).runs
    assert run.trace is not None
    assert run.trace.calls == 1
    with open_store(config.store_url) as store:
        report = ingest(config.spool, store)
    assert {damage.path.name for damage in report.damaged} == {cut.name, trace_name(F.id, 2)}
    assert all(damage.kept is not None and damage.kept.exists() for damage in report.damaged)


def test_an_unfinished_trace_is_not_read(config: Config) -> None:
    folder = finished_session(config, SESSION)
    (folder / f"{trace_name(F.id, 0)}.new").write_text("[")
    assert stored_run(config).trace is None


@pytest.mark.parametrize(
    ("name", "is_one", "region"),
    [
        ("trace-7867bd2c-000.json", True, "7867bd2c"),
        ("trace-7867bd2c-1234.json", True, "7867bd2c"),
        ("trace-7867bd2c-000.json.new", True, None),
        ("trace-../x-000.json", False, None),
        ("segment-000.json", False, None),
    ],
)
def test_names_of_traces(name: str, is_one: bool, region: str | None) -> None:
    assert (is_trace_file(name), region_of(name)) == (is_one, region)


def test_whole_runs_keep_the_trace(config: Config) -> None:
    write_trace(finished_session(config, SESSION))
    run = stored_run(config)
    (read,) = decode_runs(encode_runs([run]), Path("runs.json"))
    assert isinstance(read, Run)
    assert (read.trace, read.trace_file) == (run.trace, run.trace_file)


def test_export_writes_the_file_of_torch(config: Config, profkit: Profkit) -> None:
    write_trace(finished_session(config, SESSION))
    document = profkit("export", "--format", "chrome-trace").json()
    assert document["schemaVersion"] == 1
    scrubbed = profkit("export", "--format", "chrome-trace", "--scrub").json()
    assert "schemaVersion" not in scrubbed


def test_removing_a_run_removes_its_trace(config: Config) -> None:
    write_trace(finished_session(config, SESSION))
    run = stored_run(config)
    with open_store(config.store_url) as store:
        assert store.remove([run.info.id]) == 1
        assert store.runs() == ()
