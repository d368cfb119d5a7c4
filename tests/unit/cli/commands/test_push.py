"""`profkit push`, and commands that read what it has sent."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.cli.main import main
from profkit.config import Config
from profkit.model.session import SessionState
from profkit.store.spool import read_session, write_manifest
from tests.support.cli_runs import Profkit, finished_session, live_session

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
