"""The options of commands that measure: how orders are made, and what of it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

import click

from profkit.units import parse_bytes, parse_duration

if TYPE_CHECKING:
    from profkit.measuring.orders import MeasureOptions

_T = TypeVar("_T")
_Command = TypeVar("_Command", bound=Callable[..., object])
_MODES = ("timer", "callgrind", "timer+callgrind")
_LANGUAGES = ("python", "c++")
_LEVELS = ("function", "module")


def _read_by(parse: Callable[[str], _T]) -> Callable[[click.Context, click.Parameter, str | None], _T | None]:
    def convert(_context: click.Context, _option: click.Parameter, value: str | None) -> _T | None:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return convert


def _counts(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise ValueError(f"{text!r} is not a list of numbers such as 1,2,4") from None


def _words(text: str) -> tuple[str, ...]:
    return tuple(part for part in (word.strip() for word in text.split(",")) if part)


def _pairs(text: Sequence[str]) -> dict[str, str]:
    pairs = [item.partition("=") for item in text]
    for item, (name, equals, _) in zip(text, pairs, strict=True):
        if not name or not equals:
            raise click.BadParameter(f"{item!r} is not NAME=VALUE", param_hint="--env")
    return {name: value for name, _, value in pairs}


_OPTIONS = {
    "setup": click.option(
        "--setup", multiple=True, metavar="CODE", help="Runs once in each process; may be repeated."
    ),
    "global_setup": click.option(
        "--global-setup", multiple=True, metavar="CODE", help="At module level; in C++ at file scope."
    ),
    "mode": click.option("--mode", type=click.Choice(_MODES), help="What to measure.  [default: timer]"),
    "threads": click.option(
        "--threads", callback=_read_by(_counts), metavar="N,N", help="An order for each.  [default: 1]"
    ),
    "language": click.option(
        "--language", type=click.Choice(_LANGUAGES), help="Of the statement.  [default: python]"
    ),
    "level": click.option(
        "--level", type=click.Choice(_LEVELS), help="Where its names live.  [default: function]"
    ),
    "label": click.option("--label", metavar="LABEL", help="What to call it.  [default: the statement]"),
    "quick": click.option(
        "--quick", is_flag=True, help="One zygote, few processes: good for comparisons only."
    ),
    "number": click.option("--number", type=click.IntRange(1), metavar="N", help="Executions in a block."),
    "repeats": click.option(
        "--repeats", type=click.IntRange(1), metavar="N", help="Callgrind's blocks.  [default: 2]"
    ),
    "processes": click.option(
        "--processes",
        type=click.IntRange(1),
        metavar="N",
        help="Measuring processes.  [default: 10; quick: 3; to count: 1]",
    ),
    "runs": click.option(
        "--runs", type=click.IntRange(1), metavar="N", help="At most so many executions in all."
    ),
    "min_run_time": click.option(
        "--min-run-time", callback=_read_by(parse_duration), metavar="TIME", help="At least so long."
    ),
    "timeout": click.option(
        "--timeout", callback=_read_by(parse_duration), metavar="TIME", help="Of a process.  [default: 10min]"
    ),
    "retries": click.option(
        "--retries", type=click.IntRange(0), metavar="N", help="After a time-out.  [default: 2]"
    ),
    "python": click.option(
        "--python", type=click.Path(), metavar="PATH", help="The interpreter that measures."
    ),
    "source_cmd": click.option("--source-cmd", metavar="WORDS", help="Puts Python into another environment."),
    "env": click.option(
        "--env", multiple=True, metavar="NAME=VALUE", help="Environment variable; may be repeated."
    ),
    "imports": click.option(
        "--imports", callback=_read_by(_words), metavar="NAMES", help="Ahead: torch, numpy or ''."
    ),
    "simulate": click.option(
        "--simulate", callback=_read_by(_words), metavar="WHAT", help="cache, branch: estimates cycles."
    ),
    "fresh": click.option(
        "--fresh/--shared",
        default=None,
        help="Give each execution arguments or a setup of its own, or never.  [default: if it changes them]",
    ),
    "memory_limit": click.option(
        "--memory-limit",
        callback=_read_by(parse_bytes),
        metavar="SIZE",
        help="Memory of a worker process and its children, such as 2GiB.  [default: half of the machine's]",
    ),
}
"""By the names under which commands get them."""


def measuring_options(*, without: Collection[str] = ()) -> Callable[[_Command], _Command]:
    """Give a command the options that make orders, but those named; it gets them by keyword."""

    def decorate(command: _Command) -> _Command:
        for name, option in reversed(_OPTIONS.items()):
            if name not in without:
                command = option(command)
        return command

    return decorate


_NAMES = {
    "mode": "mode", "language": "language", "level": "level", "label": "label", "number": "number",
    "repeats": "repeats", "processes": "processes", "runs": "runs", "min_run_time": "min_run_time_s",
    "timeout": "timeout_s", "retries": "retries", "python": "python", "source_cmd": "source_cmd",
    "imports": "imports", "simulate": "simulate", "memory_limit": "memory_limit_bytes", "fresh": "fresh",
}  # fmt: skip
"""Options of the command line by their names in `measure`."""


def asked_for(given: Mapping[str, object]) -> MeasureOptions:
    """Only what was asked for: what is left out is chosen where orders are made. `threads` is no part."""
    asked = {ours: given[name] for name, ours in _NAMES.items() if given.get(name) is not None}
    for name in ("setup", "global_setup"):
        if lines := cast("Sequence[str]", given.get(name, ())):
            asked[name] = "\n".join(lines)
    if pairs := _pairs(cast("Sequence[str]", given.get("env", ()))):
        asked["env"] = pairs
    if given.get("quick"):
        asked["quick"] = True
    return cast("MeasureOptions", asked)
