"""Options that several commands share, and several options as one decorator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar, cast

import click

from profkit.model.profile import Value
from profkit.render.options import Activity
from profkit.units import parse_percentage

if TYPE_CHECKING:
    from profkit.calls.options import ProfilerOptions

Command = TypeVar("Command", bound=Callable[..., object])

_FLAGS: tuple[Literal["native", "gil", "subprocesses", "async_stacks"], ...] = (
    "native",
    "gil",
    "subprocesses",
    "async_stacks",
)


def together(options: Sequence[Callable[[Command], Command]]) -> Callable[[Command], Command]:
    """Return a decorator that adds options to a command; its help lists them in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


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
        click.option("--sampler", metavar="NAME", help="How to take samples.  [default: auto]"),
        click.option("--nonblocking", is_flag=True, help="Never stop the program for a sample."),
        click.option("--native", is_flag=True, help="Show C, C++ and Rust functions, too."),
        click.option("--gil", is_flag=True, help="Only sample threads that hold the GIL."),
        click.option("--subprocesses", is_flag=True, help=children),
        click.option("--async-stacks", is_flag=True, help="Show the asyncio tasks that await a running one."),
    ]
    if labelled:
        named = click.option("--label", metavar="TEXT", help=f"Label of the run.  [default: {label}]")
        options.insert(0, named)
    return together(options)


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
    return click.option(
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
    for name in ("sampler", "label"):
        if given.get(name) is not None:
            options[name] = str(given[name])
    return options


def percentage(_context: click.Context, _option: click.Parameter, value: str) -> float:
    """Return the part that an option gives as a percentage such as 3%."""
    try:
        return parse_percentage(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not a percentage from 0 on, such as 3%") from error
