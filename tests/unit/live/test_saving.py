"""Runs of live samples, as the store keeps them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.live.samples import Batch, History, LiveSamples
from profkit.live.saving import Origin, run_of
from profkit.model.profile import Profile
from profkit.model.run import Run
from profkit.model.session import ProcessInfo, ResourcePoint, SamplerPlan, SessionState
from profkit.program.attached import Target
from profkit.samplers.options import SamplerOptions
from profkit.store.runs import open_store
from tests.support.profile_strategies import profile_of

INFO = ProcessInfo(4711, 1, "host", "/srv", ("python", "app.py"), "3.15.2", None, "1", None)
PLAN = SamplerPlan.unknown("pyspy", scope="process", rate_hz=10.0)
ORIGIN = Origin(Target(INFO, "/srv/app.py", "app.py", None), SamplerOptions(), PLAN, "0.4.3")
POINTS = (ResourcePoint(1, 0.5, 1000, 2),)


def live_of(clock: ManualClock) -> LiveSamples:
    live = LiveSamples()
    for profile in (profile_of(("f:1 g:2", 3), ("f:1", 1)), profile_of(("f:1 h:3", 2), tid=2)):
        began_s = clock.monotonic_s()
        clock.advance(2)
        live.add(Batch(began_s, clock.monotonic_s(), profile, rounds=20, errors=1))
        clock.advance(1)
    return live


def weights(profile: Profile) -> Counter[tuple[int, tuple[str, ...]]]:
    counted: Counter[tuple[int, tuple[str, ...]]] = Counter()
    for stack, thread, weight in profile.samples:
        names = tuple(profile.frames[frame].name for frame in profile.stacks[stack])
        counted[profile.threads[thread].tid, names] += weight
    return counted


EXPECTED = Counter({(1, ("f", "g")): 3, (1, ("f",)): 1, (2, ("f", "h")): 2})


def test_a_run_is_kept_as_attach_keeps_one(tmp_path: Path) -> None:
    clock = ManualClock()
    live = live_of(clock)
    run = run_of(live, ORIGIN, "mine", POINTS, clock)
    assert run is not None
    info = run.info
    assert (info.label, info.calls, info.samples, info.errors) == ("mine", 1, 6, 2)
    assert (info.state, info.error) == (SessionState.SUCCESS, None)
    assert (info.wall_s, info.session_s, info.gap_s, info.achieved_hz) == (5, 4, 1, 10)
    assert info.started_ns == ManualClock().unix_ns()
    with open_store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        store.add([run])
        loaded = store.load(info.id)
    assert isinstance(loaded, Run)
    assert loaded.info == info
    assert loaded.resources == POINTS
    assert loaded.profile is not None
    assert weights(loaded.profile) == EXPECTED
    assert loaded.profile.ordered


def test_each_run_is_another() -> None:
    clock = ManualClock()
    live = live_of(clock)
    first, second = (run_of(live, ORIGIN, None, (), clock) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.info.id != second.info.id
    assert first.info.label == "app.py"


def test_samples_without_an_order(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock()
    live = live_of(clock)
    live.history = History(most=0)
    live.history.add(0.0, [(0, 0, 1)], (0,))
    run = run_of(live, ORIGIN, None, (), clock)
    assert run is not None
    assert run.profile is not None
    assert not run.profile.ordered
    assert weights(run.profile) == EXPECTED


def test_a_failure_is_part_of_the_run() -> None:
    clock = ManualClock()
    origin = Origin(ORIGIN.target, ORIGIN.options, PLAN, None, "py-spy may not read process 4711")
    run = run_of(live_of(clock), origin, None, (), clock)
    assert run is not None
    assert (run.info.state, run.info.error) == (SessionState.FAILED, origin.problem)


def test_nothing_to_keep() -> None:
    live = LiveSamples()
    assert run_of(live, ORIGIN, None, (), ManualClock()) is None
    live.add(Batch(0, 1, Profile(), 10))
    assert run_of(live, ORIGIN, None, (), ManualClock()) is None
