"""`profkit push`, and commands that read what it has sent."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.cli.main import main
from profkit.config import Config
from profkit.model.session import SessionState
from profkit.store.runs import open_store
from profkit.store.spool import read_session, write_manifest
from tests.support.cli_runs import Profkit, finished_session, keep, live_session
from tests.support.example_measured_runs import measured_run
from tests.support.example_runs import made_run
from tests.support.example_sessions import GONE

HERE, OTHER = "20261121T114903-4194305-9c1f", f"20261121T114904-{os.getpid()}-9c1f"


def labels(profkit: Profkit) -> list[str]:
    runs = profkit("list", "--json").json()["runs"]
    assert isinstance(runs, list)
    return [run["label"] for run in runs]


def test_a_folder_is_another_ones_spool(
    profkit: Profkit, config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finished_session(config, HERE)
    live_session(config, OTHER)
    shared = tmp_path / "shared"
    said = profkit("push", "--to", str(shared))
    assert (said.code, said.out) == (0, f"sent 1 session or run to {shared}\n")
    assert said.err == "profkit: note: 1 session may still be written to: not sent\n"
    assert profkit("push", "--to", f"file://{shared}").err.startswith(
        "profkit: note: there is nothing to send"
    )
    receiver = replace(config, spool=shared, store_url=f"sqlite:///{tmp_path / 'receiver.db'}")
    assert main(["list"], receiver) == 0
    assert " f " in capsys.readouterr().out
    assert [path.name for path in shared.iterdir() if path.name[0] != "."] == []


def test_a_store_gets_the_runs(profkit: Profkit, config: Config, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'other.db'}"
    assert profkit("push", "--to", store).out == ""
    assert not (tmp_path / "other.db").exists()
    folder = finished_session(config, HERE)
    said = profkit("push", "--to", store)
    assert (said.code, said.out, said.err) == (0, f"sent 1 session or run to {store}\n", "")
    assert not folder.exists()
    assert profkit("list").code == 6
    finished_session(config, HERE)
    said = profkit("push", "--json")
    wanted = {"schema": "profkit.pushed/1", "to": config.store_url, "sent": 1, "known": 0, "recording": 0}
    assert said.json() == wanted


def test_sessions_of_a_lost_host_are_ended(profkit: Profkit, config: Config) -> None:
    folder = live_session(config, OTHER)
    manifest = read_session(folder).manifest
    write_manifest(folder, replace(manifest, process=replace(manifest.process, host="gone")))
    assert profkit("push", "--gone", "gone").out.startswith("sent 1 session or run to ")
    runs = profkit("list", "--json").json()["runs"]
    assert isinstance(runs, list)
    assert [run["state"] for run in runs] == [SessionState.ENDED_EARLY.value]


def test_sessions_of_this_host_are_looked_for(profkit: Profkit) -> None:
    said = profkit("push", "--gone", os.uname().nodename)
    assert said.code == 2
    assert "run `profkit list`" in said.err


def test_the_spool_itself_is_no_place(profkit: Profkit, config: Config) -> None:
    finished_session(config, HERE)
    assert profkit("push", "--to", str(config.spool)).code == 2


def test_what_the_store_keeps_is_sent_once_to_each_place(
    profkit: Profkit, config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finished_session(config, HERE)
    assert labels(profkit) == ["f"], "the store keeps it"
    keep(config, made_run(id="e1", session="s1", process=replace(GONE, host="elsewhere")))
    shared, store = tmp_path / "shared", f"sqlite:///{tmp_path / 'other.db'}"
    for place in (str(shared), store):
        assert profkit("push", "--to", place).out == f"sent 1 session or run to {place}\n"
        again = profkit("push", "--to", place)
        assert (again.out, "nor a kept run" in again.err) == ("", True)
    assert sorted(labels(profkit)) == ["f", "train_step"], "they stay"
    (sent,) = [path.name for path in shared.iterdir() if path.name[0] != "."]
    assert sent.endswith(".runs.json")
    for receiver in (
        replace(config, spool=shared, store_url=f"sqlite:///{tmp_path / 'receiver.db'}"),
        replace(config, store_url=store),
    ):
        assert main(["report", "--format", "json"], receiver) == 0
        assert json.loads(capsys.readouterr().out)["run"]["samples"] == 5
    assert [path.name for path in shared.iterdir() if path.name[0] != "."] == []
    finished_session(config, OTHER)
    said = profkit("push", "--to", store)
    assert said.out == f"sent 1 session or run to {store}\n", "from the spool, not by way of the store"
    assert sorted(labels(profkit)) == ["f", "train_step"]
    assert profkit("push").out == "", "the store itself is no place"


def test_a_kept_run_that_another_has_the_id_of_is_reported(
    profkit: Profkit, config: Config, tmp_path: Path
) -> None:
    finished_session(config, HERE)
    run_id = str(profkit("list", "--json").json()["runs"][0]["id"])  # type: ignore[index]
    store = f"sqlite:///{tmp_path / 'other.db'}"
    with open_store(store) as other:
        other.add([measured_run("other", id=run_id, batch="b1")])
    for _ in range(2):
        said = profkit("push", "--to", store)
        assert f"run {run_id} (f of {HERE}) has the id of another one, other of b1" in said.err


@pytest.mark.neighbours
def test_a_url_is_imported(profkit: Profkit, config: Config) -> None:
    finished_session(config, HERE)
    assert profkit("push", "--to", "memory://bucket").out == "sent 1 session or run to memory://bucket\n"
    assert profkit("list").code == 6
    said = profkit("import", "memory://bucket")
    assert (said.code, " f " in said.out) == (0, True)
    assert labels(profkit) == ["f"]
    assert profkit("import", "memory://bucket").code == 0
    said = profkit("push", "--to", "nosuch://bucket")
    assert (said.code, "nosuch" in said.err) == (7, True)
