"""Profiles of programs that import libraries, by cProfile and Callgrind: reports show what files state."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import call_graphs

pytestmark = [pytest.mark.neighbours, pytest.mark.full]


@pytest.mark.parametrize("name", sorted(call_graphs.PROGRAMS.keys() - set(call_graphs.QUICK)))
def test_times_are_those_that_pstats_prints(name: str, tmp_path: Path) -> None:
    path = call_graphs.statistics_of(call_graphs.PROGRAMS[name], tmp_path)
    compared = call_graphs.compare(call_graphs.stated_by_pstats(path), call_graphs.shown(path))
    assert compared.large > 50
    assert compared.differing == ()


@pytest.mark.valgrind
@pytest.mark.parametrize("name", sorted(call_graphs.PROGRAMS.keys() - {"json.tool"}))
def test_instructions_are_those_that_callgrind_annotate_prints(name: str, tmp_path: Path) -> None:
    path = call_graphs.dump_of(call_graphs.PROGRAMS[name], tmp_path)
    compared = call_graphs.compare(call_graphs.stated_by_annotate(path), call_graphs.shown(path))
    assert compared.large > 50
    assert compared.differing == ()
