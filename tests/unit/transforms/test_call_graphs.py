from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.function_counts import (
    STATEMENT,
    CallCount,
    FunctionCount,
    PythonCounts,
    PythonFunctionCount,
)
from profkit.model.profile import Frame, Profile
from profkit.transforms.call_graphs import unfold, unfold_functions, unfold_python
from profkit.transforms.tables import function_rows
from profkit.units import Unit
from tests.support.documents import named_samples

Graph = tuple[dict[Frame, int], dict[tuple[Frame, Frame], float]]


def f(name: str) -> Frame:
    return Frame(name, "a.py", 1)


def own_of(profile: Profile) -> dict[Frame, int]:
    found: Counter[Frame] = Counter()
    for sample in profile.samples:
        found[profile.frames[profile.stacks[sample.stack][-1]]] += sample.weight
    return dict(found)


def graph_of(stacks: dict[tuple[str, ...], int]) -> Graph:
    """Own and inclusive costs as a tracing profiler adds them up; a call within a call counts once."""
    own: Counter[Frame] = Counter()
    calls: Counter[tuple[Frame, Frame]] = Counter()
    for stack, weight in stacks.items():
        frames = [f(name) for name in stack]
        own[frames[-1]] += weight
        calls.update(dict.fromkeys(set(pairwise(frames)), weight))
    return dict(own), {ends: float(cost) for ends, cost in calls.items()}


WEIGHTS = st.integers(1, 10**6)
LETTERS = st.sampled_from("abcdefg")
# Names that rise along a stack cannot call in circles.
RISING = st.sets(LETTERS, min_size=1).map(lambda letters: tuple(sorted(letters)))
ACYCLIC = st.dictionaries(RISING, WEIGHTS, min_size=1, max_size=12)
FUNCTIONS = LETTERS.map(f)
STACKS = st.dictionaries(
    st.lists(LETTERS, min_size=1, max_size=8).map(tuple), WEIGHTS, min_size=1, max_size=12
)
MADE_UP = st.tuples(
    st.dictionaries(FUNCTIONS, st.integers(0, 10**12), max_size=5),
    st.dictionaries(st.tuples(FUNCTIONS, FUNCTIONS), st.floats(0, 1e12)),
)


@given(MADE_UP | STACKS.map(graph_of))
def test_every_functions_own_weight_is_kept_whatever_the_calls_say(graph: Graph) -> None:
    own, calls = graph
    profile = unfold(own, calls, Unit.INSTRUCTIONS)
    assert own_of(profile) == {function: weight for function, weight in own.items() if weight}
    assert profile.total_weight == sum(own.values())
    assert all(len(set(stack)) == len(stack) for stack in profile.stacks)
    assert unfold(own, calls, Unit.INSTRUCTIONS) == profile


@given(ACYCLIC)
def test_totals_of_functions_are_kept_without_circles(stacks: dict[tuple[str, ...], int]) -> None:
    profile = unfold(*graph_of(stacks), Unit.NANOSECONDS)
    true = {name: sum(w for stack, w in stacks.items() if name in stack) for name in "abcdefg"}
    # Own weights are whole numbers on each path, and a path below a 100,000th is given up.
    slack = 200 + sum(stacks.values()) * 2e-3
    for row in function_rows(profile):
        assert row.total_weight == pytest.approx(true[row.name], abs=slack)


@given(
    st.dictionaries(st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map(tuple), WEIGHTS, max_size=8)
)
def test_a_tree_comes_back_as_it_was(stacks: dict[tuple[str, ...], int]) -> None:
    # Each path has functions of its own.
    paths = {tuple("".join(stack[: n + 1]) for n in range(len(stack))): w for stack, w in stacks.items()}
    assert dict(named_samples(unfold(*graph_of(paths), Unit.NANOSECONDS))) == {
        " ".join(p): w for p, w in paths.items()
    }


def test_paths_of_a_ladder_stay_few() -> None:
    """Each step is called by both of the step before: there are 2**40 paths."""
    own, calls = {}, {}
    for step in range(40):
        for side in "lr":
            own[f(f"{side}{step}")] = 1000
            for other in "lr":
                if step < 39:
                    calls[f(f"{side}{step}"), f(f"{other}{step + 1}")] = 1000.0 * (39 - step) / 2
    profile = unfold(own, calls, Unit.INSTRUCTIONS)
    assert own_of(profile) == own
    assert len(profile.stacks) <= 20_080


def test_inlined_code_is_below_the_function_that_it_is_in() -> None:
    functions = [
        FunctionCount("a.c:main", 10, 100, object="prog"),
        FunctionCount("a.c:run", 20, 90, 1, "prog"),
        FunctionCount("c.c:run", 5, 0, 0, "lib.so"),
        FunctionCount("b.h:run", 30, 70),
        FunctionCount("a.c:leaf", 40, 40, 1, "prog"),
    ]
    calls = [CallCount("a.c:main", "a.c:run", 1, 90), CallCount("b.h:run", "a.c:leaf", 1, 40)]
    profile = unfold_functions(functions, calls)
    assert dict(named_samples(profile)) == {
        "main": 10,
        "main run": 20,
        "main run run": 30,
        "main run run leaf": 40,
        "run": 5,
    }


def test_totals_are_those_that_callgrind_counted() -> None:
    functions = [
        FunctionCount("a.c:main", 10, 100), FunctionCount("a.c:f", 50, 180.4, 2),
        FunctionCount("a.c:g", 40, 90.5, 1), FunctionCount("a.c:gone", 0, -3, -1),
    ]  # fmt: skip
    calls = [
        CallCount("a.c:main", "a.c:f", 1, 90), CallCount("a.c:f", "a.c:g", 1, 90.5),
        CallCount("a.c:g", "a.c:f", 1, 90.4),
    ]  # fmt: skip
    profile = unfold_functions(functions, calls)
    named = zip(profile.frames, profile.totals, strict=True)
    assert {frame.name: total for frame, total in named} == {"main": 100, "f": 180, "g": 90, "gone": 0}
    assert {row.name: row.total_weight for row in function_rows(profile)} == {"main": 100, "f": 180, "g": 90}


def test_totals_are_never_less_than_what_a_function_costs_itself() -> None:
    profile = unfold({f("a"): 7, f("b"): 0}, {}, Unit.INSTRUCTIONS, totals={f("a"): 3, f("b"): -5})
    assert [(row.name, row.self_weight, row.total_weight) for row in function_rows(profile)] == [("a", 7, 7)]


def test_instructions_by_name() -> None:
    functions = [
        FunctionCount("a.c:main", 10.4, 100), FunctionCount("???:0x4c", 80, 80, 1, "/lib/libc.so"),
        FunctionCount("b.cpp:ns::run(int)", 9.6, 9.6),
    ]  # fmt: skip
    calls = [CallCount("a.c:main", "???:0x4c", 1, 80), CallCount("a.c:main", "b.cpp:ns::run(int)", 3, 9.6)]
    profile = unfold_functions(functions, calls)
    assert profile.unit is Unit.INSTRUCTIONS
    assert dict(named_samples(profile)) == {"main": 10, "main 0x4c": 80, "main ns::run(int)": 10}
    assert {(frame.name, frame.file) for frame in profile.frames} == {
        ("main", "a.c"), ("0x4c", "/lib/libc.so"), ("ns::run(int)", "b.cpp"),
    }  # fmt: skip


def test_python_functions_become_stacks_with_lines() -> None:
    functions = (
        PythonFunctionCount("work", "app.py", 3, 40.0, 100.0, 1),
        PythonFunctionCount("parse", "app.py", 9, 60.4, 60.4, 5),
        PythonFunctionCount(STATEMENT, "", 0, 2.0, 102.0, 0),
    )
    calls = (
        CallCount(":<statement>", "app.py:work", 1, 100.0),
        CallCount("app.py:work", "app.py:parse", 5, 60.4),
    )
    profile = unfold_python(PythonCounts(functions, calls, net=102.4))
    named = {
        tuple(profile.frames[frame].name for frame in profile.stacks[sample.stack]): sample.weight
        for sample in profile.samples
    }
    assert named == {
        (STATEMENT,): 2, (STATEMENT, "work"): 40, (STATEMENT, "work", "parse"): 60,
    }  # fmt: skip
    assert {(frame.name, frame.line) for frame in profile.frames} == {
        ("work", 3),
        ("parse", 9),
        (STATEMENT, 0),
    }


@given(st.lists(st.floats(0, 1e6), max_size=20))
def test_whole_instructions_add_up_to_the_rounded_total(weights: list[float]) -> None:
    functions = [FunctionCount(f"a.py:f{n}", weight, weight) for n, weight in enumerate(weights)]
    profile = unfold_functions(functions, ())
    assert profile.total_weight == math.floor(math.fsum(weights) + 0.5)
