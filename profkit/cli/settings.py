"""All settings that hold here, each with its source, for `profkit config`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import click

from profkit.calls.defaults import default_options
from profkit.cli.defaults import options_of, table_defaults, unknown_tables, variable_of
from profkit.config import DEFAULT, PROFILE, SETTINGS, Config
from profkit.errors import ProfkitError, UsageError


@dataclass(frozen=True, slots=True)
class HeldSetting:
    """A setting that holds; `table` is empty, `profile`, or the name of a command."""

    table: str
    name: str
    value: object
    source: str


@dataclass(frozen=True, slots=True)
class HeldSettings:
    """What holds, and the mistakes in the project's file."""

    settings: tuple[HeldSetting, ...]
    problems: tuple[ProfkitError, ...]


def held_settings(
    config: Config, commands: Iterable[click.Command], environ: Mapping[str, str] = os.environ
) -> HeldSettings:
    """Return places and switches, default options of `profile()`, and those of commands that are set."""
    known = tuple(commands)
    options, invalid = default_options(config.profile)
    own = [HeldSetting(PROFILE, name, value, config.profile[name].source) for name, value in options.items()]
    problems: list[ProfkitError] = [
        *config.problems, *unknown_tables(config, [command.name or "" for command in known]), *invalid
    ]  # fmt: skip
    for command in known:
        try:
            own += _of_command(command, config, environ)
        except UsageError as error:
            problems.append(error)
    return HeldSettings((*_of_config(config), *own), tuple(problems))


def _of_config(config: Config) -> Iterator[HeldSetting]:
    from profkit.measuring.decorated.program import EXIT_TIMEOUT_S
    from profkit.store.urls import hide_password

    values: Mapping[str, object] = {
        "store": hide_password(config.store_url),
        "spool": str(config.spool),
        "spool-limit": config.spool_limit,
        "children": config.children,
        "disable": config.disabled,
        "exit-timeout": config.exit_timeout or f"{EXIT_TIMEOUT_S:g}",
    }
    for name in SETTINGS:
        yield HeldSetting("", name, values[name], config.sources.get(name, DEFAULT))


def _of_command(command: click.Command, config: Config, environ: Mapping[str, str]) -> Iterator[HeldSetting]:
    name = command.name or ""
    given = table_defaults(command, config)
    for text, option in options_of(command).items():
        variable = variable_of(name, text)
        if environ.get(variable):
            yield HeldSetting(name, text, environ[variable], variable)
        elif option.name in given:
            value, file = given[option.name]
            yield HeldSetting(name, text, value, str(file))
