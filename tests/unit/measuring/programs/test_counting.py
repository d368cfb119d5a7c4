"""Instructions of a program by Python function: exact for known work; lines are those of the files."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.measuring.programs.counting import with_lines
from profkit.measuring.programs.executions import ProgramOrder
from profkit.measuring.programs.run import measure_program
from profkit.model.function_counts import PythonCounts, PythonFunctionCount
from profkit.model.workorder import Mode

HAS_TRAMPOLINE = sys.version_info >= (3, 12)
PROGRAM = """\
import os, sys


def alpha(count):
    total = 0
    for number in range(count):
        total += number
    return total


class Outer:
    def work(self):
        alpha(1000)


for _ in range(20):
    Outer().work()
if os.fork():
    os.wait()
else:
    alpha(2000)
"""


def counted(folder: Path, *, subprocesses: bool) -> PythonCounts:
    file = folder / "program.py"
    file.write_text(PROGRAM)
    command = (sys.executable, "-I", "-S", str(file))
    order = ProgramOrder(
        "program", command, command, dict(os.environ), Mode.CALLGRIND, processes=1, warmups=0,
        subprocesses=subprocesses,
    )  # fmt: skip
    measured = measure_program(order).measurement
    assert measured is not None
    assert measured.instructions is not None
    assert measured.instructions.python is not None
    return measured.instructions.python


def test_lines_are_those_of_the_files(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    names = ("alpha", "Outer.work", "gone")
    rows = tuple(PythonFunctionCount(name, str(file), 0, 9.0, 9.0, 1) for name in names)
    found = with_lines(PythonCounts((*rows, replace(rows[0], file="<frozen x>"))))
    assert [row.line for row in found.functions] == [4, 12, 0, 0]


@pytest.mark.parametrize("text", ["def broken(:", "x = '\0'", None])
def test_files_that_cannot_be_compiled_have_no_lines(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "program.py"
    if text is not None:
        file.write_text(text)
    found = with_lines(PythonCounts((PythonFunctionCount("alpha", str(file), 0, 9.0, 9.0, 1),)))
    assert [row.line for row in found.functions] == [0]


@pytest.mark.valgrind
@pytest.mark.gil
@pytest.mark.parametrize("subprocesses", [False, pytest.param(True, marks=pytest.mark.full)])
def test_known_work_is_attributed_exactly(tmp_path: Path, subprocesses: bool) -> None:
    before = set(Path("/tmp").glob("perf-*.map"))
    python = counted(tmp_path, subprocesses=subprocesses)
    if not HAS_TRAMPOLINE:
        assert python.missing == "this needs Python 3.12 or later"
        return
    found = {row.name: row for row in python.functions}
    assert (found["alpha"].calls, found["alpha"].line) == (21 if subprocesses else 20, 4)
    assert (found["Outer.work"].calls, found["Outer.work"].line) == (20, 12)
    assert found["Outer.work"].inclusive > 20 * 1000 * 5
    assert found["Outer.work"].exclusive < 0.1 * found["Outer.work"].inclusive
    assert set(Path("/tmp").glob("perf-*.map")) - before == set()
