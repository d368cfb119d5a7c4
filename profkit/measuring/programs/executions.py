"""Orders to measure a program, their executions one after the other, and the Python that a command starts."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from profkit.errors import InvalidOption
from profkit.measuring.errors import ProgramFailed, ProgramTimeout
from profkit.measuring.pool.command import Output
from profkit.model.measurement import OrderInfo, ProgramInfo
from profkit.model.notes import Note, NoteCode
from profkit.model.workorder import Language, Level, Mode, Simulation
from profkit.process.child import capture, plain_python
from profkit.process.metered import Files, Meter, MeteredRun, metering
from profkit.process.redaction import secret_rule
from profkit.regular_files import read_regular

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
    """Environment variables that it inherits."""
    mode: Mode = Mode.TIMER
    env: tuple[tuple[str, str], ...] = ()
    """Environment variables that the user sets for it; orders that differ in them are different."""
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


_STDOUT, _STDERR = 1, 2
_OWN_ENV = {"PROFKIT_DISABLE": "1"}
"""Variables of all executions: a sampler that the program starts would be measured, too."""
_VERSION = "import platform; print(platform.python_version())"
_SHEBANG = b"#!"
_LONGEST = 256
"""Bytes of a first line that the kernel reads."""


class Executions:
    """Executions of one order. The output of the first is shown, that of the others only on request."""

    def __init__(self, order: ProgramOrder, meter: Meter, errors: Output) -> None:
        self.order, self._meter, self._errors = order, meter, errors
        self._made, self._failed, self._last_exit_code = 0, 0, 0

    def execute(
        self,
        under: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
        command: Sequence[str] = (),
    ) -> MeteredRun:
        """Execute the program, or `command` in its place, under a tool if one is given, with more variables.

        Raises CommandNotStarted, ProgramTimeout, and ProgramFailed unless failures are ignored.
        """
        order, errors = self.order, self._errors
        self._made += 1
        os.ftruncate(errors.descriptor, 0)
        is_shown = order.show_output or self._made == 1
        outputs = (_STDOUT, _STDERR) if is_shown else (None, errors.descriptor)
        files = Files(None if order.stdin is None else order.stdin.path, *outputs)
        env = {**order.environ, **_OWN_ENV, **(variables or {}), **dict(order.env)}
        try:
            found = self._meter.run((*under, *(command or order.command)), env, files, order.timeout_s)
        except TimeoutError as error:
            raise ProgramTimeout(order.label, order.timeout_s or 0.0, self._made, errors.text()) from error
        if found.exit_code:
            self._failed, self._last_exit_code = self._failed + 1, found.exit_code
            if not order.ignore_failure:
                raise ProgramFailed(order.label, found.exit_code, self._made, errors.text())
        return found

    def notes(self) -> tuple[Note, ...]:
        """Return the note about failures that were ignored, if there were any."""
        if not self._failed:
            return ()
        figures = {"failed": self._failed, "executions": self._made, "exit_code": self._last_exit_code}
        return (Note.of(NoteCode.EXIT_CODES_IGNORED, **figures),)


@contextmanager
def executing(order: ProgramOrder) -> Iterator[Executions]:
    """Yield the executions of an order; an interrupt of the body ends the one that runs."""
    errors = Output()
    try:
        # Only the meter inherits it, which passes it on as the stderr of executions.
        with metering(errors.descriptor) as meter:
            yield Executions(order, meter, errors)
    finally:
        errors.close()


@dataclass(frozen=True, slots=True)
class StartedPython:
    """The Python that a command starts."""

    version: str
    interpreter: tuple[str, ...]
    """The interpreter that a script's first line names, with its options; else the command's first word."""
    script: tuple[str, ...] = ()
    """Path of that script."""

    def command(self, command: Sequence[str], options: Sequence[str]) -> tuple[str, ...]:
        """Return the command with options of the interpreter."""
        return (*self.interpreter, *options, *self.script, *command[1:])


def started_python(command: Sequence[str], environ: Mapping[str, str]) -> StartedPython | None:
    """Return the Python that a command starts; None if it is not known that it starts one."""
    path = environ.get("PATH")
    program = shutil.which(command[0], path=path)
    if program is None:
        return None
    if plain_python(os.path.basename(program)) is not None:
        return _started(program, (command[0],), ())
    interpreter, *words = _first_words(program) or [""]
    if os.path.basename(interpreter) == "env":
        words = [word for word in words if word != "-S"]
        interpreter, *words = words or [""]
    found = shutil.which(interpreter, path=path)
    if found is None or plain_python(os.path.basename(found)) is None:
        return None
    return _started(found, (found, *words), (program,))


def _started(python: str, interpreter: tuple[str, ...], script: tuple[str, ...]) -> StartedPython | None:
    version = platform.python_version() if python == sys.executable else _version(python)
    return StartedPython(version, interpreter, script) if version else None


def _version(python: str) -> str:
    try:
        done = capture([os.path.abspath(python), "-I", "-S", "-c", _VERSION])
    except OSError:  # TimeoutError is one
        return ""
    return done.output if done.code == 0 and done.output[:1].isdigit() else ""


def _first_words(program: str) -> list[str]:
    """Return the words of a script's first line; none if it is no script."""
    try:
        line = read_regular(program, _LONGEST).partition(b"\n")[0]
    except OSError:
        return []
    return os.fsdecode(line[len(_SHEBANG) :]).split() if line.startswith(_SHEBANG) else []
