"""Instructions by Python function: exact for known work, and a planted change is named."""

from __future__ import annotations

import ast
import os
import random
import sys
import tomllib
from pathlib import Path

import pytest

from profkit import measure
from profkit.comparing.instructions import compare_counts
from profkit.measuring.orders import MeasureOptions
from profkit.model.function_counts import STATEMENT, PythonCounts
from profkit.model.measurement import Measurement

HAS_TRAMPOLINE = sys.version_info >= (3, 12)
WITHOUT_INIT = sys.version_info[:2] == (3, 13)
"""CPython 3.13 enters the `__init__` of a class that it calls without a stub."""
pytestmark = [pytest.mark.valgrind, pytest.mark.gil]
MODULE = """
import os

def alpha(count):
    total = 0
    for number in range(count):
        total += number
    return total

def negated(number):
    return -number

def beta(count):
    alpha(count)
    return sorted(range(count), key=negated)

def factorial(number):
    return 1 if number < 2 else number * factorial(number - 1)

class Row:
    def __init__(self, number):
        self.number = number

    def __lt__(self, other):
        return self.number < other.number

def rows():
    return max(Row(3), Row(4))

def forking():
    pid = os.fork()
    if pid == 0:
        alpha(10)
        os._exit(0)
    os.waitpid(pid, 0)
"""


def measured(folder: Path, stmt: str, module: str, **options: object) -> Measurement:
    given: MeasureOptions = {
        "mode": "callgrind",
        "keep": False,
        "global_setup": f"import sys\nsys.path.insert(0, {str(folder)!r})\nfrom {module} import *",
    }
    return measure(stmt, **{**given, **options})  # type: ignore[arg-type]


def python_of(measurement: Measurement) -> PythonCounts:
    assert measurement.instructions is not None
    assert measurement.instructions.python is not None
    return measurement.instructions.python


@pytest.fixture
def known(tmp_path: Path) -> Path:
    (tmp_path / "known.py").write_text(MODULE, "utf-8")
    return tmp_path


@pytest.mark.slow
def test_known_work(known: Path) -> None:
    python = python_of(measured(known, "beta(100); factorial(20); rows()", "known"))
    if not HAS_TRAMPOLINE:
        assert python == PythonCounts(missing="this needs Python 3.12 or later")
        return
    assert python.missing == ""
    rows = {row.name: row for row in python.functions}
    calls = {name: row.calls for name, row in rows.items()}
    made = {} if WITHOUT_INIT else {"Row.__init__": 2}
    assert calls == {
        "alpha": 1, "beta": 1, "negated": 100, "factorial": 20, "rows": 1, "Row.__lt__": 1,
        STATEMENT: 0, **made,
    }  # fmt: skip
    assert {row.file for row in python.functions} == {str(known / "known.py"), ""}
    lines = {
        line.split("(")[0].split()[1]: at for at, line in enumerate(MODULE.split("\n"), 1) if "def " in line
    }
    assert all(row.line == lines[name.rpartition(".")[2]] for name, row in rows.items() if row.file)
    assert sum(row.exclusive for row in python.functions) == pytest.approx(python.net)
    assert python.elsewhere == 0
    inside = sum(rows[name].inclusive for name in ("alpha", "negated"))
    assert rows["beta"].exclusive + inside == pytest.approx(rows["beta"].inclusive)
    assert rows["factorial"].exclusive == rows["factorial"].inclusive
    assert rows["rows"].inclusive < rows["beta"].inclusive < rows[STATEMENT].inclusive
    assert {(call.caller.rpartition(":")[2], call.callee.rpartition(":")[2]) for call in python.calls} >= {
        ("beta", "alpha"), ("beta", "negated"), ("factorial", "factorial"), ("rows", "Row.__lt__"),
    }  # fmt: skip


@pytest.mark.slow
def test_they_grow_as_counts_without_the_trampoline_do(known: Path) -> None:
    sides = [measured(known, f"alpha({n})", "known") for n in (2000, 4000)]
    whole = [side.instructions.net for side in sides if side.instructions is not None]
    of_alpha = [[row.exclusive for row in python_of(side).functions if row.name == "alpha"] for side in sides]
    assert [len(found) for found in of_alpha] == [HAS_TRAMPOLINE] * 2
    for before, after in zip(*of_alpha, strict=True):
        assert after / before == pytest.approx(whole[1] / whole[0], rel=0.005)


@pytest.mark.slow
def test_forks_and_failures_leave_no_map(known: Path) -> None:
    before = {name for name in os.listdir("/tmp") if name.startswith("perf-")}
    python_of(measured(known, "forking()", "known"))
    python = python_of(measured(known, "alpha(3)", "known", python_functions=True))
    assert bool(python.functions) is HAS_TRAMPOLINE
    assert {name for name in os.listdir("/tmp") if name.startswith("perf-")} <= before


DOCUMENT = r'''
title = "a \u00e9 b\tc"
literal = 'C:\path'
multi = """one \
   two"""
raw = \'\'\'x\'\'\'
numbers = [1, 2.5, 0x1f, -7, true]
when = 1979-05-27T07:32:00Z
day = 1979-05-27
time = 07:32:00
inline = { a = 1, "b.c" = { d = [ ] } }
[table.sub]  # a comment
key.dotted = 3
[[list]]
x = 1
[[list]]
x = 2
'''.replace("\\'", "'")
PLANTED = "sum(range(60))"


def planted(folder: Path, number: int, function: str | None) -> Path:
    """A copy of tomllib in which a function does some more work; files of each number have their own size."""
    source = Path(tomllib.__file__).parent
    package = folder / "planted_toml"
    package.mkdir(exist_ok=True)
    for path in source.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        for node, name in functions_of(tree, ""):
            if name == function:
                node.body.insert(0, ast.parse(PLANTED).body[0])
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n" * number
        (package / path.name).write_text(text, "utf-8")
    entry = f"import planted_toml\nTEXT = {DOCUMENT!r}\ndef parse():\n    return planted_toml.loads(TEXT)\n"
    (folder / "entry.py").write_text(entry, "utf-8")
    return folder


def definitions() -> set[str]:
    """The functions of tomllib in which something can be planted."""
    trees = (ast.parse(path.read_text("utf-8")) for path in Path(tomllib.__file__).parent.glob("*.py"))
    return {name for tree in trees for _, name in functions_of(tree, "")}


def functions_of(tree: ast.AST, inside: str) -> list[tuple[ast.FunctionDef, str]]:
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            found += [(node, inside + node.name), *functions_of(node, f"{inside}{node.name}.<locals>.")]
        elif isinstance(node, ast.ClassDef):
            found += functions_of(node, f"{inside}{node.name}.")
        else:
            found += functions_of(node, inside)
    return found


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.full)])
def test_a_planted_change_is_named_first(tmp_path: Path, times: int) -> None:
    before = measured(planted(tmp_path, 0, None), "parse()", "entry")
    if not HAS_TRAMPOLINE:
        assert python_of(before).functions == ()
        return
    counted = {row.name for row in python_of(before).functions if "planted_toml" in row.file}
    names = sorted(counted & definitions())
    assert len(names) >= 30
    chosen = random.Random(13).sample(names, times)
    first = []
    for number, name in enumerate(chosen, 1):
        after = measured(planted(tmp_path, number, name), "parse()", "entry")
        assert before.instructions is not None
        assert after.instructions is not None
        (named, *_) = compare_counts([before.instructions], [after.instructions]).python
        first.append(named.name)
    assert first == chosen
