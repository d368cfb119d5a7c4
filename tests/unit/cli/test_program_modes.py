"""Options of the modes of `profkit run`: each mode has its own, and refuses those of others."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click
import pytest

from profkit.cli.commands.run import run_command
from profkit.cli.program_arguments import CommandLine, ProgramCommand
from profkit.cli.program_modes import MODES, program_order, refuse_other_options
from profkit.errors import UsageError
from profkit.measuring.decorated.options import MODES as MEASURING_MODES
from profkit.measuring.programs.executions import ProgramOrder
from profkit.model.workorder import Mode, Simulation
from profkit.program.environment import HOOK


def context(*arguments: str) -> click.Context:
    return run_command.make_context("run", [*arguments, "app.py"])


def order(*arguments: str) -> ProgramOrder:
    made = context("--mode", "timer+callgrind", *arguments)
    line: CommandLine = made.meta[ProgramCommand.COMMAND_LINE]
    with program_order(line, "timer+callgrind", made.params) as found:
        return found


def test_modes_have_the_names_of_the_decorator() -> None:
    assert set(MODES) == {"samples", "memory", *MEASURING_MODES}


@pytest.mark.parametrize(
    ("mode", "options", "named", "better"),
    [
        ("timer", ["--rate", "5"], "--rate does", "samples"),
        ("callgrind", ["--gil", "-r5"], "--rate and --gil do", "samples"),
        ("timer", ["--subprocesses"], "--subprocesses does", "samples"),
        ("timer", ["--simulate", "cache"], "--simulate does", "callgrind"),
        ("timer", ["--no-python-functions"], "--python-functions does", "callgrind"),
        ("callgrind", ["--precision", "2%"], "--precision does", "timer"),
        ("samples", ["--processes", "3"], "--processes does", "timer"),
        ("samples", ["--input", "x", "--warmups", "1"], "--warmups and --input do", "timer"),
        ("timer+callgrind", ["--print-environment"], "--print-environment does", "samples"),
    ],
)
def test_an_option_of_another_mode_is_refused(mode: str, options: list[str], named: str, better: str) -> None:
    said = re.escape(f"{named} not apply to --mode {mode};")
    with pytest.raises(UsageError, match=f"{said}.*--mode {better}"):
        refuse_other_options(context("--mode", mode, *options), mode)


def test_options_that_contradict_each_other_have_no_mode() -> None:
    with pytest.raises(UsageError, match=r"leave them out$"):
        refuse_other_options(context("--mode", "timer", "--rate", "5", "--simulate", "cache"), "timer")


def test_options_of_a_mode_are_accepted() -> None:
    for mode, options in {
        "samples": ["-r", "5", "--gil", "--subprocesses", "--label", "x"],
        "timer": ["--runs", "5", "--max-time", "1s", "--env", "A=1", "--label", "x"],
        "callgrind": ["--subprocesses", "--simulate", "cache", "--timeout", "5"],
    }.items():
        refuse_other_options(context("--mode", mode, *options), mode)


def test_options_make_the_order(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("x")
    found = order(
        *("--processes", "7", "--warmups", "0", "--precision", "0.5%", "--min-run-time", "2s"),
        *("--max-time", "5s", "--timeout", "1min", "--env", "A=1", "--input", str(tmp_path / "in")),
        *("--ignore-failure", "--show-output", "--simulate", "branch", "--subprocesses", "--label", "x"),
    )
    assert (found.processes, found.warmups, found.precision) == (7, 0, 0.005)
    assert (found.min_run_time_s, found.max_time_s, found.timeout_s) == (2.0, 5.0, 60.0)
    assert (found.env, found.mode, found.label) == ((("A", "1"),), Mode.BOTH, "x")
    assert found.stdin is not None
    assert found.stdin.path == str(tmp_path / "in")
    assert (found.ignore_failure, found.show_output, found.subprocesses) == (True, True, True)
    assert found.simulate == (Simulation.BRANCH,)
    assert found.command == (sys.executable, "app.py")


def test_programs_are_not_sampled_while_they_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFKIT_RUN", "1")
    monkeypatch.setenv("PYTHONPATH", f"{HOOK}{os.pathsep}/own")
    environ = order().environ
    assert "PROFKIT_RUN" not in environ
    assert environ["PYTHONPATH"] == "/own"


@pytest.mark.parametrize("name", ["no-such-file", "."])
def test_an_input_that_cannot_be_read_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no file that can be read"):
        order("--input", name)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["src/app.py", "-x"], "app.py"),
        (["-m", "http.server"], "http.server"),
        (["-c", "pass"], "-c"),
        (["--", "/usr/bin/pytest", "-x"], "pytest"),
        (["--", "python3", "-u", "app.py"], "app.py"),
    ],
)
def test_the_label_is_the_name_of_the_program(arguments: list[str], name: str) -> None:
    made = run_command.make_context("run", arguments)
    assert made.meta[ProgramCommand.COMMAND_LINE].name == name
