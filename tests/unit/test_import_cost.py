"""What importing profkit loads: every program that is profiled pays for it."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import pytest

HEAVY = {"torch", "numpy", "psycopg", "rich", "click"}
STATEMENTS = [
    "import profkit",
    "from profkit import profile, profiled",
    "from profkit import FunctionProfiler",
]
LISTING = """
import json, sys
before = set(sys.modules)
{statement}
print(json.dumps(list(set(sys.modules) - before)))
"""


@cache
def loaded(statement: str) -> frozenset[str]:
    """The modules that a statement adds to those of a bare interpreter."""
    code = LISTING.format(statement=statement)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return frozenset(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("statement", STATEMENTS)
def test_nothing_heavy(statement: str) -> None:
    assert not HEAVY & loaded(statement)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_nothing_that_a_first_call_can_load(statement: str) -> None:
    later = {"psutil", "profkit.session.manager", "profkit.ingest", "profkit.store", "profkit.samplers.pyspy"}
    assert not later & loaded(statement)


def test_a_profiled_process_makes_no_sentences() -> None:
    modules = loaded("import profkit.session.manager, profkit.session.results, profkit.ingest.read")
    assert "profkit.model.notes" in modules
    assert not [name for name in modules if name.startswith("profkit.render")]


def test_the_package_alone_brings_no_other() -> None:
    modules = loaded("import profkit")
    assert not {"wrapt", "logging", "subprocess", "asyncio"} & modules
    assert sum(name.startswith("profkit") for name in modules) <= 3


@pytest.mark.parametrize("statement", STATEMENTS)
def test_hardly_more_modules_than_wrapt_and_psutil(statement: str) -> None:
    assert len(loaded(statement)) <= 1.5 * len(loaded("import wrapt, psutil"))


def test_deciding_what_is_profiled_loads_no_more() -> None:
    code = "from profkit import profile, profiled\n@profile(label='f')\ndef f(): pass\nprofiled('label')"
    assert loaded(code) == loaded("from profkit import profile, profiled")


def test_the_command_line_asks_for_no_database() -> None:
    assert not {"psycopg", "torch", "numpy"} & loaded("import profkit.cli.main")


@pytest.mark.parametrize("arguments", [["list"], ["report", "none"], ["report", "--help"]])
def test_a_command_loads_neither_the_others_nor_what_measures(arguments: list[str]) -> None:
    modules = loaded(f"from profkit.cli.main import main; main({arguments})")
    assert f"profkit.cli.commands.{arguments[0]}" in modules
    assert not {"profkit.cli.commands.compare", "profkit.measuring", "profkit.comparing", "ctypes"} & modules


def test_isolated_calls_are_loaded_when_they_are_used() -> None:
    program = """
import sys, profkit
from profkit import profile, measure
names = [name for name in sys.modules if name.startswith("profkit.isolated")]
assert not names, names
assert profkit.isolated.call.__name__ == "call"
assert "isolated" in dir(profkit)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_zygote_starts_without_what_only_plain_calls_need() -> None:
    worker = "profkit.measuring.worker"
    modules = loaded(f"import {worker}.zygote")
    assert f"{worker}.child" in modules
    assert not {f"{worker}.calling", f"{worker}.unpack", "cloudpickle"} & modules
