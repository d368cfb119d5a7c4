"""Commands on damaged stores and counters, odd URLs, unexpected errors: one line, never a traceback."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path

import click
import pytest

from profkit.cli.failures import TRACEBACK
from profkit.cli.main import cli, main
from profkit.config import Config
from profkit.errors import StoreUnavailable
from profkit.model.histogram import LARGEST_BUCKET
from profkit.store.runs import open_store
from tests.support.cli_runs import Profkit, finished_session, keep
from tests.support.example_runs import labelled


def database(config: Config) -> Path:
    return Path(config.store_url.removeprefix("sqlite:///"))


def change(config: Config, statement: str, *values: object) -> None:
    connection = sqlite3.connect(database(config))
    with connection:
        connection.execute(statement, values)
    connection.close()


@pytest.fixture
def three(config: Config) -> None:
    keep(config, *(labelled(f"{letter}100000000", "train", n) for n, letter in enumerate("abc")))


UNREADABLE = {
    "cut": '{"id": ',
    "no text": b"\xff\xfe\x00",
    "a number": 5,
    "nested": "[" * 100_000,
    "not ASCII": '{"id": "é"}',
    "another form": "{}",
    "huge": '{"id": 1' + "0" * 5000 + "}",
}


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("document", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("command", [("list",), ("list", "--json"), ("list", "--label", "train"), ("gc",)])
def test_a_row_that_cannot_be_read_is_named_and_the_others_are_listed(
    profkit: Profkit, config: Config, document: object, command: tuple[str, ...]
) -> None:
    change(config, "UPDATE profkit_runs SET document = ? WHERE id = 'b100000000'", document)
    said = profkit(*command)
    assert said.code == 0
    if command[0] == "list":
        assert all(run_id in said.out for run_id in ("a100000000", "c100000000"))
        assert "b100000000" not in said.out
    (warning,) = (line for line in said.err.splitlines() if "warning" in line)
    assert warning.startswith("profkit: warning: the document of run b100000000 cannot be read: ")
    assert warning.endswith("`profkit rm b100000000` removes this one")


@pytest.mark.usefixtures("three")
def test_such_a_row_can_be_removed(profkit: Profkit, config: Config) -> None:
    change(config, "UPDATE profkit_runs SET document = ? WHERE id = 'b100000000'", b"\x00")
    assert profkit("report", "b100000000").code == 7
    said = profkit("rm", "b100000000")
    assert (said.code, said.out) == (0, "")
    assert "run b100000000, which could not be read, is removed" in said.err
    said = profkit("list")
    assert (said.code, said.err) == (0, "")


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    "durations",
    [
        {"buckets": [[LARGEST_BUCKET + 1, 1]]}, {"buckets": [[2**62, 1]]}, {"buckets": [[-1, 1]]},
        {"buckets": [[3, -1]]}, {"sum_ns": 10**400}, {"max_ns": 2**64}, {"count": 2**63},
    ],
    ids=str,
)  # fmt: skip
def test_counters_that_no_program_wrote_are_damage(
    profkit: Profkit, config: Config, durations: dict[str, object]
) -> None:
    folder = finished_session(config, "20251121T113217-1-aa")
    calls = folder / "calls.jsonl"
    line = json.loads(calls.read_text().splitlines()[0])
    line["durations"].update(durations)
    calls.write_text(calls.read_text() + json.dumps(line) + "\n")
    said = profkit("list", "--json")
    assert said.code == 0
    assert len(said.json()["runs"]) == 4  # type: ignore[arg-type]
    assert "calls.jsonl cannot be read: line 2: " in said.err
    again = profkit("list", "--json")
    assert (again.code, again.err) == (0, "")


@pytest.mark.usefixtures("three")
def test_a_bucket_that_was_kept_by_an_earlier_version_leaves_list_whole(
    profkit: Profkit, config: Config
) -> None:
    connection = sqlite3.connect(database(config))
    (text,) = connection.execute("SELECT document FROM profkit_runs WHERE id = 'a100000000'").fetchone()
    connection.close()
    document = json.loads(text)
    document["durations"]["buckets"].append([2**70, 1])
    change(config, "UPDATE profkit_runs SET document = ? WHERE id = 'a100000000'", json.dumps(document))
    said = profkit("list", "--json")
    assert (said.code, len(said.json()["runs"])) == (0, 2)  # type: ignore[arg-type]
    assert "a100000000 cannot be read: durations.buckets" in said.err


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=pytest.mark.full) for n in range(2, 6))])
def test_a_database_with_damaged_bytes(profkit: Profkit, config: Config, seed: int) -> None:
    """The header's every byte, then bytes anywhere: a result, or one line."""
    path, source = database(config), random.Random(seed)
    whole = path.read_bytes()
    places = [*range(seed, 100, 6), *(source.randrange(len(whole)) for _ in range(30))]
    for place in places:
        data = bytearray(whole)
        data[place] ^= source.randrange(1, 256)
        path.write_bytes(data)
        for command in (["list", "--json"], ["report"], ["history", "train"]):
            said = profkit(*command)
            assert said.code in (0, 2, 6, 7), (place, command, said)
            assert all(line.startswith("profkit: ") for line in said.err.splitlines()), (place, said.err)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://u:hunter2@host:port/db", "its port is not a number"),
        ("postgresql://u:hunter2@two@host/db", "contains an @; write it as %40"),
        ("mysql://u:hunter2@host/db", "only sqlite and postgresql are supported, not 'mysql'"),
        ("u:hunter2@host", "not a database URL"),
        ("sqlite+aiosqlite:///x.db", "write sqlite:///PATH"),
        ("postgresql+nodriver://u:hunter2@h/d", "write postgresql://"),
        ("://u:hunter2@h", "not a database URL"),
        ("sqlite:////dev/null/x.db", "/dev/null"),
        ("sqlite:///nul\0.db", "null"),
    ],
)
def test_an_odd_url_is_one_error_without_its_password(url: str, words: str) -> None:
    with pytest.raises(StoreUnavailable) as failure:
        open_store(url)
    assert words in str(failure.value)
    assert "hunter2@" not in str(failure.value)


def test_the_url_of_hosting_services_is_understood() -> None:
    with pytest.raises(StoreUnavailable, match="connection") as failure:
        open_store("postgres://u:hunter2@127.0.0.1:1/db")
    assert "postgresql://u:***@127.0.0.1:1/db" in str(failure.value)


@pytest.mark.parametrize("name", ["a?b=c", "a?b", "a%20b", "a#b", "a b", "é", "\udcff"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    with open_store(f"sqlite:///{folder}/runs.db") as store:
        assert store.name == f"sqlite:///{folder}/runs.db"
    assert (folder / "runs.db").is_file()


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (RuntimeError("one\ntwo"), 70, "RuntimeError: one two (at test_damage.py:"),
        (MemoryError(), 70, "memory ran out"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_an_unexpected_error_is_one_line(
    config: Config,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    words: str,
) -> None:
    def fail() -> None:
        raise error

    cli.add_command(click.Command("fail", callback=fail))
    try:
        monkeypatch.delenv(TRACEBACK, raising=False)
        assert main(["fail"], config) == code
        said = capsys.readouterr().err
        assert words in said
        assert "Traceback" not in said
        monkeypatch.setenv(TRACEBACK, "1")
        assert main(["fail"], config) == code
        assert ("Traceback" in capsys.readouterr().err) == isinstance(error, RuntimeError)
    finally:
        del cli.commands["fail"]
