"""Counts of a real statement depend neither on how often it was executed nor on the heap's state."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.model.measurement import InstructionCounts, MeasuredIn, Preload, Tool
from profkit.transforms.counts import CYCLES, subtract_baseline
from tests.integration.callgrind_programs import HEAP, compiled, dumps_of
from tests.support.callgrind_files import read_callgrind

pytestmark = pytest.mark.valgrind

PLACE = MeasuredIn(Tool.VALGRIND, Preload.NOTHING, "none")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Bound when it is loaded: otherwise the first execution looks every function up.
    return compiled(HEAP, tmp_path_factory.mktemp("heap") / "heap.c", "-O1", "-Wl,-z,now")


def counted(program: Path, folder: Path, seed: int, number: int, *options: str) -> InstructionCounts:
    dumps = []
    for words in (["statement"], ["loop", "empty"]):
        (place := folder / f"{words[0]}-{seed}-{number}").mkdir()
        command = [program, str(seed), str(number), *words[1:]]
        dumps.append(read_callgrind(dumps_of(command, place, "--toggle-collect=loop", *options)[0]))
    return subtract_baseline(dumps[:1], dumps[1:], number, PLACE)


def test_heaps_differ_but_not_what_is_executed_besides_allocating(program: Path, tmp_path: Path) -> None:
    counts = [counted(program, tmp_path, seed, number=7) for seed in range(4)]
    assert len({count.net for count in counts}) > 1
    assert len({count.stripped for count in counts}) == 1
    for count in counts:
        assert 0 < count.stripped < count.net < count.raw[0] / 7
        assert sum(row.exclusive for row in count.functions) == pytest.approx(count.net)


def test_an_execution_costs_the_same_however_many_there_are(program: Path, tmp_path: Path) -> None:
    few, many = (counted(program, tmp_path, 1, number) for number in (5, 500))
    assert few.stripped == many.stripped
    [statement] = [row for row in many.functions if row.name.endswith(":statement")]
    assert statement.calls == 1
    assert [call.calls for call in many.calls if call.callee == statement.name] == [1]


def test_simulated_caches_and_branches(program: Path, tmp_path: Path) -> None:
    counts = counted(program, tmp_path, 1, 50, "--cache-sim=yes", "--branch-sim=yes")
    events = dict(counts.events)
    assert events["Dw"] > 0
    assert events[CYCLES] >= counts.net
