"""Modes of `profkit run`: which options each has, and the order to measure a program in one of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
from click.core import ParameterSource

from profkit.calls.options import MEMORY
from profkit.cli.measure_options import asked_for, measuring_option
from profkit.cli.options import Command, percentage, profiler_options, rare_option, read_by, together
from profkit.cli.program_arguments import CommandLine
from profkit.errors import UsageError
from profkit.program.environment import MODE, ProgramOptions
from profkit.units import parse_duration

if TYPE_CHECKING:
    from profkit.measuring.programs.executions import ProgramOrder, Stdin

SAMPLES = "samples"
_TIMER, _CALLGRIND, _BOTH = "timer", "callgrind", "timer+callgrind"
MODES = (SAMPLES, MEMORY, _TIMER, _CALLGRIND, _BOTH)
_ANY = frozenset(MODES)
_SAMPLING = frozenset({SAMPLES})
_TRACKING = frozenset({MEMORY})
_COUNTING = frozenset({_CALLGRIND, _BOTH})
_TIMING = frozenset({_TIMER, _BOTH})
_MEASURING = _TIMING | _COUNTING
_MODES_OF = {
    **dict.fromkeys(
        ("rate", "sampler", "nonblocking", "native", "gil", "async_stacks", "torch_compile"), _SAMPLING
    ),
    **dict.fromkeys(("each", "print_environment"), _SAMPLING | _TRACKING),
    **dict.fromkeys(("windows", "keep", "push"), _SAMPLING),
    "python_allocators": _TRACKING,
    "subprocesses": _SAMPLING | _COUNTING,
    **dict.fromkeys(("precision", "min_run_time", "max_time"), _TIMING),
    **dict.fromkeys(("simulate", "python_functions"), _COUNTING),
    **dict.fromkeys(
        ("processes", "runs", "warmups", "timeout", "env", "stdin", "show_output", "ignore_failure"),
        _MEASURING,
    ),
}  # fmt: skip
"""Modes that have an option; all have those that are not here."""
_STDIN = "-"


def mode_option(
    modes: Sequence[str] = MODES,
    help: str = "Sample the program, track its memory, or execute it repeatedly and measure its time, its "
    "instructions or both.",
) -> Callable[[Command], Command]:
    """Add --mode to a command."""
    return click.option("--mode", type=click.Choice(modes), default=SAMPLES, show_default=True, help=help)


def memory_option() -> Callable[[Command], Command]:
    """Add the option that only --mode memory has to a command."""
    return rare_option(
        "--python-allocators", is_flag=True,
        help="Track each Python object, not only the arenas that Python allocates for them.",
    )  # fmt: skip


def check_tracker() -> None:
    """Raise TrackerMissing if this Python has no memray."""
    from importlib.util import find_spec

    if find_spec("memray") is None:
        from profkit.samplers.memray.tracker import TrackerMissing

        raise TrackerMissing("No module named 'memray'")


def program_options(mode: str, given: Mapping[str, object]) -> ProgramOptions:
    """Return the options of a program that is sampled, or whose memory is tracked."""
    if mode != MEMORY:
        return dict(profiler_options(given))
    options: dict[str, object] = {MODE: MEMORY}
    if given["python_allocators"]:
        options["python_allocators"] = True
    return {**options, "label": given["label"]} if given["label"] is not None else options


def measured_program_options() -> Callable[[Command], Command]:
    """Add the options that only measuring modes have to a command."""
    return together([
        measuring_option(
            "processes",
            help="Number of measured executions.  "
            "[default: as many as --precision needs; 2 to 4 for counting]",
        ),
        measuring_option("runs"),
        rare_option(
            "--warmups", type=click.IntRange(0), metavar="N", default=1, show_default=True,
            help="Number of executions that come first and are not measured.",
        ),
        click.option(
            "--precision", callback=percentage, default="1%", show_default=True, metavar="PERCENT",
            help="Stop when the median is known to plus or minus PERCENT.",
        ),
        measuring_option(
            "min_run_time", help="Minimum measuring time of all executions together.  [default: 1s]"
        ),
        rare_option(
            "--max-time", callback=read_by(parse_duration), metavar="TIME",
            help="Measuring time after which no further execution starts, once there are 6.  [default: 20s]",
        ),
        measuring_option("timeout", help="Timeout per execution.  [default: none]"),
        measuring_option("env", hidden=True, help="Environment variable of the program; may be repeated."),
        rare_option(
            "--input", "stdin", metavar="FILE",
            help="File that each execution reads as stdin; - is the stdin of profkit.  [default: /dev/null]",
        ),
        rare_option(
            "--show-output", is_flag=True, help="Show the output of all executions, not only of the first."
        ),
        rare_option(
            "--ignore-failure", is_flag=True, help="Also measure executions with an exit code other than 0."
        ),
        measuring_option("simulate"),
        measuring_option("python_functions"),
    ])  # fmt: skip


def refuse_other_options(context: click.Context, mode: str) -> None:
    """Raise UsageError for options on the command line that the mode does not have."""
    wrong = [
        option
        for option in context.command.params
        if mode not in _MODES_OF.get(option.name or "", _ANY)
        and context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    ]
    if not wrong:
        return
    modes = frozenset.intersection(*(_MODES_OF[option.name or ""] for option in wrong))
    named = " and ".join(max(option.opts, key=len) for option in wrong)
    others = " or ".join(f"--mode {name}" for name in MODES if name in modes)
    raise UsageError(
        f"{named} {'does' if len(wrong) == 1 else 'do'} not apply to --mode {mode}",
        f"leave {'it' if len(wrong) == 1 else 'them'} out{f', or use {others}' if others else ''}",
    )


@contextmanager
def program_order(line: CommandLine, mode: str, given: Mapping[str, object]) -> Iterator[ProgramOrder]:
    """Yield the order for a program under options; raises UsageError."""
    from profkit.measuring.orders import simulations
    from profkit.measuring.programs.executions import MAX_TIME_S, MIN_RUN_TIME_S, ProgramOrder
    from profkit.model.workorder import Mode

    asked = asked_for(given)
    with ExitStack() as stack:
        stdin = cast("str | None", given["stdin"])
        max_time_s = cast("float | None", given["max_time"])
        yield ProgramOrder(
            label=str(given["label"] or line.name),
            command=line.command,
            given=line.given,
            environ=_environ(),
            mode=Mode(mode),
            env=tuple(asked.get("env", {}).items()),
            stdin=None if stdin is None else _stdin(stdin, stack),
            show_output=bool(given["show_output"]),
            warmups=cast(int, given["warmups"]),
            processes=asked.get("processes"),
            runs=asked.get("runs"),
            min_run_time_s=asked.get("min_run_time_s", MIN_RUN_TIME_S),
            max_time_s=MAX_TIME_S if max_time_s is None else max_time_s,
            precision=cast(float, given["precision"]),
            timeout_s=asked.get("timeout_s"),
            ignore_failure=bool(given["ignore_failure"]),
            simulate=simulations(asked.get("simulate", ())),
            python_functions=asked.get("python_functions", True),
            subprocesses=bool(given["subprocesses"]),
        )


def _environ() -> dict[str, str]:
    """Return the environment without the variables that would make the program be sampled."""
    from profkit.program.environment import remove_switch

    environ = dict(os.environ)
    remove_switch(environ)
    return environ


def _stdin(name: str, stack: ExitStack) -> Stdin:
    """Return what each execution reads as stdin; that of profkit is copied, until `stack` closes."""
    from profkit.measuring.programs.executions import Stdin

    if name != _STDIN:
        if not os.access(name, os.R_OK) or Path(name).is_dir():
            raise UsageError(f"{name!r} is no file that can be read", "name one with --input")
        return Stdin(os.path.abspath(name), name)
    descriptor = os.memfd_create("profkit-stdin", os.MFD_CLOEXEC)
    stack.callback(os.close, descriptor)
    with open(descriptor, "wb", closefd=False) as copy:
        while part := sys.stdin.buffer.read(1 << 20):
            copy.write(part)
    return Stdin(f"/proc/{os.getpid()}/fd/{descriptor}", name)
