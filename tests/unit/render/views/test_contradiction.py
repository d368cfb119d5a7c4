"""Whether CPU time and samples agree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread, ThreadState
from profkit.model.run import Run
from profkit.model.session import ResourcePoint
from profkit.render.views.unsampled import CpuContradiction, cpu_contradiction
from profkit.transforms.waiting import waiting_stacks
from profkit.units import Unit
from tests.support.example_runs import INFO, PLAN

UNKNOWN, WORKING, WAITING, GIL = ThreadState


def point(at_s: float, cpu_s: float) -> ResourcePoint:
    return ResourcePoint(round(at_s * 1e9), cpu_s, 2**20, 1)


def profile_of(*samples: tuple[str, ThreadState, int], pid: int = INFO.process.pid) -> Profile:
    """A profile at 100 Hz."""
    builder = ProfileBuilder()
    for name, state, weight in samples:
        builder.add((Frame(name, "/app.py", 3),), Thread(pid, pid, "MainThread"), weight, state=state)
    return builder.build(period_ns=1e7)


def contradiction(profile: Profile, cpu_s: float, **changes: object) -> CpuContradiction | None:
    """The contradiction of a program of ten seconds."""
    region = replace(INFO.region, all_threads=True)
    info = replace(
        INFO, region=region, session_s=10.0, gap_s=0.0, torn=0, samples=profile.total_weight, **changes
    )  # type: ignore[arg-type]
    run = Run(info, profile, (point(0, 1.0), point(10, 1.0 + cpu_s)))
    return cpu_contradiction(run, profile, waiting_stacks(profile))


@pytest.mark.parametrize("cpu_s", [4.0, 5.0, 5.9])
def test_times_that_agree(cpu_s: float) -> None:
    assert contradiction(profile_of(("f", WORKING, 500), ("f", WAITING, 500)), cpu_s) is None


def test_more_cpu_time_than_work_was_seen() -> None:
    found = contradiction(profile_of(("f", WORKING, 500), ("f", GIL, 500)), 8.0)
    assert found is not None
    assert found.is_unseen_work
    assert (found.cpu_s, found.working_s) == (8.0, pytest.approx(5.0))
    assert found.low_s < 5.0 < found.high_s < 5.5


def test_threads_that_are_ready_for_a_processor_contradict_nothing() -> None:
    assert contradiction(profile_of(("f", WORKING, 1000)), 1.0) is None


def test_work_by_names_of_functions_that_used_no_cpu_time() -> None:
    found = contradiction(profile_of(("f", UNKNOWN, 1000)), 0.9)
    assert found is not None
    assert not found.is_unseen_work
    assert contradiction(profile_of(("f", UNKNOWN, 1000)), 6.0) is None


def test_torn_samples_and_gaps_are_no_missing_work() -> None:
    profile = profile_of(("f", WORKING, 800))
    assert contradiction(profile, 9.9) is not None
    info = replace(INFO, region=replace(INFO.region, all_threads=True), samples=800, torn=200)
    run = Run(replace(info, session_s=10.0, gap_s=0.0), profile, (point(0, 0.0), point(10, 9.9)))
    assert cpu_contradiction(run, profile, ()) is None
    run = Run(replace(info, torn=0, session_s=10.0, gap_s=2.0), profile, (point(0, 0.0), point(10, 9.9)))
    assert cpu_contradiction(run, profile, ()) is None


def test_what_cannot_be_compared() -> None:
    profile = profile_of(("f", WORKING, 100))
    assert contradiction(profile, 9.0) is not None
    assert contradiction(profile, 9.0, plan=replace(PLAN, idle=False)) is None
    assert contradiction(replace(profile, unit=Unit.NANOSECONDS), 9.0) is None
    assert contradiction(profile_of(("f", WORKING, 100), pid=1), 9.0) is None, "samples of a child"
    info = replace(INFO, region=replace(INFO.region, all_threads=False))
    assert cpu_contradiction(Run(info, profile, (point(0, 0.0), point(10, 9.0))), profile, ()) is None
    info = replace(INFO, region=replace(INFO.region, all_threads=True), session_s=4.0)
    run = Run(info, profile, (point(0, 0.0), point(10, 9.0)))
    assert cpu_contradiction(run, profile, ()) is None, "most of it was not sampled"
    assert cpu_contradiction(replace(run, resources=()), profile, ()) is None
