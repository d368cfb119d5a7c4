"""Options that several commands share, as decorators; which ones only `--help-all` shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar, cast

import click

from profkit.model.profile import Value
from profkit.render.options import Activity
from profkit.units import parse_bytes, parse_duration, parse_percentage

if TYPE_CHECKING:
    from profkit.calls.keywords import ProfilerOptions

_T = TypeVar("_T")
Command = TypeVar("Command", bound=Callable[..., object])

rare_option = partial(click.option, hidden=True)
"""Add an option that most people never need, which only --help-all shows."""

FROM_1 = click.IntRange(1)
"""Type of options that are positive whole numbers."""
_Flag = Literal["native", "gil", "subprocesses", "async_stacks"]
_FLAGS: tuple[_Flag, ...] = ("native", "gil", "subprocesses", "async_stacks")


def limit_option(help: str = "Maximum number of rows per table.") -> Callable[[Command], Command]:
    """Add --limit to a command."""
    return click.option("--limit", type=FROM_1, metavar="N", help=help)


def json_option(help: str) -> Callable[[Command], Command]:
    """Add --json, as `as_json`, to a command without other formats than text."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def takes_next(command: click.Command, word: str) -> bool:
    """Return whether an option of a command, as written, has its value in the next word."""
    has_value = "=" in word if word.startswith("--") else len(word) > 2
    return not has_value and any(
        word in (*option.opts, *option.secondary_opts) and not (option.is_flag or option.count)
        for option in command.params
        if isinstance(option, click.Option)
    )


def together(options: Sequence[Callable[[Command], Command]]) -> Callable[[Command], Command]:
    """Return a decorator that adds options to a command; its help lists them in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def let_help_show_all(command: click.Command) -> None:
    """Add --help-all to a command that has options which --help does not show."""
    if _rare_options(command):
        command.params.append(
            click.Option(
                ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all,
                help="Show all options and exit.",
            )
        )  # fmt: skip


def _show_all(context: click.Context, _option: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        formatter = context.make_formatter()
        context.command.format_help(context, formatter)
        write_rare_options(context, formatter)
        click.echo(formatter.getvalue().rstrip("\n"))
        context.exit()


def write_rare_options(context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the help of a command's options that --help does not show."""
    records = []
    for option in _rare_options(context.command):
        option.hidden = False
        records.append(option.get_help_record(context))
        option.hidden = True
    if records:
        with formatter.section("More options"):
            formatter.write_dl([record for record in records if record is not None])


def _rare_options(command: click.Command) -> list[click.Option]:
    return [option for option in command.params if isinstance(option, click.Option) and option.hidden]


def sampling_options(
    *,
    labelled: bool = True,
    label: str = "the program's name",
    children: str = "Sample child processes, too.",
) -> Callable[[Command], Command]:
    """Add the options to a command; --label, whose default is `label` in words, only if it keeps a run.

    `children` is the help of --subprocesses.
    """
    options = [
        click.option("-r", "--rate", type=float, metavar="HZ", help="Samples per second of each thread."),
        rare_option("--sampler", metavar="NAME", help="How to take samples.  [default: auto]"),
        rare_option("--nonblocking", is_flag=True, help="Never stop the program for a sample."),
        click.option("--native", is_flag=True, help="Show C, C++ and Rust functions, too."),
        rare_option("--gil", is_flag=True, help="Only sample threads that hold the GIL."),
        click.option("--subprocesses", is_flag=True, help=children),
        rare_option("--async-stacks", is_flag=True, help="Show the asyncio tasks that await a running one."),
    ]
    if labelled:
        named = click.option("--label", metavar="TEXT", help=f"Label of the run.  [default: {label}]")
        options.insert(0, named)
    return together(options)


def windows_options() -> Callable[[Command], Command]:
    """Add --windows, --keep and --push to a command."""
    return together(
        [
            click.option(
                "--windows", metavar="TIME", callback=read_by(parse_duration),
                help="Divide the run into windows of this duration, such as 60s; for services.",
            ),
            rare_option(
                "--keep", metavar="SIZE", callback=read_by(_size),
                help="Delete the oldest windows beyond this size.  [default: PROFKIT_SPOOL_LIMIT]",
            ),
            rare_option(
                "--push", metavar="STORE|FOLDER",
                help="Send each window elsewhere when it ends, as `profkit push --to` does.",
            ),
        ]
    )  # fmt: skip


def _size(text: str) -> str:
    parse_bytes(text)
    return text


def activity_options() -> Callable[[Command], Command]:
    """Add --working and --waiting to a command, as `activity`."""
    return together(
        [
            click.option(
                f"--{activity.value}",
                "activity",
                flag_value=activity.value,
                help=f"Show only samples in which a thread {done}.",
            )
            for activity, done in ((Activity.WORKING, "worked, not waited"), (Activity.WAITING, "waited"))
        ]
    )


def value_option(explanation: str) -> Callable[[Command], Command]:
    """Add --value, which chooses one of the values of a memory run, to a command."""
    return rare_option(
        "--value",
        type=click.Choice([value.value for value in Value]),
        callback=lambda _context, _option, name: None if name is None else Value(name),
        help=explanation,
    )


def profiler_options(given: Mapping[str, object]) -> ProfilerOptions:
    """Return the options that were given, as a profiler takes them."""
    options: ProfilerOptions = {}
    for flag in _FLAGS:
        if given[flag]:
            options[flag] = True
    if given["nonblocking"]:
        options["blocking"] = False
    if given["rate"] is not None:
        options["rate"] = cast(float, given["rate"])
    if given.get("windows") is not None:
        options["window"] = cast(float, given["windows"])
    for name in ("sampler", "label"):
        if given.get(name) is not None:
            options[name] = str(given[name])
    return options


def read_by(parse: Callable[[str], _T]) -> Callable[[click.Context, click.Parameter, str | None], _T | None]:
    """Return a callback for options whose values a function parses, which raises ValueError."""

    def convert(_context: click.Context, _option: click.Parameter, value: str | None) -> _T | None:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return convert


def percentage(_context: click.Context, _option: click.Parameter, value: str) -> float:
    """Return the part that an option gives as a percentage such as 3%."""
    try:
        return parse_percentage(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not a percentage from 0 on, such as 3%") from error
