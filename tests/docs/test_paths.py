"""The paths of a first call and of a report in docs/architecture.md, as they are when they are traced."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.integration.harness import run_program

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text()

TRACER = """
import functools, importlib, inspect, json, sys

def code_of(step):
    path, _, name = step.partition(".")
    module = importlib.import_module(f"profkit.{path}".replace("/", "."))
    found = functools.reduce(getattr, name.split("."), module)
    return inspect.unwrap(getattr(found, "callback", found)).__code__

def traced(steps, work):
    by_code, calls = {code_of(step): step for step in steps}, []

    def note(frame, event, _):
        if event == "call" and frame.f_code in by_code:
            calls.append(by_code[frame.f_code])

    sys.setprofile(note)
    try:
        work()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    return calls

steps = json.loads(sys.argv[1])
"""
FIRST_CALL = """
import profkit

@profkit.profile(sampler="pyspy")
def work():
    return sum(range(5_000_000))

print(json.dumps(traced(steps, work)))
"""
REPORT = """
from profkit.cli.main import main

sys.argv = ["profkit", "report"]
calls = traced(steps, main)
print(json.dumps(calls))
"""


def path_of(title: str) -> list[str]:
    """Return the steps below a title."""
    block = re.search(rf"### {title}\n.*?```text\n(.*?)```", TEXT, re.DOTALL)
    assert block is not None, f"docs/architecture.md has no path below {title!r}"
    return [line.split()[0] for line in block[1].splitlines()]


def calls_of(program: str, steps: list[str], folder: Path) -> list[str]:
    """Return the calls of steps while a program runs, in their order."""
    command = ["-c", TRACER + program, json.dumps(steps)]
    return list(json.loads(run_program(folder, command, code=0).stdout.splitlines()[-1]))


@pytest.mark.sampler
def test_no_step_of_a_first_call_or_of_its_report_is_taken_twice(tmp_path: Path) -> None:
    for title, program in (("The path of a first call", FIRST_CALL), ("The path of a report", REPORT)):
        steps = path_of(title)
        assert calls_of(program, steps, tmp_path) == steps, title
