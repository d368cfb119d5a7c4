"""Made profiles have exactly what was asked for, every time, and look like programs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from benchmarks.made_profiles import THREADS, made_profile, made_run
from profkit.formats import pprof
from profkit.transforms.origin import is_library_file, is_native_file


def test_sizes_are_exact() -> None:
    profile = made_profile(2_000, 150, depth=40)
    assert profile.total_weight == len(profile.samples) == 2_000
    assert len({sample.stack for sample in profile.samples}) == len(set(profile.stacks)) == 150
    assert {len(stack) for stack in profile.stacks} == {40}
    assert [thread.name for thread in profile.threads] == list(THREADS)
    assert {sample.thread for sample in profile.samples} == {0, 1, 2, 3}


def test_equal_orders_give_equal_profiles() -> None:
    assert made_profile(500, 50) == made_profile(500, 50)
    assert made_profile(500, 50).stacks != made_profile(500, 50, seed=2).stacks


def test_stacks_are_those_of_a_program() -> None:
    profile = made_profile(4_000, 400)
    functions = [[profile.frames[frame][:2] for frame in stack] for stack in profile.stacks]
    assert any(one == other for stack in functions for one, other in pairwise(stack))
    files = {frame.file for frame in profile.frames}
    assert len(files) == 200
    assert len({frame[:2] for frame in profile.frames}) == 2_000
    kinds = {(is_library_file(file), is_native_file(file)) for file in files}
    assert kinds == {(False, False), (True, False), (True, True)}


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot show"):
        made_profile(100, 90)


def test_a_made_run_can_be_kept() -> None:
    run = made_run(800, 80)
    assert run.profile is not None
    assert run.info.samples == 800
    assert len(pprof.decode(pprof.encode(run.profile)).samples) == 800
