"""Count a program's instructions by Python function, in a run of its own with CPython's perf trampoline."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import CodeType

from profkit.errors import MeasuringError
from profkit.measuring.pool.command import by_function_options
from profkit.measuring.programs.counting import Tooling, count_once
from profkit.measuring.programs.executions import Executions
from profkit.measuring.programs.interpreter import StartedPython
from profkit.measuring.runner.attribution import too_old
from profkit.measuring.worker.trampoline import map_path, named_stubs
from profkit.model.function_counts import PythonCounts, PythonFunctionCount
from profkit.model.measurement import InstructionCounts
from profkit.process.foreground import CommandNotStarted
from profkit.regular_files import open_regular, read_regular
from profkit.transforms.python_counts import Stub, add_python_counts, python_counts_of_run

_BINDING = {"LD_BIND_NOW": "1"}
"""Callgrind cannot skip the code that binds functions when they are called first."""
_WITH_CHILDREN = {"PYTHONPERFSUPPORT": "1"}
_OPTION = ("-X", "perf")
_WITH_LINES = 300
"""Number of functions, those with the most instructions, whose lines are looked up in their files."""
_LARGEST_BYTES = 2**22
"""Maximum size of a file that is compiled for its lines."""


def with_python_functions(
    counts: InstructionCounts, executions: Executions, python: StartedPython | None
) -> InstructionCounts:
    """Return the counts with those by Python function, or with the reason why there are none.

    A failure here does not fail the order.
    """
    order = executions.order
    if not order.python_functions or order.runs is not None:
        return counts
    return replace(counts, python=_counts(python, executions))


def _counts(python: StartedPython | None, executions: Executions) -> PythonCounts:
    has_children = executions.order.subprocesses
    if python is None and not has_children:
        return PythonCounts(missing="it is not known which Python the command starts")
    if python is not None and (missing := too_old(python.version)):
        return missing
    tool = Tooling(
        by_function_options(),
        # As a variable, it would also make children write maps, which are only removed if they are counted.
        {**_BINDING, **(_WITH_CHILDREN if has_children else {})},
        () if python is None else python.command(executions.order.command, _OPTION),
    )
    maps = _Maps()
    try:
        run = count_once(executions, tool, maps.take)
    except (MeasuringError, CommandNotStarted) as error:
        return PythonCounts(missing=str(error).partition("\n")[0])
    found = add_python_counts(
        [python_counts_of_run(dump, maps.stubs(pid, run.main)) for pid, dump in run.dumps.items()]
    )
    if not found.functions:
        return PythonCounts(missing="no Python with a perf trampoline, such as 3.12, has run the program")
    return with_lines(found)


class _Maps:
    """Maps of processes that have ended, which are removed from the folder for temporary files."""

    def __init__(self) -> None:
        self._stubs: dict[int, dict[int, Stub]] = {}

    def take(self, pids: Iterable[int]) -> None:
        """Read and remove the maps of processes."""
        self._stubs |= {pid: _taken(map_path(pid)) for pid in pids}

    def stubs(self, pid: int, parent: int) -> Iterable[Stub]:
        """Return the stubs of a process; one that was forked also runs code under those of its parent."""
        return {**self._stubs.get(parent, {}), **self._stubs.get(pid, {})}.values()


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
    return replace(counts, functions=tuple(replace(row, line=_line(row, lines)) for row in counts.functions))


def _line(row: PythonFunctionCount, lines: Mapping[tuple[str, str], int]) -> int:
    return lines.get((row.file, row.name), 0)


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
    for constant in _code_constants(code.co_consts):
        yield from _codes(constant)


def _code_constants(constants: Sequence[object]) -> Iterable[CodeType]:
    return (constant for constant in constants if isinstance(constant, CodeType))
