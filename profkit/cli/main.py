"""`profkit`: its commands, each loaded when it is called; what goes wrong in one is left to `failures`.

A new command is one new file and one line in `COMMANDS`. Its module is imported when it is called, and it
imports its dependencies when it runs.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from keyword import iskeyword
from pathlib import Path
from typing import cast

import click
from click.core import ParameterSource
from click.exceptions import NoArgsIsHelpError

from profkit.cli.defaults import command_defaults, let_variables_set
from profkit.cli.failures import EXIT_READER_GONE, FAILURES, report_failure
from profkit.cli.memory import for_short_commands
from profkit.cli.output import say
from profkit.config import CONFIG, Config
from profkit.errors import UsageError
from profkit.version import VERSION

COMMANDS: Mapping[str, str] = {
    "run": "Run a program and profile it from its first line to its last.",
    "attach": "Profile a running process until Ctrl-C, or for a while.",
    "dump": "Show the stacks of all threads of a running process.",
    "top": "Watch a process live: functions, flame graph, threads.",
    "report": "Show where a run spent its time, or what was measured.",
    "measure": "Measure the time or the instruction count of code.",
    "compare": "Compare two sets of runs and report significant differences.",
    "gate": "Fail if a run is slower than a baseline, and explain why.",
    "history": "Show results for a label, commit by commit.",
    "list": "List runs, newest first.",
    "export": "Write a run in a format that other tools read.",
    "import": "Store profiles of other tools, and exported runs.",
    "push": "Send finished sessions and runs elsewhere.",
    "rm": "Remove runs permanently.",
    "gc": "Remove old runs permanently, and list them.",
    "store": "Make the store or upgrade it.",
    "config": "Show all settings that hold here, and where each is from.",
    "doctor": "Examine what profkit can do here, and how to fix what it cannot.",
}
"""Each command with the first sentence of its help, the most used first."""
_ALWAYS = ("config", "doctor")
"""Commands that run even if the project's file is wrong, without defaults from it."""

EXIT_USAGE = 2


class _Commands(click.Group):
    """A group of the commands in `COMMANDS`, in that order, and of those that were added to it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return command_named(cmd_name) if cmd_name in COMMANDS else super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        width = formatter.width - 6 - max(map(len, self.list_commands(ctx)))
        listed = {name: click.Command(name, help=text) for name, text in COMMANDS.items()}
        listed.update(self.commands)
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(width)) for name, one in listed.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; its defaults are from the project's file, if that has some."""
        if not args[0].startswith("-") and args[0] not in (names := self.list_commands(ctx)):
            raise click.UsageError(f"no such command {args[0]!r}{_suggestion(args[0], names)}", ctx)
        name, command, others = super().resolve_command(ctx, args)
        if name is not None and name in COMMANDS and command is not None and name not in _ALWAYS:
            ctx.default_map = {name: command_defaults(command, cast(Config, ctx.obj), COMMANDS)}
        return name, command, others


@cache
def command_named(name: str) -> click.Command:
    """Import and return one of the commands: `list_command` of `commands.list`."""
    from profkit.cli.options import let_help_show_all

    module = importlib.import_module(f"profkit.cli.commands.{name}{'_' if iskeyword(name) else ''}")
    command = cast(click.Command, getattr(module, f"{name}_command"))
    let_variables_set(command)
    let_help_show_all(command)
    return command


@click.group(
    cls=_Commands,
    context_settings={
        "help_option_names": ["-h", "--help"], "max_content_width": 100
    },
)  # fmt: skip
@click.version_option(VERSION, message="profkit %(version)s")
@click.option(
    "--owner", metavar="USER", help="Collect the spool of this user; for collectors that run as root."
)
@click.pass_context
def cli(context: click.Context, owner: str | None) -> None:
    """Profile and measure programs and code; show, compare and keep the runs.

    Runs are in the folder .profkit of the current folder, unless PROFKIT_SPOOL and PROFKIT_STORE name other
    places. `profkit config` shows all settings, and where each is from.
    """
    if owner is not None:
        context.obj = replace(context.obj, owner=_user_id(owner))


@cli.result_callback()
@click.pass_obj
def _say_if_exposed(config: Config, /, status: int | None, **_options: object) -> int | None:
    """Warn at the end of a command if others can read the store, which users rarely want."""
    from profkit.store.files import VARIABLE, follows_umask, is_exposed

    database = Path(config.store_url.removeprefix("sqlite:///"))
    if config.store_url.startswith("sqlite:///") and not follows_umask() and is_exposed(database):
        say(
            "warning",
            f"other users can read the store {database}; `chmod 600` it, or set {VARIABLE}=umask to share it",
        )
    return status


def main(arguments: Sequence[str] | None = None, config: Config = CONFIG) -> int:
    """Run the command line (`sys.argv` by default) and return its exit code; docs/errors.md lists them.

    `config` has the places of the runs: commands get it as their context's object.
    """
    _fill_closed_streams()
    try:
        with for_short_commands():
            # The status of --help and --version, or a command's return value: None.
            status: int | None = cli.main(
                args=arguments, prog_name="profkit", standalone_mode=False, obj=config
            )
    except NoArgsIsHelpError as error:
        error.show()
        return EXIT_USAGE
    except click.ClickException as error:
        say("error", _sentence(error))
        return EXIT_USAGE
    except FAILURES as error:
        return report_failure(error)
    except SystemExit:  # of click, whose help or version nobody reads
        return EXIT_READER_GONE
    return status or 0


def _fill_closed_streams() -> None:
    """Give closed standard streams a descriptor: a file that got their number would get what they are sent.

    Programs that are started do not inherit it.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)  # gets the lowest free one


def _user_id(user: str) -> int:
    """Return the id of a user, from a name or an id."""
    import pwd

    try:
        return int(user) if user.isdecimal() else pwd.getpwnam(user).pw_uid
    except (KeyError, ValueError) as error:
        raise UsageError(f"there is no user {user!r}", "give a login name or a numeric id") from error


def _suggestion(name: str, names: Iterable[str], start: str = "") -> str:
    """Return a question for the nearest of some names; empty if none is near."""
    from difflib import get_close_matches

    if name.endswith(".py"):
        return f"; to profile a program, write `profkit run {name}`"
    near = get_close_matches(name, names, 1)
    return f"; did you mean {start}{near[0]}?" if near else ""


def _hint(error: click.NoSuchOption) -> str:
    """Return what to write instead of an option, after a semicolon; empty if there is nothing."""
    command = error.ctx.command if error.ctx is not None else None
    if command is None:
        return ""
    name = error.option_name.lstrip("-")
    for option in command.params:
        if (
            "--format" in option.opts
            and isinstance(option.type, click.Choice)
            and name in option.type.choices
        ):
            return f"; write --format {name}"
    for other in () if isinstance(command, click.Group) else COMMANDS:
        if any(error.option_name in option.opts for option in command_named(other).params):
            return f"; `profkit {other}` has it"
    own = (text.lstrip("-") for option in command.params for text in option.opts)
    return _suggestion(name, own, "--")


def _variable(error: click.BadParameter) -> str:
    """Return the variable that a value is from; empty if it is from an option."""
    parameter, context = error.param, error.ctx
    if not isinstance(parameter, click.Option) or parameter.name is None or context is None:
        return ""
    given = context.get_parameter_source(parameter.name) is ParameterSource.ENVIRONMENT
    return str(parameter.envvar) if given else ""


def _sentence(error: click.ClickException) -> str:
    """Return click's error as one line in profkit's style, with the command to run for help."""
    message = error.format_message().rstrip(".")
    if isinstance(error, click.NoSuchOption):
        message = f"no such option: {error.option_name}{_hint(error)}"
    if isinstance(error, click.BadParameter) and (variable := _variable(error)):
        message = f"invalid value of {variable}: {error.message.rstrip('.')}"
    context = error.ctx if isinstance(error, click.UsageError) else None
    where = context.command_path if context is not None else "profkit"
    end = "" if message.endswith("?") else f"; see `{where} --help`"
    return f"{message[:1].lower()}{message[1:]}{end}"
