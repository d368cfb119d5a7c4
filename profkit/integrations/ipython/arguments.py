"""Options of the magics, which are those of the command line, in a line that may end with a statement."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import click
from IPython.core.error import UsageError as MagicUsageError

from profkit.calls.options import MEMORY
from profkit.cli.measure_options import measuring_options
from profkit.cli.options import sampling_options, takes_next, write_rare_options
from profkit.cli.program_modes import SAMPLES, memory_option, mode_option
from profkit.cli.program_reports import report_options
from profkit.errors import ProfkitError

_WORD = re.compile(r"""\s*((?:"[^"]*"?|'[^']*'?|[^\s"'])+)""")
"""One word as in a shell; a quotation that is not closed reaches to the end."""
_END = "--"
_HELP_WIDTH = 88


@dataclass(frozen=True, slots=True)
class Given:
    """What a magic was given: its options by the names of their parameters, and a statement."""

    options: Mapping[str, object]
    statement: str


@click.command("%profiled", add_help_option=False)
@sampling_options(label="the code's first line")
@click.option("--threads", is_flag=True, help="Sample all threads.")
@mode_option((SAMPLES, MEMORY), "Sample the code, or track the memory that it allocates.")
@memory_option()
@report_options("Also write the report to a file.")
def profiled_options() -> None:
    """Options of `%profiled`, as a command that is only parsed."""


@click.command("%measure", add_help_option=False)
@measuring_options()
@click.option("--no-keep", is_flag=True, help="Do not keep the run.")
def measure_options() -> None:
    """Options of `%measure`."""


PROFILED: click.Command = profiled_options
MEASURE: click.Command = measure_options


def parse(command: click.Command, line: str) -> Given:
    """Return the options and the statement in a magic's line; raises IPython's UsageError."""
    end = _end_of_options(command, line)
    try:
        words = shlex.split(line[:end])
    except ValueError as error:
        raise MagicUsageError(f"{line[:end].strip()} is no list of options: {error}") from None
    if words and words[-1] == _END:
        words.pop()
    try:
        context = command.make_context(command.name, words)
    except click.UsageError as error:
        raise MagicUsageError(
            f"{error.format_message()} `{command.name}?` lists the options; put -- before a statement that "
            "begins with -"
        ) from None
    return Given(context.params, line[end:].strip())


def source_of(given: Given, cell: str | None, name: str, doing: str) -> str:
    """Return the code that a magic was given, in its line or in a cell; raises IPython's UsageError."""
    if cell is not None and given.statement:
        raise MagicUsageError(f"put {given.statement!r} on the next line, or write %{name}")
    source = given.statement if cell is None else cell
    if not source.strip():
        raise MagicUsageError(f"there is nothing to {doing}: `%{name}?` shows how to use it")
    return source


def help_of(command: click.Command) -> str:
    """Return the list of a magic's options."""
    context = click.Context(command, info_name=command.name, max_content_width=_HELP_WIDTH)
    formatter = context.make_formatter()
    command.format_options(context, formatter)
    write_rare_options(context, formatter)
    return formatter.getvalue().rstrip()


_DOCUMENTED = {
    "profiled": (
        PROFILED,
        """Profile a statement, or a cell below `%%profiled`, and show where its time went.

::

  %profiled [OPTIONS] STATEMENT
  %%profiled [OPTIONS]
  CELL

The code runs once, with the notebook's names; its assignments stay, and the value of its last
expression is that of the statement or cell. The run is kept, and `_profkit` is the newest one.
""",
    ),
    "measure": (
        MEASURE,
        """Measure the time or the instruction count of a statement, or of a cell below `%%measure`.

::

  %measure [OPTIONS] STATEMENT
  %%measure [OPTIONS]
  CELL

The code runs many times, in separate processes, with copies of the notebook's names that it uses.
If one of them cannot be copied, such as an open file, the code is timed in this process, and a note
says so. The run is kept, and `_profkit` is the newest one.
""",
    ),
}


def documentation_of(name: str) -> str:
    """Return what `%NAME?` shows: what the magic does, and its options."""
    command, text = _DOCUMENTED[name]
    return f"{text}\n{help_of(command)}\n"


@contextmanager
def usage_errors() -> Iterator[None]:
    """Raise profkit's errors as IPython's UsageError, which it shows as one line without a traceback."""
    try:
        yield
    except ProfkitError as error:
        raise MagicUsageError(str(error)) from None
    except click.UsageError as error:
        raise MagicUsageError(error.format_message()) from None


def _end_of_options(command: click.Command, line: str) -> int:
    """Return the position after a line's options: where the statement begins, whose text stays as it is."""
    position = 0
    while (found := _WORD.match(line, position)) is not None:
        word = found[1]
        if not word.startswith("-") or word == "-":
            break
        position = found.end()
        if word == _END:
            break
        if takes_next(command, word):
            value = _WORD.match(line, position)
            position = position if value is None else value.end()
    return position
