"""Files that cProfile and Callgrind write of programs that import much: reports show what the files state."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import call_graphs


@pytest.mark.parametrize("name", call_graphs.QUICK)
def test_times_are_those_that_pstats_prints(name: str, tmp_path: Path) -> None:
    path = call_graphs.statistics_of(call_graphs.PROGRAMS[name], tmp_path)
    compared = call_graphs.compare(call_graphs.stated_by_pstats(path), call_graphs.shown(path))
    assert compared.large > 50
    assert compared.differing == ()


@pytest.mark.full
@pytest.mark.valgrind
def test_instructions_are_those_that_callgrind_annotate_prints(tmp_path: Path) -> None:
    path = call_graphs.dump_of(call_graphs.PROGRAMS["json.tool"], tmp_path)
    stated = call_graphs.stated_by_annotate(path)
    compared = call_graphs.compare(stated, call_graphs.shown(path))
    assert compared.large > 50
    assert compared.differing == ()
    # Python runs itself again and again: such totals are more than the whole.
    assert max(cost.total for cost in stated.values()) > sum(cost.own for cost in stated.values())


@pytest.mark.parametrize(
    ("text", "name", "library"),
    [
        ("f(char [1]) [clone .isra.0] [/usr/lib/a b.so]", "f(char [1]) [clone .isra.0]", "/usr/lib/a b.so"),
        ("f(char [1]) [clone .isra.0]", "f(char [1]) [clone .isra.0]", ""),
        ("0x0000000004936718'2 [???]", "0x0000000004936718'2", "???"),
        ("main", "main", ""),
    ],
)
def test_names_of_cpp_have_brackets_of_their_own(text: str, name: str, library: str) -> None:
    assert call_graphs.split_annotated(text) == (name, library)
