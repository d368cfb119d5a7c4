"""Command line of `profkit run`: its own options end where the program's command begins, as Python's do."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import click

from profkit.cli.options import takes_next
from profkit.errors import UsageError

_PYTHON_OPTIONS = ("-m", "-c")
_END = "--"


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The program to run, as the user gave it."""

    given: tuple[str, ...]
    """A script, `-m` and a module, `-c` and code, or `--` and a command, with its arguments."""

    @property
    def command(self) -> tuple[str, ...]:
        """The command to start: this Python runs a script, a module or code."""
        return self.given[1:] if self.given[0] == _END else (sys.executable, *self.given)

    @property
    def is_missing(self) -> bool:
        """Whether it is a script that does not exist, as Python says when it is started."""
        first = self.given[0]
        return first not in (*_PYTHON_OPTIONS, _END, "-") and not os.path.exists(first)

    @property
    def reads_once(self) -> bool:
        """Whether the script is a pipe or device, such as of `<(command)`: only one execution can read it."""
        first = self.given[0]
        return first not in (*_PYTHON_OPTIONS, _END, "-") and (
            os.path.exists(first) and not os.path.isfile(first) and not os.path.isdir(first)
        )

    @property
    def is_on_stdin(self) -> bool:
        """Whether Python reads the script from stdin."""
        return self.given[0] == "-"

    @property
    def name(self) -> str:
        """The name of the program, for labels: a script's or a command's without folders, or a module's."""
        from profkit.program.environment import program_of

        first = os.path.basename(self.command[0])
        return program_of(self.command, "")[1] if first.startswith("python") else first


class ProgramCommand(click.Command):
    """A command whose context has the `CommandLine` in its `meta`, with the key `COMMAND_LINE`."""

    COMMAND_LINE = "command line"
    WITHOUT = "print_environment"
    """Name of the option that needs no program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse this command's options; raises UsageError if no program follows them."""
        own, target = self._split(args)
        rest = super().parse_args(ctx, own)
        if ctx.params.get(self.WITHOUT) and not target:
            return rest
        if not target or target == (_END,):
            raise UsageError(
                "there is no program to run",
                f"give a script, -m MODULE, -c CODE, or -- and a command: `{ctx.command_path} app.py`",
            )
        if target[0] in _PYTHON_OPTIONS and len(target) == 1:
            raise UsageError(f"{target[0]} needs an argument", f"give it as in `python {target[0]} …`")
        ctx.meta[self.COMMAND_LINE] = CommandLine(target)
        return rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the words of the usage line."""
        return ["[OPTIONS]", "{SCRIPT | -m MODULE | -c CODE | -- COMMAND}", "[ARGUMENTS]..."]

    def _split(self, args: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
        """Return this command's options, and the program's part of the command line."""
        place = 0
        while place < len(args):
            word = args[place]
            if word == _END or not word.startswith("-") or word == "-" or word[:2] in _PYTHON_OPTIONS:
                break
            place += 2 if takes_next(self, word) else 1
        target = list(args[place:])
        if target and target[0][:2] in _PYTHON_OPTIONS and len(target[0]) > 2:
            target[:1] = [target[0][:2], target[0][2:]]
        return list(args[:place]), tuple(target)
