from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.config import DEFAULT, HOME, Setting, find_home, read_config
from profkit.errors import SpoolUnavailable
from profkit.project_file import NO_FILE, ProjectFile
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


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with a `.profkit`, and two folders inside each other."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / HOME).mkdir(mode=0o700)
    return tmp_path


def test_the_folder_of_runs_is_found_from_below(tree: Path) -> None:
    for below in (tree, tree / "a", tree / "a" / "b"):
        assert find_home(below) == tree / HOME
        assert read_config({"HOME": "/home/ann"}, below).spool == tree / HOME / "spool"
    (tree / "a" / HOME).mkdir()
    assert find_home(tree / "a" / "b") == tree / "a" / HOME


def test_no_folder_of_runs_is_above_the_project_or_in_the_home_folder(tree: Path) -> None:
    below = tree / "a" / "b"
    assert find_home(below, user_home=f"{tree}/") == below / HOME
    assert find_home(tree, user_home=str(tree)) == tree / HOME
    (tree / "a" / ".git").mkdir()
    assert find_home(below) == below / HOME


@pytest.mark.parametrize("change", ["writable", "file", "link", "owner"])
def test_a_folder_that_others_can_change_is_passed_over(
    tree: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, below = tree / HOME, tree / "a"
    if change == "writable":
        home.chmod(0o777)
    elif change == "owner":
        monkeypatch.setattr("profkit.config.posix.geteuid", lambda: os.geteuid() + 1)
    else:
        home.rename(tree / "other")
        home.touch() if change == "file" else home.symlink_to(tree / "other")
    assert find_home(below) == below / HOME
    assert find_home(tree) == home, "commands say what is wrong with that of the current folder"


def test_another_file_system_is_not_searched() -> None:
    shared_memory = Path("/dev/shm")
    assert os.stat(shared_memory).st_dev != os.stat("/").st_dev
    assert find_home(shared_memory) == shared_memory / HOME


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


def in_file(settings: dict[str, object], **tables: dict[str, object]) -> ProjectFile:
    return ProjectFile(HERE / "pyproject.toml", settings, tables)


def test_a_files_settings_hold_unless_a_variable_does() -> None:
    file = in_file({"spool_limit": "2GB", "children": False, "disable": "on", "exit-timeout": 5})
    config = read_config({}, HERE / "below", file)
    assert (config.spool_limit, config.children, config.disabled) == ("2GB", False, True)
    assert config.exit_timeout == "5"
    assert config.problems == ()
    over = read_config({"PROFKIT_CHILDREN": "1", "PROFKIT_SPOOL_LIMIT": "1MB"}, HERE, file)
    assert (over.spool_limit, over.children, over.disabled) == ("1MB", True, True)
    assert over.sources["children"] == "PROFKIT_CHILDREN"
    assert over.sources["disable"] == str(file.path)
    assert over.sources["store"] == DEFAULT


def test_paths_in_a_file_are_relative_to_it() -> None:
    config = read_config({}, HERE / "below", in_file({"spool": "build/spool", "store": "sqlite:///runs.db"}))
    assert (config.spool, config.store_url) == (HERE / "build/spool", f"sqlite:///{HERE}/runs.db")
    own = ProjectFile(Path("/home/ann/config.toml"), {"store": "sqlite:///x.db"})
    assert read_config({}, HERE, user_file=own).store_url == "sqlite:////home/ann/x.db"


def test_the_users_file_may_say_anything_and_yields_to_the_projects() -> None:
    own = ProjectFile(
        Path("/home/ann/config.toml"), {"store": "postgresql:///x", "spool": "/there", "children": False}
    )
    config = read_config({}, HERE, in_file({"children": True}), own)
    assert (config.store_url, config.spool) == ("postgresql:///x", Path("/there"))
    assert (config.children, config.problems) == (True, ())
    assert config.sources["store"] == "/home/ann/config.toml"


@pytest.mark.parametrize(
    "settings",
    [
        {"store": "postgresql:///x"},
        {"store": "sqlite:////there/runs.db"},
        {"store": "sqlite:///../runs.db"},
        {"store": "sqlite:///file:x?mode=memory"},
        {"spool": "/there"},
        {"spool": "../there"},
        {"spool": "."},
        {"spool": "out/spool"},
    ],
    ids=str,
)
def test_a_projects_file_leads_nowhere_else(tmp_path: Path, settings: dict[str, object]) -> None:
    """It may be part of a repository that someone else wrote."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "out").symlink_to(tmp_path)
    config = read_config({}, project, ProjectFile(project / "pyproject.toml", settings))
    (problem,) = config.problems
    assert "leads out of the project, and a project's file may be someone else's" in str(problem)
    assert replace(config, file=NO_FILE, problems=()) == read_config({}, project)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"spol": "x"}, "there is no option 'spol' in /work/pyproject.toml; did you mean 'spool'?"),
        ({"spool": ["x"]}, "spool is not a text, number or switch"),
        ({"children": "perhaps"}, "children = 'perhaps' is not a switch; write true or false"),
    ],
)
def test_what_is_wrong_in_a_file_is_a_problem_and_ignored(settings: dict[str, object], words: str) -> None:
    config = read_config({}, HERE, in_file(settings))
    (problem,) = config.problems
    assert words in str(problem)
    assert replace(config, file=NO_FILE, problems=()) == read_config({}, HERE)


def test_default_options_of_profile() -> None:
    file = in_file({}, profile={"rate": 200, "stack-max-len": 30})
    environ = {"PROFKIT_PROFILE_RATE": " 300 ", "PROFKIT_PROFILE_IDLE": "off", "PROFKIT_PROFILE_GIL": ""}
    assert read_config(environ, HERE, file).profile == {
        "rate": Setting("300", "PROFKIT_PROFILE_RATE"),
        "stack_max_len": Setting(30, str(file.path)),
        "idle": Setting("off", "PROFKIT_PROFILE_IDLE"),
    }


def test_windows_and_where_they_are_sent() -> None:
    config = read_config({"PROFKIT_WINDOWS": "60s", "PROFKIT_PUSH": "s3://ours"}, HERE)
    assert (config.profile["window"].value, config.push) == ("60s", "s3://ours")
    theirs = read_config({}, HERE, in_file({"push": "s3://theirs"}))
    assert theirs.push == ""
    assert "push leads out of the project" in str(theirs.problems[0])
