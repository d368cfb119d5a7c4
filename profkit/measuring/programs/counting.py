"""Count a program's instructions under Callgrind, from its first to its last, in several executions.

They are counted by Python function in an execution of its own, with CPython's perf trampoline.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import CodeType

from profkit.comparing.instructions import repeats_agree
from profkit.errors import DamagedFile, MeasuringError
from profkit.formats.callgrind import parse_callgrind
from profkit.measuring.errors import NotCounted, no_temporary_folder, reporting_full_disk
from profkit.measuring.pool.command import by_function_options, callgrind, dump_prefix
from profkit.measuring.programs.executions import MOST_COUNTED, Executions, ProgramOrder, StartedPython
from profkit.measuring.runner.counting import too_old
from profkit.measuring.runner.progress import COUNTING, Progress
from profkit.measuring.worker.trampoline import map_path, named_stubs
from profkit.model.function_counts import PythonCounts
from profkit.model.measurement import CallgrindDump, InstructionCounts, MeasuredIn, Preload, Tool
from profkit.process.foreground import CommandNotStarted
from profkit.regular_files import open_regular, read_regular
from profkit.transforms.counts import add_dumps, strip_allocators, subtract_baseline
from profkit.transforms.python_counts import Stub, add_python_counts, python_counts_of_run

_LONG = 5_000_000_000
"""Instructions, one to two minutes under Valgrind, above which a program is counted only once by default."""
_SEED = {"PYTHONHASHSEED": "0"}
_CHILDREN = (
    "--trace-children=yes",
    # A forked child would count again what its parent has counted so far; a dump begins the counts anew.
    *(f"--dump-before={name}" for name in ("fork", "__libc_fork", "_Fork")),
)
_BINDING = {"LD_BIND_NOW": "1"}
"""Callgrind cannot skip the code that binds functions when they are called first."""
_WITH_CHILDREN = {"PYTHONPERFSUPPORT": "1"}
_WITH_LINES = 300
"""Number of functions, those with the most instructions, whose lines are looked up in their files."""
_LARGEST_BYTES = 2**22
"""Maximum size of a file that is compiled for its lines."""


def counted(executions: Executions, python: StartedPython | None, progress: Progress) -> InstructionCounts:
    """Count a program that starts a Python, if known; raises MeasuringError and CommandNotStarted."""
    order = executions.order
    dumps: list[CallgrindDump] = []
    # Callgrind counts the program that it starts, and not the `env` in the first line of a script.
    command = () if python is None else python.command(order.command, ())
    planned = order.counted
    progress.begin(planned, COUNTING)
    while len(dumps) < planned:
        _, by_pid = _count_once(executions, command)
        dumps.append(add_dumps(tuple(by_pid.values())))
        if order.processes is None and order.runs is None:
            before, planned = planned, _planned(dumps)
            progress.begin(planned - before, COUNTING)
        progress.done(order.label, COUNTING)
    place = MeasuredIn(Tool.VALGRIND, Preload.NOTHING, python.version if python else "")
    counts = subtract_baseline(dumps, (), 1, place)
    return replace(counts, processes=len(dumps))


def _planned(dumps: Sequence[CallgrindDump]) -> int:
    """Return how many executions are to be counted in all, given those so far."""
    if dumps[0].instructions > _LONG:
        return 1
    return max(len(dumps), 2) if repeats_agree([strip_allocators(dump) for dump in dumps]) else MOST_COUNTED


def _count_once(
    executions: Executions,
    command: tuple[str, ...],
    options: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    ended: Callable[[Collection[int]], None] = lambda _pids: None,
) -> tuple[int, dict[int, CallgrindDump]]:
    """Run a program once under Callgrind; return its pid, and the dumps of the counted processes by theirs.

    `command` may replace that of its order. `ended` is called with the pids of all processes that it ran,
    always. Raises MeasuringError and CommandNotStarted.
    """
    order = executions.order
    with reporting_full_disk(), _folder() as folder:
        children = _CHILDREN if order.subprocesses else ()
        under = [*callgrind(folder, order.simulate, "valgrind.%p"), *children, *options]
        seed = {} if "PYTHONHASHSEED" in order.environ else _SEED
        try:
            run = executions.execute(under, {**seed, **(variables or {})}, command)
        finally:
            ended({int(file.suffix[1:]) for file in folder.glob("valgrind.*")})
        return run.pid, _dumps(order, folder, run.pid)


def _dumps(order: ProgramOrder, folder: Path, main: int) -> dict[int, CallgrindDump]:
    """Return the dumps of the processes to count; a process that forked has several parts."""
    prefix = Path(dump_prefix(folder)).name
    parts: dict[int, list[Path]] = {}
    for file in sorted(folder.glob(f"{prefix}.*")):
        parts.setdefault(int(file.name.split(".")[1]), []).append(file)
    if main not in parts:
        raise NotCounted(order.label, "it was killed, or Valgrind failed")
    pids = sorted(parts) if order.subprocesses else [main]
    return {pid: add_dumps([_dump(order.label, file) for file in parts[pid]]) for pid in pids}


def _dump(label: str, file: Path) -> CallgrindDump:
    if not file.stat().st_size:
        raise NotCounted(label, "the command replaced itself by another program")
    try:
        return parse_callgrind(file.read_text("utf-8", "surrogateescape"), file)
    except DamagedFile as damage:
        raise NotCounted(label, damage.detail) from damage


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a new folder for Callgrind's files, and remove it."""
    try:
        made = tempfile.TemporaryDirectory(prefix="profkit-")
    except OSError as error:
        raise no_temporary_folder("Callgrind's files", error) from error
    with made as name:
        yield Path(name)


def with_python_functions(
    counts: InstructionCounts, executions: Executions, python: StartedPython | None
) -> InstructionCounts:
    """Return the counts with those by Python function, or with the reason why there are none.

    A failure here does not fail the order.
    """
    order = executions.order
    if not order.python_functions or order.runs is not None:
        return counts
    return replace(counts, python=_by_function(executions, python))


def _by_function(executions: Executions, python: StartedPython | None) -> PythonCounts:
    order = executions.order
    if python is None and not order.subprocesses:
        return PythonCounts(missing="it is not known which Python the command starts")
    if python is not None and (missing := too_old(python.version)):
        return missing
    command = () if python is None else python.command(order.command, ("-X", "perf"))
    # As a variable, it would also make children write maps, which are only removed if they are counted.
    variables = {**_BINDING, **(_WITH_CHILDREN if order.subprocesses else {})}
    stubs: dict[int, dict[int, Stub]] = {}

    def take_maps(pids: Collection[int]) -> None:
        stubs.update((pid, _taken(map_path(pid))) for pid in pids)

    try:
        main, dumps = _count_once(executions, command, by_function_options(), variables, take_maps)
    except (MeasuringError, CommandNotStarted) as error:
        return PythonCounts(missing=str(error).partition("\n")[0])
    # A forked process also runs code under the stubs of its parent.
    found = add_python_counts(
        [
            python_counts_of_run(dump, {**stubs.get(main, {}), **stubs.get(pid, {})}.values())
            for pid, dump in dumps.items()
        ]
    )
    if not found.functions:
        return PythonCounts(missing="no Python with a perf trampoline, such as 3.12, has run the program")
    return with_lines(found)


def _taken(path: str) -> dict[int, Stub]:
    """Read and remove a map, if this user has made it; return its stubs by address."""
    with suppress(OSError):
        descriptor = open_regular(path, os.O_NOFOLLOW)
        with open(descriptor, encoding="utf-8", errors="surrogateescape") as file:
            if os.fstat(descriptor).st_uid != os.geteuid():
                return {}
            os.unlink(path)
            return {
                address: Stub(address, name, source, 0) for address, name, source in named_stubs(file.read())
            }
    return {}


def with_lines(counts: PythonCounts) -> PythonCounts:
    """Return counts with the first lines of the functions that cost the most, from their files."""
    files = dict.fromkeys(row.file for row in counts.functions[:_WITH_LINES])
    lines = {(file, name): line for file in files for name, line in _lines_in(file).items()}
    rows = (replace(row, line=lines.get((row.file, row.name), 0)) for row in counts.functions)
    return replace(counts, functions=tuple(rows))


def _lines_in(file: str) -> dict[str, int]:
    """Return first lines by qualified name; none if the file cannot be read or compiled by this Python."""
    found: dict[str, int] = {}
    try:
        source = read_regular(file, _LARGEST_BYTES + 1)
        if len(source) > _LARGEST_BYTES:
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its syntax
            code = compile(source, file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    for one in _codes(code):
        found.setdefault(one.co_qualname, one.co_firstlineno)
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
