"""Functions of runs of several Pythons, samplers and environments."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.comparing.comparability import match_functions
from profkit.comparing.merged_runs import merge_runs
from profkit.comparing.sampled import compare_sampled
from profkit.model.notes import FindingCode, NoteCode
from profkit.model.profile import Frame, ProfileBuilder
from profkit.model.run import Run
from profkit.transforms.tables import function_rows
from tests.support.example_runs import APP, MAIN, PROCESS, REGION, made_run


def run_of(python: str, *stacks: tuple[tuple[Frame, ...], int], id: str = "a1") -> Run:
    builder = ProfileBuilder()
    for frames, weight in stacks:
        builder.add(frames, MAIN, weight)
    process = replace(PROCESS, python=python, pid=100 + len(python))
    run = made_run(id=id, process=process, samples=sum(weight for _, weight in stacks))
    return replace(run, profile=builder.build(period_ns=1e7))


def old_run(python: str = "3.11.7") -> Run:
    """The step as py-spy records it with Python 3.11."""
    step, comprehension = Frame("step", APP, 40), Frame("step.<locals>.<listcomp>", APP, 41)
    return run_of(
        python,
        ((step, comprehension), 60),
        ((step, comprehension, Frame("step.<locals>.<listcomp>.<lambda>", APP, 42)), 10),
        ((step, Frame("loads", "/opt/lib/python3.11/json/__init__.py", 346)), 20),
        ((step, Frame("walk", "/opt/lib/python3.11/os.py", 300)), 10),
    )  # fmt: skip


def new_run(python: str = "3.15.2") -> Run:
    step = Frame("step", APP, 41)
    shim = Frame("__init__", "__init__")
    return run_of(
        python,
        ((step,), 60),
        ((step, shim, Frame("step.<locals>.<lambda>", APP, 42)), 10),
        ((step, Frame("loads", "/usr/lib/python3.15/json/__init__.py", 370)), 20),
        ((step, Frame("walk", "<frozen os>", 320)), 10),
        id="b1",
    )


def test_the_same_program_with_two_pythons_has_the_same_functions() -> None:
    found = compare_sampled([old_run()], [new_run()])
    assert {function.name for function in found.functions} == {
        "step",
        "step.<locals>.<lambda>",
        "loads",
        "walk",
    }
    for function in found.functions:
        assert function.own.a.value == function.own.b.value, function.name
        assert function.total.a.value == function.total.b.value, function.name
    assert FindingCode.COMPREHENSIONS_INLINED in [note.code for note in found.notes]


def test_files_are_those_of_the_first_run() -> None:
    files = {function.name: function.file for function in compare_sampled([new_run()], [old_run()]).functions}
    assert (files["walk"], files["loads"]) == ("<frozen os>", "/usr/lib/python3.15/json/__init__.py")


def test_the_runs_keep_what_was_recorded() -> None:
    old, new = old_run(), new_run()
    before = old.profile, new.profile
    match_functions([old, new])
    assert (old.profile, new.profile) == before


@pytest.mark.parametrize(
    ("pythons", "inlined"),
    [
        (("3.11.7", "3.12.0"), True),
        (("3.10.2", "3.13.0rc1"), True),
        (("", "3.14.10"), True),  # an imported run, with comprehensions
        (("3.11.7", "3.11.9"), False),
        (("3.11.7", ""), False),
    ],
)
def test_comprehensions_are_inlined_between_versions_that_differ_in_them(
    pythons: tuple[str, str], inlined: bool
) -> None:
    matched = match_functions([old_run(pythons[0]), new_run(pythons[1])])
    assert matched.inlined is inlined
    names = {frame.name for frame in matched.profiles[0].frames}
    assert ("step.<locals>.<listcomp>" in names) is not inlined


def test_without_comprehensions_nothing_is_inlined() -> None:
    assert not match_functions([new_run("3.11.7"), new_run()]).inlined


def test_merged_runs_have_each_function_once() -> None:
    merged = merge_runs([new_run(), old_run()])
    assert merged.profile is not None
    totals = {row.name: row.total_weight for row in function_rows(merged.profile)}
    assert totals == {"step": 200, "step.<locals>.<lambda>": 20, "loads": 40, "walk": 20}
    assert [note.code for note in merged.info.notes] == [NoteCode.COMPREHENSIONS_INLINED]


def test_merged_runs_of_two_checkouts_have_each_function_once() -> None:
    one = new_run()
    assert one.profile is not None
    frames = tuple(
        frame._replace(file=frame.file.replace(APP, "/srv/train.py")) for frame in one.profile.frames
    )
    info = replace(
        one.info,
        id="c1",
        process=replace(one.info.process, cwd="/srv", host="node-09"),
        region=replace(REGION, file="/srv/train.py"),
    )
    merged = merge_runs([one, replace(one, info=info, profile=replace(one.profile, frames=frames))])
    assert merged.profile is not None
    totals = {(row.name, row.file): row.total_weight for row in function_rows(merged.profile)}
    assert totals["step", APP] == 200
    assert merged.info.notes == ()


def test_a_single_run_is_merged_as_it_was_recorded() -> None:
    merged = merge_runs([old_run()])
    assert merged.profile is not None
    assert "step.<locals>.<listcomp>" in {frame.name for frame in merged.profile.frames}
