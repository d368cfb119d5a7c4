from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from profkit.config import read_config
from profkit.errors import SpoolUnavailable
from profkit.store.files import make_folder
from profkit.store.spool import create_folder, session_folders
from tests.support.folders import ROOT

HERE = Path("/work")


def without_folder(tmp_path: Path, code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a program whose current folder is gone when it starts."""
    gone = tmp_path / "gone"
    gone.mkdir()
    starting = "import os, subprocess, sys; os.rmdir(os.getcwd()); sys.exit(subprocess.call(sys.argv[1:]))"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROFKIT_")}
    return subprocess.run(
        [sys.executable, "-c", starting, sys.executable, "-c", code],
        cwd=gone, env=kept | {"PYTHONPATH": str(ROOT)} | environ, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_everything_is_in_the_current_folder_unless_the_environment_says_more() -> None:
    plain = read_config({}, HERE)
    assert (plain.spool, plain.store_url) == (HERE / ".profkit/spool", "sqlite:////work/.profkit/runs.db")
    given = read_config({"PROFKIT_SPOOL": "there", "PROFKIT_STORE": "postgresql:///x"}, HERE)
    assert (given.spool, given.store_url) == (HERE / "there", "postgresql:///x")
    assert read_config({"PROFKIT_SPOOL": "/there"}, None).spool == Path("/there")


@pytest.mark.parametrize(
    ("value", "children"), [(None, True), ("", True), ("1", True), ("0", False), ("off", False)]
)
def test_children_are_profiled_unless_that_is_turned_off(value: str | None, children: bool) -> None:
    assert read_config({} if value is None else {"PROFKIT_CHILDREN": value}, HERE).children is children


@pytest.mark.parametrize(("value", "disabled"), [(None, False), ("", False), ("0", False), ("1", True)])
def test_profiling_is_on_unless_it_is_disabled(value: str | None, disabled: bool) -> None:
    assert read_config({} if value is None else {"PROFKIT_DISABLE": value}, HERE).disabled is disabled


def test_the_spool_has_a_limit_by_default() -> None:
    assert (
        read_config({}, HERE).spool_limit
        == read_config({"PROFKIT_SPOOL_LIMIT": " "}, HERE).spool_limit
        == "1GB"
    )
    assert read_config({"PROFKIT_SPOOL_LIMIT": "0"}, HERE).spool_limit == "0"


@pytest.mark.parametrize("environ", [{}, {"PROFKIT_DISABLE": "1"}], ids=["on", "disabled"])
def test_importing_needs_no_current_folder(tmp_path: Path, environ: dict[str, str]) -> None:
    code = "from profkit import profile\n@profile()\ndef f(): return 7\nprint(f())"
    done = without_folder(tmp_path, code, **environ)
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
    if environ:
        assert done.stderr == ""
    else:
        (line,) = done.stderr.splitlines()
        assert "the current folder did not exist when profkit was imported; set PROFKIT_SPOOL" in line


@pytest.mark.sampler
def test_a_spool_elsewhere_serves_a_program_without_a_current_folder(tmp_path: Path) -> None:
    code = "from profkit import profile\n@profile(label='f')\ndef f(): return 7\nprint(f())"
    done = without_folder(tmp_path, code, PROFKIT_SPOOL=str(tmp_path / "spool"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\n", "")
    assert len(session_folders(tmp_path / "spool")) == 1


def test_commands_need_no_current_folder(tmp_path: Path) -> None:
    done = without_folder(tmp_path, "from profkit.cli.main import main; raise SystemExit(main(['list']))")
    assert done.returncode == 6, done.stderr
    assert "set PROFKIT_STORE and PROFKIT_SPOOL" in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_is_made_where_there_is_no_current_folder() -> None:
    config = read_config({}, None)
    with pytest.raises(OSError, match="the current folder did not exist"):
        make_folder(config.spool)
    assert session_folders(config.spool) == ()
    assert "set PROFKIT_SPOOL" in str(SpoolUnavailable(config.spool, "the current folder did not exist"))


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff odd"))
    config = read_config({}, odd)
    folder = create_folder(config.spool, "s1")
    (folder / "calls.jsonl").touch()
    assert session_folders(config.spool) == (folder,)
