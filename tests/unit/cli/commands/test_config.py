"""`profkit config`, and commands whose options have defaults from variables and a project's file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from profkit.cli.defaults import OF_USERS, options_of, variable_of
from profkit.cli.main import COMMANDS, command_named, main
from profkit.config import SETTINGS, read_config
from profkit.project_file import find_project_file
from tests.support.cli_runs import Said, keep
from tests.support.example_runs import made_run
from tests.support.folders import ROOT

Called = Callable[..., Said]


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Called:
    """Calls a command in a project with this file and these variables."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments: str, file: str = "", name: str = "pyproject.toml", **environ: str) -> Said:
        (tmp_path / name).write_text(file)
        for variable, value in environ.items():
            monkeypatch.setenv(variable, value)
        code = main(arguments, read_config(environ, tmp_path, find_project_file(tmp_path)))
        return Said(code, *capsys.readouterr())

    return call


FILE = """
[tool.profkit]
spool-limit = "2GB"
[tool.profkit.profile]
rate = 200
sample_tags = ["ci", "nightly"]
[tool.profkit.list]
limit = 1
"""


def words_of_lines(text: str) -> set[tuple[str, ...]]:
    return {tuple(line.split()) for line in text.splitlines() if line.strip()}


def test_what_holds_and_from_where(called: Called) -> None:
    said = called(
        "config", file=FILE, PROFKIT_PROFILE_IDLE="off", PROFKIT_REPORT_DEPTH="4", PROFKIT_CHILDREN="0"
    )
    assert (said.code, said.err) == (0, "")
    expected = """
        spool-limit   2GB          pyproject.toml
        children      false        PROFKIT_CHILDREN
        disable       false        default
        exit-timeout  10           default
        rate          200          pyproject.toml
        sample_tags   ci, nightly  pyproject.toml
        idle          false        PROFKIT_PROFILE_IDLE
        limit         1            pyproject.toml
        depth         4            PROFKIT_REPORT_DEPTH
    """
    assert words_of_lines(expected) <= words_of_lines(said.out), said.out


def test_json(called: Called, tmp_path: Path) -> None:
    document = called("config", "--json", file=FILE).json()
    assert (document["schema"], document["problems"]) == ("profkit.config/1", [])
    source = str(tmp_path / "pyproject.toml")
    assert document["file"] == source
    assert {"table": "profile", "name": "rate", "value": 200.0, "from": source} in document["settings"]


def test_without_a_file_and_with_a_password(called: Called) -> None:
    said = called("config", PROFKIT_STORE="postgresql://me:hunter2@host/runs")
    assert "no file here or above has settings" in said.out
    assert "hunter2" not in said.out


def kept(tmp_path: Path) -> None:
    keep(read_config({}, tmp_path), *(made_run(id=f"{number}f2a91c0de") for number in range(3)))


def rows(said: Said) -> int:
    assert said.code == 0, said.err
    return len(said.out.splitlines()) - 1


def test_flags_override_variables_and_these_the_file(called: Called, tmp_path: Path) -> None:
    kept(tmp_path)
    assert rows(called("list")) == 3
    assert rows(called("list", file=FILE)) == 1
    assert rows(called("list", name="setup.cfg", file="[profkit:list]\nlimit = 1\n")) == 1
    assert rows(called("list", file=FILE, PROFKIT_LIST_LIMIT="2")) == 2
    assert rows(called("list", "--limit", "3", file=FILE)) == 3


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("[tool.profkit\n", "pyproject.toml cannot be read"),
        ("[tool.profkit]\nspol = 'x'", "there is no option 'spol' in"),
        ("[tool.profkit.lists]\nlimit = 1", "there is no option 'lists' that could have a table in"),
        ("[tool.profkit.list]\nlimits = 1", "list; did you mean 'limit'?"),
        (
            "[tool.profkit.list]\nlimit = 0",
            "list.limit: 0 is not in the range x>=1; write it as after --limit",
        ),
        ("[tool.profkit.list]\nlimit = [1]", "list.limit is not one value; write it as after --limit"),
        ("[tool.profkit.profile]\nrate = 'fast'", "profile.rate='fast' is not valid; give a number"),
    ],
)
def test_a_wrong_file(called: Called, tmp_path: Path, file: str, words: str) -> None:
    kept(tmp_path)
    said = called("config", file=file)
    assert said.code == 2
    assert words in said.err
    assert "spool-limit" in said.out
    if "profile" not in words:  # that is of programs alone
        said = called("list", file=file)
        assert (said.code, said.out) == (2, "")
        assert words in said.err


def test_a_wrong_variable(called: Called) -> None:
    said = called("list", PROFKIT_LIST_LIMIT="many")
    assert said.code == 2
    assert "invalid value of PROFKIT_LIST_LIMIT: 'many' is not a valid integer range" in said.err


def test_a_switch_and_a_list_in_a_file(called: Called, tmp_path: Path) -> None:
    kept(tmp_path)
    assert called("list", file="[tool.profkit.list]\njson = true\n").json()["schema"] == "profkit.runs/1"


def test_variables_of_all_options_differ() -> None:
    commands = [command_named(name) for name in COMMANDS]
    options = [(command, name) for command in commands for name in options_of(command)]
    assert len({variable_of(command.name or "", name) for command, name in options}) == len(options)
    for command, name in options:
        assert variable_of(command.name or "", name) in (options_of(command)[name].envvar or "")


def test_the_example_in_the_docs(called: Called) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    file = page.partition("```toml\n")[2].partition("```")[0]
    said = called("config", file=file)
    assert (said.code, said.err) == (0, "")
    assert words_of_lines("limit 30 pyproject.toml") <= words_of_lines(said.out)
    assert {row for row in SETTINGS if f"| `{row}` | `{SETTINGS[row]}` |" in page} == set(SETTINGS)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("[tool.profkit.report]\noutput = '/home/ann/.bashrc'", "report.output writes files"),
        ("[tool.profkit.measure]\nsetup = 'import evil'", "measure.setup runs code"),
        ("[tool.profkit.compare]\nglobal_setup = 'x'", "compare.global-setup runs code"),
        ("[tool.profkit.report]\nsource-root = '/'", "report.source-root reads files"),
        ("[tool.profkit.run]\npush = 's3://theirs'", "run.push sends runs elsewhere"),
    ],
)
def test_a_projects_file_sets_nothing_that_acts(
    called: Called, tmp_path: Path, table: str, words: str
) -> None:
    """It may be part of a repository that someone else wrote."""
    kept(tmp_path)
    command = words.partition(".")[0]
    said = called(command, "x", file=table)
    assert (said.code, said.out) == (2, "")
    assert f"{words}, and a project's file may be someone else's; set it in " in said.err
    assert f"or as PROFKIT_{command.upper()}_" in said.err


HARMLESS = {
    "baseline", "job", "keep", "label", "max-bytes", "max-depth", "max-frames", "max-records", "max-seconds",
    "max-slowdown", "max-time", "memory-limit", "min-run-time", "older-than", "precision", "sampler",
    "session", "simulate", "since", "thread", "threads", "timeout", "value", "waiting", "windows",
    "working",
}  # fmt: skip
"""Options with a text that neither write, run, read nor send anything."""


def test_each_option_with_a_text_is_known_to_act_or_not() -> None:
    numbers_and_choices = ("integer", "float", "choice", "integer range", "float range", "boolean")
    texts = {
        name
        for command in map(command_named, COMMANDS)
        for name, option in options_of(command).items()
        if option.type.name not in numbers_and_choices
    }
    assert texts - HARMLESS == OF_USERS.keys() - {"open"}
