"""The pages on the command line say what it does: help texts, commands, fields, errors."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from profkit import errors
from profkit.cli.defaults import options_of
from profkit.cli.failures import EXIT_INTERRUPTED, EXIT_READER_GONE
from profkit.cli.main import COMMANDS, EXIT_USAGE, command_named
from profkit.comparing.gate import check_calls
from profkit.comparing.history import history_of
from profkit.comparing.measured import compare_measured
from profkit.config import Config
from profkit.formats.registry import FORMATS
from profkit.ingest.servers import profile_server
from profkit.measuring import errors as measuring_errors
from profkit.model.checkup import Group, Status
from profkit.model.comparison import GateResult
from profkit.process import foreground
from profkit.pytorch import errors as pytorch_errors
from profkit.render.json.comparisons import gate_json, measured_comparison_json
from profkit.render.json.measured import measured_json
from profkit.render.json.sampled import runs_json, sampled_json
from profkit.render.json.small_reports import checkup_json, history_json
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import SAMPLED
from profkit.render.views.gate import GateReport
from profkit.samplers.memray import tracker
from profkit.store import known as known_runs
from profkit.store import places
from tests.support.cli_runs import Profkit, keep
from tests.support.example_checkups import contained
from tests.support.example_measured_comparisons import one_order
from tests.support.example_measured_runs import measured_run
from tests.support.example_runs import made_run, with_sources
from tests.support.folders import GOLDEN, ROOT

ERROR_MODULES = (
    errors, measuring_errors, tracker, places, known_runs, profile_server, pytorch_errors, foreground,
)  # fmt: skip
CLI, READING, ERRORS = (
    (ROOT / "docs" / name).read_text("utf-8") for name in ("cli.md", "reading-reports.md", "errors.md")
)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = CONSOLE.findall(CLI)
HELP, WORK = ([block for block in BLOCKS if (" --help\n" in block) is helps] for helps in (True, False))


@pytest.fixture
def shell(tmp_path: Path, config: Config) -> dict[str, str]:
    """An environment in which `profkit` is this one, in a folder with a run."""
    keep(config, made_run())
    program = tmp_path / "bin" / "profkit"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m profkit "$@"\n')
    program.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROFKIT_")}
    path = f"{program.parent}:{Path(sys.executable).parent}:{kept['PATH']}"
    return kept | {"PATH": path, "PYTHONPATH": str(ROOT), "TZ": "UTC", "COLUMNS": "80", "NO_COLOR": ""}


@pytest.mark.parametrize("block", HELP, ids=lambda block: block.split("\n")[0])
def test_help_is_that_of_the_command(block: str, profkit: Profkit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command, _, printed = block.removeprefix("$ profkit ").partition("\n")
    said = profkit(*command.split())
    assert (said.code, said.out, said.err) == (0, printed, "")


def work(block: str) -> object:
    marks = [pytest.mark.valgrind] if "callgrind" in block else []
    marks += [pytest.mark.sampler, pytest.mark.full] if "profkit doctor" in block else []
    return pytest.param(block, id=block.split("\n")[0], marks=marks)


@pytest.mark.parametrize("block", [work(block) for block in WORK])
def test_console_block(block: str, shell: dict[str, str], tmp_path: Path) -> None:
    for session in block.split("$ ")[1:]:
        command, _, printed = session.partition("\n")
        done = subprocess.run(
            ["bash", "-ec", command],
            cwd=tmp_path,
            env=shell,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if printed:
            assert done.stdout == printed


def test_help_is_in_the_page_as_it_is() -> None:
    shown = {block.split("\n")[0] for block in HELP}
    assert shown == {"$ profkit --help", *(f"$ profkit {name} --help" for name in COMMANDS)}


@pytest.mark.usefixtures("utc")
def test_the_report_in_the_page_is_a_real_one(tmp_path: Path) -> None:
    shown = re.search(r"^```text\n(.*?)^```$", READING, re.MULTILINE | re.DOTALL)
    assert shown is not None
    run, options = with_sources(made_run(), tmp_path / "vision"), ReportOptions(source_root=tmp_path)
    assert shown.group(1) == SAMPLED.text([run], options, Terminal(110)) + "\n"


@pytest.mark.parametrize("name", ["measured-one-width-120", "measured-program-width-100"])
def test_the_measured_report_in_the_page_is_a_real_one(name: str) -> None:
    page = (ROOT / "docs" / "measuring.md").read_text("utf-8")
    golden = (GOLDEN / f"{name}.txt").read_text("utf-8")
    assert f"```text\n{golden.rstrip()}\n```" in page


def test_the_comparison_in_the_page_is_a_real_one() -> None:
    page = (ROOT / "docs" / "comparing.md").read_text("utf-8")
    golden = (GOLDEN / "compared-one-width-120.txt").read_text("utf-8")
    assert f"```text\n{golden.rstrip()}\n```" in page


@pytest.mark.parametrize(
    "written",
    [
        sampled_json([made_run(links=(("a", "b"),))]),
        runs_json([made_run().info, measured_run().info]),
        measured_json([measured_run()]),
        measured_comparison_json(compare_measured(*one_order(), ("A", "B")), ReportOptions()),
        history_json(history_of("x", [measured_run()]), ReportOptions()),
        checkup_json(contained()),
        gate_json(GateReport(GateResult("main", 0.03, (check_calls("f", [1.0], [1.0], 0.03),)), 5)),
    ],
    ids=["report", "list", "measured", "compared", "history", "checkup", "gate"],
)
def test_every_field_of_the_json_is_explained(written: str) -> None:
    def fields(value: object, name: str = "") -> set[str]:
        if isinstance(value, list):
            return set().union(*(fields(item) for item in value))
        if not isinstance(value, dict) or name in ("env", "labels", "packages", "events", "figures"):
            return set()
        return set(value).union(*(fields(inner, key) for key, inner in value.items()))

    assert [name for name in sorted(fields(json.loads(written))) if f"`{name}`" not in CLI] == []


def test_every_error_has_its_cause_and_fix() -> None:
    members = [member for module in ERROR_MODULES for member in inspect.getmembers(module, inspect.isclass)]
    classes = [kind for _, kind in members if issubclass(kind, errors.ProfkitError)]
    kinds = [kind for kind in classes if kind.__module__ in {module.__name__ for module in ERROR_MODULES}]
    explained = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", ERRORS, re.MULTILINE | re.DOTALL))
    assert set(explained) == {kind.__name__ for kind in kinds} - {"ProfkitError"}
    for kind in kinds:
        assert f"| {kind.exit_code} |" in ERRORS
        if kind is not errors.ProfkitError:
            assert f"Code {kind.exit_code}." in explained[kind.__name__]


@pytest.mark.parametrize("code", [EXIT_USAGE, EXIT_INTERRUPTED, EXIT_READER_GONE])
def test_every_exit_code_is_explained(code: int) -> None:
    assert f"| {code} |" in ERRORS


def test_every_format_is_in_the_page() -> None:
    exported, imported = (
        CLI.partition(f"## profkit {name}\n")[2].partition("\n## ")[0] for name in ("export", "import")
    )
    for known in FORMATS.values():
        if known.encode is not None:
            endings = " ".join(f"`{ending}`" for ending in known.endings)
            assert f"| `{known.name}` | {endings} |" in exported
        if known.decode is not None:
            assert f"| `{known.name}` |" in imported


def test_the_checkup_in_the_page_is_a_real_one() -> None:
    golden = (GOLDEN / "checkup-width-80.txt").read_text("utf-8")
    assert f"```text\n{golden.rstrip()}\n```" in CLI


def test_every_group_and_status_of_a_checkup_is_explained() -> None:
    section = CLI.partition("## profkit doctor\n")[2].partition("\n## ")[0]
    for word in (*Group, *Status):
        assert f"`{word.value}`" in section


def test_every_command_that_prints_data_has_json() -> None:
    for name in COMMANDS:
        # They have formats of their own, a screen, or no data.
        if name in ("attach", "export", "run", "top", "store"):
            continue
        assert "json" in options_of(command_named(name)), name


@pytest.mark.parametrize(
    "name", ["run", "attach", "dump", "report", "measure", "compare", "gate", "history", "list", "doctor"]
)
def test_every_report_has_a_file_and_a_format(name: str) -> None:
    options = options_of(command_named(name))
    assert not options["output"].hidden
    assert not options["format"].hidden
    assert all(options[old].hidden for old in ("json", "html", "markdown") if old in options)


def test_help_shows_few_options_and_help_all_the_others(profkit: Profkit) -> None:
    params = [param for name in COMMANDS for param in command_named(name).params]
    assert sum(isinstance(param, click.Option) and not param.hidden for param in params) <= 120
    for name in COMMANDS:
        rare = [text for text, option in options_of(command_named(name)).items() if option.hidden]
        said = profkit(name, "--help-all" if rare else "--help").out
        assert [text for text in rare if f"--{text}" not in said] == []
        assert ("More options:" in said) is bool(rare)
        assert all(option.hidden for text, option in options_of(command_named(name)).items() if text in rare)
