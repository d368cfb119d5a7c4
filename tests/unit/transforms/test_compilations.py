"""Runs of a compiler's phases as frames by phases, and as the passes that took their time."""

from __future__ import annotations

import pytest

from profkit.transforms.compilations import IMPORTS, OTHER, stage_of, sum_up
from tests.support.example_compilations import AOT, BUILD, LOWER, STEP, compiled_runs
from tests.support.example_runs import TORCH, made_run


def test_frames_have_their_phases_in_order() -> None:
    found = sum_up(compiled_runs())
    assert [(frame.id, frame.function, [phase.name for phase in frame.phases]) for frame in found.frames] == [
        ("0/0", "step", ["compile_inner", "backward"]),
        ("", "Net", ["export"]),
        ("", "Net.forward", ["compile_inner"]),
        ("1/0", "other", ["compile_inner"]),
    ]
    assert [frame.total_s for frame in found.frames] == pytest.approx([1.3, 0.3, 0.2, 0.1])
    assert [phase.is_inside for phase in found.frames[2].phases] == [True]


def test_what_ran_inside_another_phase_counts_once() -> None:
    found = sum_up(compiled_runs())
    assert found.total_s == pytest.approx(1.7)
    assert found.weight == 170
    alone = sum_up([run for run in compiled_runs() if run.info.label == "Net.forward compile_inner"])
    assert alone.total_s == pytest.approx(0.2)
    assert not alone.frames[0].phases[0].is_inside  # the phase that it ran in has no run here


def test_each_sample_belongs_to_one_stage() -> None:
    found = sum_up(compiled_runs())
    assert {stage.name: stage.weight for stage in found.stages} == {
        "inductor": 70, "dynamo": 50, IMPORTS: 25, "export": 10, OTHER: 10, "aot": 5,
    }  # fmt: skip
    assert sum(stage.weight for stage in found.stages) == found.weight


def test_passes_have_what_they_call_outside_of_the_compiler() -> None:
    passes = {row.name: row for row in sum_up(compiled_runs()).passes}
    step = passes[STEP.name]
    assert (step.stage, step.own, step.total, step.line) == ("dynamo", 50, 50, 1300)
    assert (passes[BUILD.name].own, passes[LOWER.name].own, passes[LOWER.name].total) == (40, 30, 70)
    assert (passes[AOT.name].own, passes[AOT.name].total) == (30, 70)  # its imports are its own
    assert sum(row.own for row in passes.values()) == 160  # all but those of the user's backend
    assert [row.own for row in sum_up(compiled_runs()).passes] == [50, 40, 30, 30, 10, 0, 0]


@pytest.mark.parametrize(
    ("file", "stage"),
    [
        (f"{TORCH}/_dynamo/guards.py", "dynamo"),
        ("/home/me/pytorch/torch/_functorch/partitioners.py", "aot"),
        (f"{TORCH}/_inductor/fx_passes/joint_graph.py", "inductor"),
        (f"{TORCH}/_export/utils.py", "export"),
        (f"{TORCH}/fx/graph.py", None),
        ("/home/me/my_torch/_dynamo/x.py", None),
        ("", None),
    ],
)
def test_stages_are_folders(file: str, stage: str | None) -> None:
    assert stage_of(file) == stage


def test_other_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="not of a compilation"):
        sum_up([made_run()])
    with pytest.raises(ValueError, match="no compilations"):
        sum_up([])
