"""Profiles of programs that import libraries, by cProfile and Callgrind: reports show what files state."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.mark import ParameterSet  # pytest does not export it

from benchmarks import call_graphs

pytestmark = [pytest.mark.neighbours, pytest.mark.full]


def programs(*others: str) -> list[ParameterSet]:
    """Return the names of programs except some; that of torch needs it."""
    marks = {"torch": [pytest.mark.torch]}
    names = sorted(call_graphs.PROGRAMS.keys() - set(others))
    return [pytest.param(name, marks=marks.get(name, [])) for name in names]


@pytest.mark.parametrize("name", programs(*call_graphs.QUICK))
def test_times_are_those_that_pstats_prints(name: str, tmp_path: Path) -> None:
    path = call_graphs.statistics_of(call_graphs.PROGRAMS[name], tmp_path)
    compared = call_graphs.compare(call_graphs.stated_by_pstats(path), call_graphs.shown(path))
    assert compared.large > 50
    assert compared.differing == ()


@pytest.mark.valgrind
@pytest.mark.parametrize("name", programs("json.tool"))
def test_instructions_are_those_that_callgrind_annotate_prints(name: str, tmp_path: Path) -> None:
    path = call_graphs.dump_of(call_graphs.PROGRAMS[name], tmp_path)
    compared = call_graphs.compare(call_graphs.stated_by_annotate(path), call_graphs.shown(path))
    assert compared.large > 50
    assert compared.differing == ()
