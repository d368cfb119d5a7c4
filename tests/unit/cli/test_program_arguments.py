"""Where the options of `profkit run` end, and the program's command begins."""

from __future__ import annotations

import sys

import click
import pytest

from profkit.cli.commands.run import run_command
from profkit.cli.program_arguments import CommandLine, ProgramCommand
from profkit.errors import UsageError


def parsed(*arguments: str) -> tuple[click.Context, CommandLine]:
    context = run_command.make_context("run", list(arguments))
    return context, context.meta[ProgramCommand.COMMAND_LINE]


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (["app.py", "-r", "5", "--label"], ("app.py", "-r", "5", "--label")),
        (["-r", "100", "app.py"], ("app.py",)),
        (["-r100", "--label=x", "-q", "app.py", "-q"], ("app.py", "-q")),
        (["--label", "-m", "app.py"], ("app.py",)),
        (["-m", "timeit", "--", "-n"], ("-m", "timeit", "--", "-n")),
        (["-mtimeit", "-n"], ("-m", "timeit", "-n")),
        (["-c", "print()", "-c"], ("-c", "print()", "-c")),
        (["-q", "-", "x"], ("-", "x")),
        (["--", "sh", "-c", "true"], ("--", "sh", "-c", "true")),
        (["-o", "a.html", "--", "--odd"], ("--", "--odd")),
    ],
)
def test_the_program_begins_where_pythons_would(arguments: list[str], given: tuple[str, ...]) -> None:
    assert parsed(*arguments)[1].given == given


def test_options_before_the_program_are_profkits() -> None:
    context, target = parsed("-r", "50", "--native", "app.py", "-r", "7")
    assert (context.params["rate"], context.params["native"]) == (50.0, True)
    assert target.command == (sys.executable, "app.py", "-r", "7")


def test_a_command_is_taken_as_it_is() -> None:
    assert parsed("--", "nice", "python", "app.py")[1].command == ("nice", "python", "app.py")


@pytest.mark.parametrize("arguments", [[], ["--"], ["-q"], ["-m"], ["-c"], ["-r", "5"]])
def test_no_program(arguments: list[str]) -> None:
    with pytest.raises(UsageError):
        parsed(*arguments)
