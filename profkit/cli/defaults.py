"""Defaults of commands' options from files and variables; which options a project's file may not set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from profkit.config import PREFIX, PROFILE, Config, NotForProjects
from profkit.errors import UnknownOption, UsageError
from profkit.project_file import as_text, as_words


def command_defaults(command: click.Command, config: Config, commands: Iterable[str]) -> dict[str, object]:
    """Return the defaults of a command's parameters, by their names in Python.

    Raises UsageError if anything in the file is wrong: what it sets elsewhere may be needed here, too.
    """
    for problem in (*config.problems, *unknown_tables(config, commands)):
        raise problem
    return {name: value for name, (value, _) in table_defaults(command, config).items()}


def unknown_tables(config: Config, commands: Iterable[str]) -> tuple[UsageError, ...]:
    """Return an error for each table that is neither of a command nor of `profile()`."""
    known = (PROFILE, *commands)
    return tuple(
        UnknownOption(name, known, f" that could have a table in {file.path}")
        for file in (config.file, config.user_file)
        for name in file.tables
        if name not in known
    )


def table_defaults(command: click.Command, config: Config) -> dict[str, tuple[object, Path]]:
    """Return a command's defaults, and the files that they are from, by name in Python.

    The project's file overrides the user's. Raises UsageError for names and values that are not accepted.
    """
    options, found = options_of(command), dict[str, tuple[object, Path]]()
    for file in (config.user_file, config.file):
        for name, value in file.tables.get(command.name or "", {}).items():
            name = name.replace("_", "-")
            if file is config.file and name in OF_USERS:
                variable = variable_of(command.name or "", name)
                raise NotForProjects(f"{file.path}: {command.name}.{name}", OF_USERS[name], variable)
            option, given = _default(name, value, options, f"{file.path}: {command.name}")
            found[option] = given, file.path or Path()
    return found


_WRITES, _RUNS, _READS, _SENDS = "writes files", "runs code", "reads files", "sends runs elsewhere"
OF_USERS: Mapping[str, str] = {
    "output": _WRITES, "markdown": _WRITES, "open": _RUNS, "ab": _RUNS, "git": _RUNS, "setup": _RUNS,
    "global-setup": _RUNS, "imports": _RUNS, "env": _RUNS, "python": _RUNS, "source-cmd": _RUNS,
    "source-root": _READS, "input": _READS, "to": _SENDS, "push": _SENDS, "gone": _WRITES,
    "share": _WRITES, "dask": _RUNS,
}  # fmt: skip
"""Options that a project's file does not set, with what they do."""


def options_of(command: click.Command) -> Mapping[str, click.Option]:
    """Return the options of a command by their long names, without `--`."""
    return {
        text.removeprefix("--"): option
        for option in command.params
        if isinstance(option, click.Option)
        for text in option.opts
        if text.startswith("--") and option.expose_value
    }


def _default(name: str, value: object, options: Mapping[str, click.Option], where: str) -> tuple[str, object]:
    option = options.get(name)
    if option is None or option.name is None:
        raise UnknownOption(name, options, f" of {where}")
    several = option.multiple or option.nargs != 1
    given = as_words(value) if several else as_text(value)
    if given is None:
        kind = "a list of words" if several else "one value"
        raise UsageError(f"{where}.{name} is not {kind}", f"write it as after --{name}")
    try:
        with click.Context(click.Command("")) as context:
            option.type_cast_value(context, given)
    except click.BadParameter as error:
        message = error.message.rstrip(".")
        raise UsageError(f"{where}.{name}: {message}", f"write it as after --{name}") from error
    return option.name, given


def variable_of(command: str, option: str) -> str:
    """Return the name of the variable that sets an option of a command: `PROFKIT_REPORT_LIMIT`."""
    return f"{PREFIX}{command}_{option}".replace("-", "_").upper()


def let_variables_set(command: click.Command) -> None:
    """Let variables set the options of a command."""
    for text, option in options_of(command).items():
        option.envvar = variable_of(command.name or "", text)
