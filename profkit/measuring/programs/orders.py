"""Orders to measure a whole program: the command, its surroundings, and how."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from profkit.errors import InvalidOption
from profkit.model.measurement import OrderInfo, ProgramInfo
from profkit.model.workorder import Language, Level, Mode, Simulation
from profkit.process.redaction import secret_rule

LEAST_COUNTED, MOST_COUNTED = 2, 4
"""Executions that are counted; the larger number if the counts of the smaller one differ."""
MIN_RUN_TIME_S, MAX_TIME_S = 1.0, 20.0


@dataclass(frozen=True, slots=True)
class Stdin:
    """What a program reads as its stdin, in each execution from the beginning."""

    path: str
    name: str
    """Name for reports; - if it was the stdin of profkit."""


@dataclass(frozen=True, slots=True)
class ProgramOrder:
    """One program to measure."""

    label: str
    command: tuple[str, ...]
    """Words of the command that is started."""
    given: tuple[str, ...]
    """The same as the user gave it, for reports."""
    environ: Mapping[str, str]
    """Its environment, without `env`."""
    mode: Mode = Mode.TIMER
    env: tuple[tuple[str, str], ...] = ()
    """Further variables, which are part of what is measured."""
    stdin: Stdin | None = None
    """None for /dev/null."""
    show_output: bool = False
    """True to show the output of all executions, not only that of the first."""
    warmups: int = 1
    """Executions that come first and are not measured."""
    processes: int | None = None
    """Number of measured executions; None: as many as `precision` needs, and 2 to 4 for counting."""
    runs: int | None = None
    """Maximum number of executions in all, warm-ups included; one of them counts."""
    min_run_time_s: float = MIN_RUN_TIME_S
    """Minimum time of all timed executions together."""
    max_time_s: float = MAX_TIME_S
    """Time of all timed executions after which no further one starts, once the median has an interval."""
    precision: float = 0.01
    """Half the width of the median's interval, relative to the median, that suffices."""
    timeout_s: float | None = None
    """Timeout per execution."""
    ignore_failure: bool = False
    """True to measure executions that exit with a code other than 0."""
    simulate: tuple[Simulation, ...] = ()
    python_functions: bool = True
    """True to count instructions by Python function as well, in a run of its own."""
    subprocesses: bool = False
    """True to count instructions of child processes, too."""

    @property
    def counted(self) -> int:
        """How many executions count instructions at first."""
        if not self.mode.counts:
            return 0
        return 1 if self.runs is not None else self.processes or LEAST_COUNTED

    @property
    def most_timed(self) -> int | None:
        """How many executions may be timed; None: any number."""
        return None if self.runs is None else self.runs - self.warmups - self.counted


def check(order: ProgramOrder) -> None:
    """Raise `UsageError` for values that do not fit together."""
    needed = order.warmups + order.counted + order.mode.times
    if order.runs is not None and order.runs < needed:
        raise InvalidOption("runs", order.runs, f"{needed} are needed: allow more, or fewer warm-ups")
    if order.runs is not None and order.processes is not None:
        raise InvalidOption("runs", order.runs, "processes sets the number of executions: leave one out")
    for name, value in order.env:
        if not name or "=" in name or "\0" in name + value:
            raise InvalidOption("env", f"{name}={value}", "give NAME=VALUE")


def order_info(order: ProgramOrder) -> OrderInfo:
    """Return the parts of an order that can be stored, without secrets."""
    rule = secret_rule()
    stdin = "" if order.stdin is None else order.stdin.name
    words = order.given[order.given[0] == "--" :]
    what = shlex.join(rule.argv(words)) + (f" < {shlex.quote(stdin)}" if stdin else "")
    return OrderInfo(
        label=order.label,
        what=what,
        setup="",
        global_setup="",
        mode=order.mode,
        language=Language.PYTHON,
        level=Level.MODULE,
        num_threads=1,
        quick=False,
        env=rule.variables(order.env),
        program=ProgramInfo(rule.argv(order.command), stdin, order.subprocesses),
    )
