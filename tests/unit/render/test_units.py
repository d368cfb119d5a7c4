"""Reports of weights that are no samples say what they count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.model.run import Imported, Run
from profkit.render.formatting import amount
from profkit.render.options import Terminal
from profkit.render.registry import LISTED_RUNS, SAMPLED
from profkit.units import Unit
from tests.support.example_runs import INFO, made_run

WEIGHT = 3 * 2**30


def run_of(unit: Unit) -> Run:
    builder = ProfileBuilder()
    builder.add((Frame("main", "/app/a.py", 3), Frame("leaf", "/app/a.py", 9)), Thread(7, 7, "one"), WEIGHT)
    builder.add((Frame("main", "/app/a.py", 3),), Thread(7, 8, "two"), 2**30)
    source = Imported("collapsed", "", "x.txt", unit, 2**32)
    return Run(replace(INFO, samples=0, imported=source), builder.build(unit=unit, ordered=False))


@pytest.mark.parametrize(
    ("unit", "heads", "total", "own"),
    [
        (Unit.NANOSECONDS, ["self", "time", "total", "time"], "4.29 s", "3.22 s"),
        (Unit.INSTRUCTIONS, ["self", "instructions", "total"], "4,294,967,296 instructions", "3,221,225,472"),
        (Unit.BYTES, ["self", "bytes", "total"], "4.00 GiB", "3.00 GiB"),
    ],
)
def test_columns_and_totals(unit: Unit, heads: list[str], total: str, own: str) -> None:
    run = run_of(unit)
    text = SAMPLED.text([run], terminal=Terminal(120))
    functions = text.partition("Hottest functions")[2].splitlines()
    assert functions[1].split()[: len(heads)] == heads
    assert own in functions[2]
    assert own in text.partition("Threads")[2]
    assert f"total  {total}" in text
    assert amount(2**32, unit) == total
    assert total in LISTED_RUNS.text([run.info], terminal=Terminal(width=80))
    assert "±" not in text
    word = "time" if unit is Unit.NANOSECONDS else unit.value
    assert f"by self {word}" in text
    assert f"By self {word}" in SAMPLED.markdown([run])


@pytest.mark.parametrize(("file", "folded"), [("/app/a.py", True), ("/app/main.c", False)])
def test_machine_code_is_folded_beside_python_alone(file: str, folded: bool) -> None:
    run = run_of(Unit.INSTRUCTIONS)
    frames = (Frame("main", file, 3), Frame("sort", "/libc/sort.c"), Frame("less", "/app/less.c"))
    profile = replace(run.profile or Profile(), frames=frames, stacks=((0, 1, 2, 0), (0,)))
    tree = (
        SAMPLED.text([Run(run.info, profile)], terminal=Terminal(120))
        .partition("Call tree")[2]
        .partition("Threads")[0]
    )
    assert ("less" in tree.partition("Hottest")[0]) is not folded


def test_lists_of_runs_from_here_and_elsewhere() -> None:
    lines = LISTED_RUNS.text([made_run().info, run_of(Unit.BYTES).info], terminal=Terminal()).splitlines()
    assert lines[0].split()[-3:] == ["total", "state", "where"]
    assert "2.97 s" in lines[1]
    assert "4.00 GiB" in lines[2]
    assert "x.txt (collapsed)" in lines[2]
