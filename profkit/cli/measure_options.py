"""Options of commands that measure, and their conversion to options of orders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

import click

from profkit.cli.options import FROM_1, Command, rare_option, read_by, together
from profkit.units import parse_bytes, parse_duration

if TYPE_CHECKING:
    from profkit.measuring.orders import MeasureOptions

_MODES = ("timer", "callgrind", "timer+callgrind")
_LANGUAGES = ("python", "c++")
_LEVELS = ("function", "module")


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


_OPTIONS: Mapping[str, Callable[..., Callable[[Command], Command]]] = {
    "setup": partial(click.option, "--setup", multiple=True, metavar="CODE",
        help="Code that runs once in each process; may be repeated."),
    "global_setup": partial(rare_option, "--global-setup", multiple=True, metavar="CODE",
        help="Code at module level, in C++ at file scope; may be repeated."),
    "mode": partial(click.option, "--mode", type=click.Choice(_MODES),
        help="Measure times, instruction counts or both.  [default: timer]"),
    "threads": partial(click.option, "--threads", callback=read_by(_counts), metavar="N,N",
        help="Numbers of threads, one order for each.  [default: 1]"),
    "language": partial(click.option, "--language", type=click.Choice(_LANGUAGES),
        help="Language of the statement.  [default: python]"),
    "level": partial(rare_option, "--level", type=click.Choice(_LEVELS),
        help="Scope of the statement's names.  [default: function]"),
    "label": partial(click.option, "--label", metavar="LABEL",
        help="Label of the runs.  [default: the statement]"),
    "quick": partial(click.option, "--quick", is_flag=True,
        help="Use one zygote and few processes, for comparisons only."),
    "number": partial(rare_option, "--number", type=FROM_1, metavar="N",
        help="Number of executions per block."),
    "repeats": partial(rare_option, "--repeats", type=FROM_1, metavar="N",
        help="Number of blocks that Callgrind counts.  [default: 2]"),
    "processes": partial(click.option, "--processes", type=FROM_1, metavar="N",
        help="Number of timing, and of counting, processes.  "
        "[default: 10 for timing, or 3 with --quick; 1 to 4 for counting]"),
    "runs": partial(rare_option, "--runs", type=FROM_1, metavar="N",
        help="Maximum total number of executions, including warm-ups."),
    "min_run_time": partial(rare_option, "--min-run-time", callback=read_by(parse_duration), metavar="TIME",
        help="Minimum measuring time of all processes together."),
    "timeout": partial(rare_option, "--timeout", callback=read_by(parse_duration), metavar="TIME",
        help="Timeout per worker process.  [default: 10min]"),
    "retries": partial(rare_option, "--retries", type=click.IntRange(0), metavar="N",
        help="Number of retries after a timeout.  [default: 2, or 0 with --runs]"),
    "python": partial(click.option, "--python", type=click.Path(), metavar="PATH",
        help="Python interpreter of the worker processes."),
    "source_cmd": partial(rare_option, "--source-cmd", metavar="WORDS",
        help="Command before `python` that selects another environment."),
    "env": partial(click.option, "--env", multiple=True, metavar="NAME=VALUE",
        help="Environment variable of the worker processes; may be repeated."),
    "imports": partial(rare_option, "--imports", callback=read_by(_words), metavar="NAMES",
        help="Modules that zygotes import: torch, numpy or ''."),
    "simulate": partial(rare_option, "--simulate", callback=read_by(_words), metavar="WHAT",
        help="Simulate cache, branch or both, to estimate cycles."),
    "python_functions": partial(rare_option, "--python-functions/--no-python-functions", default=None,
        help="Count instructions by Python function as well, in a run of its own (from Python 3.12), or do "
        "not.  [default: --python-functions]"),
    "fresh": partial(rare_option, "--fresh/--shared", default=None,
        help="Give each execution its own arguments or setup, or share them.  "
        "[default: fresh if an execution changes them]"),
    "memory_limit": partial(rare_option, "--memory-limit", callback=read_by(parse_bytes), metavar="SIZE",
        help="Memory limit of a worker process and its children, such as 2GiB.  "
        "[default: half of the machine's]"),
}  # fmt: skip
"""Options by the names under which commands get them; each makes a decorator, and takes another `help`."""


def measuring_options(*, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Add the options that make orders to a command, except those named; it gets them by keyword."""
    return together([option() for name, option in _OPTIONS.items() if name not in without])


def measuring_option(name: str, **changes: str | bool) -> Callable[[Command], Command]:
    """Add one of these options to a command that measures something else, with changes such as its `help`."""
    return _OPTIONS[name](**changes)


_OTHER_NAMES = {
    "min_run_time": "min_run_time_s", "timeout": "timeout_s", "memory_limit": "memory_limit_bytes"
}  # fmt: skip
"""Options whose names in `measure` have a unit."""
_COMBINED = ("setup", "global_setup", "env", "quick", "threads")
"""Options that are not passed on as they are."""


def asked_for(given: Mapping[str, object]) -> MeasureOptions:
    """Return only the options that were given: orders choose the others. `threads` is not included."""
    names = [name for name in _OPTIONS if name not in _COMBINED and given.get(name) is not None]
    asked = {_OTHER_NAMES.get(name, name): given[name] for name in names}
    for name in ("setup", "global_setup"):
        if lines := cast("Sequence[str]", given.get(name, ())):
            asked[name] = "\n".join(lines)
    if pairs := _pairs(cast("Sequence[str]", given.get("env", ()))):
        asked["env"] = pairs
    if given.get("quick"):
        asked["quick"] = True
    return cast("MeasureOptions", asked)
