"""`profkit`: its commands, and what becomes of their errors.

A new command is one new file and one line in `COMMANDS`. Commands import what they work with when they
run, so that `profkit --help` needs no database and no tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click
from click.exceptions import NoArgsIsHelpError

from profkit.cli.compare_runs import compare_command
from profkit.cli.export_run import export_command
from profkit.cli.gate_runs import gate_command
from profkit.cli.gc_runs import gc_command
from profkit.cli.history_runs import history_command
from profkit.cli.import_file import import_command
from profkit.cli.list_runs import list_command
from profkit.cli.measure_runs import measure_command
from profkit.cli.output import ReaderGone, tell
from profkit.cli.report import report_command
from profkit.cli.rm_runs import rm_command
from profkit.config import CONFIG, Config
from profkit.errors import ProfkitError, UsageError
from profkit.version import VERSION

COMMANDS: tuple[click.Command, ...] = (
    report_command,
    measure_command,
    compare_command,
    gate_command,
    history_command,
    list_command,
    export_command,
    import_command,
    rm_command,
    gc_command,
)

EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""
EXIT_READER_GONE = 141
"""128 + SIGPIPE: what a program returns that writes to a pipe nobody reads any more."""


class _InOrder(click.Group):
    """Lists its commands as they were added, the most used first."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, message="profkit %(version)s")
@click.option(
    "--owner", metavar="USER", help="Collect the spool of this user, for collectors that run as root."
)
@click.pass_context
def cli(context: click.Context, owner: str | None) -> None:
    """Show, compare and keep what `@profkit.profile()` and `profkit measure` recorded.

    Runs are read from where the program left them: the folder .profkit of the current folder, or
    PROFKIT_SPOOL and PROFKIT_STORE.
    """
    if owner is not None:
        context.obj = replace(context.obj, owner=_user_id(owner))


for _command in COMMANDS:
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None, config: Config = CONFIG) -> int:
    """Run the command line (`sys.argv` by default) and return its exit code; docs/errors.md lists them.

    `config` says where the runs are: commands get it as their context's object.
    """
    try:
        # The status of --help and --version, or what a command returned: None.
        status: int | None = cli.main(args=arguments, prog_name="profkit", standalone_mode=False, obj=config)
    except ProfkitError as error:
        tell("error", str(error))
        return error.exit_code
    except NoArgsIsHelpError as error:
        error.show()
        return EXIT_USAGE
    except click.ClickException as error:
        tell("error", _sentence(error))
        return EXIT_USAGE
    except click.Abort:
        return EXIT_INTERRUPTED
    except ReaderGone:
        return EXIT_READER_GONE
    return status or 0


def _user_id(user: str) -> int:
    """The id of a user who is given by name or id."""
    import pwd

    try:
        return int(user) if user.isdecimal() else pwd.getpwnam(user).pw_uid
    except (KeyError, ValueError) as error:
        raise UsageError(f"there is no user {user!r}", "give a login name or a numeric id") from error


def _sentence(error: click.ClickException) -> str:
    """What click found wrong, as profkit says it: one line, with where the right use stands."""
    message = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    where = context.command_path if context is not None else "profkit"
    return f"{message[:1].lower()}{message[1:]}; see `{where} --help`"
