"""`profkit config`: show what is set, and where."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.calls.options import default_options
from profkit.cli.defaults import options_of, table_defaults, unknown_tables, variable_of
from profkit.cli.options import json_option
from profkit.cli.output import say, terminal, write
from profkit.config import DEFAULT, PROFILE, SETTINGS, Config
from profkit.errors import ProfkitError, UsageError
from profkit.render.formatting import Tone

if TYPE_CHECKING:
    from profkit.render.document import Block, Table

SCHEMA = "profkit.config/1"
_TITLES = {"": "Places and switches", PROFILE: "Default options of profile() and profiled()"}


@dataclass(frozen=True, slots=True)
class _Setting:
    """A setting that holds; `table` is empty, `profile`, or the name of a command."""

    table: str
    name: str
    value: object
    source: str


@dataclass(frozen=True, slots=True)
class _Held:
    """What holds, and the mistakes in the project's file."""

    settings: tuple[_Setting, ...]
    problems: tuple[ProfkitError, ...]


def _held_settings(
    config: Config, commands: Iterable[click.Command], environ: Mapping[str, str] = os.environ
) -> _Held:
    """Return places and switches, default options of `profile()`, and those of commands that are set."""
    known = tuple(commands)
    options, invalid = default_options(config.profile)
    own = [_Setting(PROFILE, name, value, config.profile[name].source) for name, value in options.items()]
    problems: list[ProfkitError] = [
        *config.problems, *unknown_tables(config, [command.name or "" for command in known]), *invalid
    ]  # fmt: skip
    for command in known:
        try:
            own += _of_command(command, config, environ)
        except UsageError as error:
            problems.append(error)
    return _Held((*_of_config(config), *own), tuple(problems))


def _of_config(config: Config) -> Iterator[_Setting]:
    from profkit.measuring.decorated.program import EXIT_TIMEOUT_S
    from profkit.store.urls import hide_password

    values: Mapping[str, object] = {
        "store": hide_password(config.store_url),
        "spool": str(config.spool),
        "spool-limit": config.spool_limit,
        "children": config.children,
        "disable": config.disabled,
        "exit-timeout": config.exit_timeout or f"{EXIT_TIMEOUT_S:g}",
        "push": hide_password(config.push),
    }
    for name in SETTINGS:
        yield _Setting("", name, values[name], config.sources.get(name, DEFAULT))


def _of_command(command: click.Command, config: Config, environ: Mapping[str, str]) -> Iterator[_Setting]:
    name = command.name or ""
    given = table_defaults(command, config)
    for text, option in options_of(command).items():
        variable = variable_of(name, text)
        if environ.get(variable):
            yield _Setting(name, text, environ[variable], variable)
        elif option.name in given:
            value, file = given[option.name]
            yield _Setting(name, text, value, str(file))


@click.command("config")
@json_option("Write JSON, for programs.")
@click.pass_obj
def config_command(config: Config, as_json: bool) -> int:
    """Show all settings that hold here, and where each is from.

    Settings are in the table [tool.profkit] of a pyproject.toml, or the section [profkit] of a setup.cfg, in
    the current folder or above it, or in the user's own ~/.config/profkit/config.toml. Variables override
    them, and options override variables. Exits with 2 if something in a file is wrong.
    """
    from profkit.cli.main import COMMANDS, command_named

    held = _held_settings(config, [command_named(name) for name in COMMANDS])
    write(_json(held, config) if as_json else _text(held, config))
    for path in (*config.file.skipped, *config.user_file.skipped):
        say("note", f"{path} is not read: it belongs to another user")
    for problem in held.problems:
        say("error", str(problem))
    return UsageError.exit_code if held.problems else 0


def _json(held: _Held, config: Config) -> str:
    from profkit.render.json.sampled import dumps

    return dumps(
        SCHEMA,
        {
            "file": None if config.file.path is None else str(config.file.path),
            "user_file": None if config.user_file.path is None else str(config.user_file.path),
            "settings": [
                {"table": one.table, "name": one.name, "value": one.value, "from": one.source}
                for one in held.settings
            ],
            "problems": [str(problem) for problem in held.problems],
        },
    )


def _text(held: _Held, config: Config) -> str:
    from profkit.render.text.printer import print_text

    return print_text(_document(held, config), terminal())


def _document(held: _Held, config: Config) -> Iterator[Block]:
    from profkit.render.document import Remark, Section

    found = "no file here or above has settings" if config.file.path is None else str(config.file.path)
    yield Remark(f"Project's file: {found}")
    if config.user_file.path is not None:
        yield Remark(f"User's file: {config.user_file.path}")
    for title in dict.fromkeys(one.table for one in held.settings):
        yield Section(_TITLES.get(title, f"profkit {title}"))
        yield _rows([one for one in held.settings if one.table == title], config.file.path)


def _rows(settings: Sequence[_Setting], file: Path | None) -> Table:
    from profkit.render.document import Cell, Column, Role, Table, cells

    sources = [file.name if file is not None and one.source == str(file) else one.source for one in settings]
    tones = [Tone.FAINT if source == DEFAULT else Tone.PLAIN for source in sources]
    return Table(
        [
            Column("setting", cells(one.name for one in settings), Role.WORDS),
            Column("value", cells(_shown(one.value) for one in settings), Role.WORDS),
            Column("from", [Cell(*pair) for pair in zip(sources, tones, strict=True)], Role.WORDS),
        ]
    )


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
