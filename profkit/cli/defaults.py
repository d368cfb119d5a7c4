"""Defaults of commands' options from the project's file, such as `[tool.profkit.report]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import click

from profkit.config import PREFIX, PROFILE, Config
from profkit.errors import UnknownOption, UsageError
from profkit.project_file import as_text, as_words


def command_defaults(command: click.Command, config: Config, commands: Iterable[str]) -> dict[str, object]:
    """Return the defaults of a command's parameters, by their names in Python.

    Raises UsageError if anything in the file is wrong: what it sets elsewhere may be needed here, too.
    """
    for problem in (*config.problems, *unknown_tables(config, commands)):
        raise problem
    return table_defaults(command, config)


def unknown_tables(config: Config, commands: Iterable[str]) -> tuple[UsageError, ...]:
    """Return an error for each table that is neither of a command nor of `profile()`."""
    known = (PROFILE, *commands)
    return tuple(
        UnknownOption(name, known, f" that could have a table in {config.file.path}")
        for name in config.file.tables
        if name not in known
    )


def table_defaults(command: click.Command, config: Config) -> dict[str, object]:
    """Return a command's defaults; raises UsageError for names and values that it does not accept."""
    table = config.file.tables.get(command.name or "", {})
    options = options_of(command)
    return dict(
        _default(name.replace("_", "-"), value, options, f"{config.file.path}: {command.name}")
        for name, value in table.items()
    )


def options_of(command: click.Command) -> Mapping[str, click.Option]:
    """Return the options of a command by their long names, without `--`."""
    return {
        text.removeprefix("--"): option
        for option in command.params
        if isinstance(option, click.Option)
        for text in option.opts
        if text.startswith("--") and option.name != "help"
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
