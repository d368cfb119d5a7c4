from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from profkit.errors import StoreUnavailable
from profkit.store.runs import open_store
from tests.support.example_runs import labelled


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("runs.db", "it is not a database URL such as sqlite:////"),
        ("", "it is not a database URL"),
        (
            "mysql://me:secret@host/db",
            r"mysql://me:\*\*\*@host/db .*: only sqlite and postgresql are supported, not 'mysql'",
        ),
        ("nosuch://x", "not 'nosuch'"),
        ("sqlite+nosuch:////tmp/x.db", "nosuch"),
        ("sqlite://%zz", "Invalid SQLite URL"),
        ("sqlite:////proc/none/runs.db", "No such file or directory"),
        ("sqlite:////tmp", "unable to open database file"),
        ("postgresql+nosuch://me@host/db", "nosuch"),
    ],
)
def test_a_wrong_url_is_reported(url: str, problem: str) -> None:
    with pytest.raises(StoreUnavailable, match=problem):
        open_store(url)


def test_a_password_is_never_shown() -> None:
    with pytest.raises(StoreUnavailable) as told:
        open_store("postgresql://me:secret@127.0.0.1:1/db")
    assert "secret" not in str(told.value)
    assert "me:***@127.0.0.1:1" in str(told.value)


def test_a_file_that_is_no_database_is_reported_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    file.write_text("these are no runs, but something that a user wants to keep" * 20)
    before = file.read_bytes()
    with pytest.raises(StoreUnavailable, match="not a database"):
        open_store(f"sqlite:///{file}")
    assert file.read_bytes() == before


def test_nothing_is_added_to_a_damaged_file(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    oldest, newest = "aaaa000000", "bbbb000000"
    with open_store(f"sqlite:///{file}") as store:
        store.add([labelled(oldest, "first"), *(labelled(f"{number:010x}", "f") for number in range(100))])
    damaged = bytearray(file.read_bytes())
    page = int.from_bytes(damaged[16:18], "big")  # https://sqlite.org/fileformat.html, offset 16
    leaves = [start for start in range(0, len(damaged), page) if damaged[start] == 13]  # of tables
    # Adding a run touches the last leaf only.
    start = next(start for start in leaves if oldest.encode() in damaged[start : start + page])
    damaged[start + 3 : start + 5] = b"\xff\xff"
    file.write_bytes(damaged)
    with (
        open_store(f"sqlite:///{file}") as store,
        pytest.raises(StoreUnavailable, match=r"malformed: .*recover"),
    ):
        store.add([labelled(newest, "g")])
    assert file.read_bytes() == damaged


def test_a_missing_driver_is_reported_with_what_brings_it() -> None:
    code = """
import sys
sys.modules["psycopg"] = None
from profkit.errors import StoreUnavailable
from profkit.store.runs import open_store
try:
    open_store("postgresql://me@host/db")
except StoreUnavailable as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'profkit[postgres]'" in done.stdout
    assert "psycopg" in done.stdout


def test_the_default_store_is_kept_out_of_git(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/.profkit/runs.db"):
        assert (tmp_path / ".profkit" / ".gitignore").read_text() == "*\n"
