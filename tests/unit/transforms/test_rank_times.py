"""Which time of a rank is waiting for other ranks, and where the rest is."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread, ThreadState
from profkit.transforms.rank_times import Alone, RankStacks
from tests.support.profile_strategies import frame_of, frames, profiles, thread_states
from tests.support.simulated_job import FORWARD

MAIN = Thread(7, 7, "MainThread")
BACKWARD = Frame(
    "_engine_run_backward", FORWARD[1].file.replace("nn/parallel/distributed", "autograd/graph"), 9
)
WORKS, WAITS = ThreadState.WORKING, ThreadState.WAITING
OWN = Alone.OWN
TRAIN = frame_of("train:3")


def rank(*samples: tuple[tuple[Frame, ...], ThreadState]) -> Profile:
    builder = ProfileBuilder()
    for stack, state in samples:
        builder.add(stack, MAIN, 10, state=state)
    return builder.build(period_ns=1e8)


def stacks(profile: Profile) -> RankStacks:
    return RankStacks(profile, 7, "")


def waiting(profile: Profile) -> list[Alone]:
    found = stacks(profile)
    return [found.alone[sample.stack] for sample in profile.samples]


def test_backward_waits_for_ranks_if_it_is_blocked_and_runs_no_code_of_the_program() -> None:
    hook = (TRAIN, BACKWARD, frame_of("hook:5"))
    profile = rank(
        (FORWARD, WORKS), ((TRAIN, BACKWARD), WAITS), ((TRAIN, BACKWARD), WORKS), (hook, WORKS), (hook, WAITS)
    )
    assert waiting(profile) == [OWN, Alone.WAITS, Alone.BACKWARD, OWN, OWN]
    assert waiting(rank(((TRAIN, BACKWARD), WAITS))) == [OWN], "there are no other ranks"


def test_collectives_wait_in_any_state() -> None:
    stack = (TRAIN, frame_of("wrapper@lib:8"), frame_of("all_reduce@ranks:4"))
    assert waiting(rank((stack, WORKS), (stack, WAITS), (stack, ThreadState.UNKNOWN))) == [Alone.WAITS] * 3


def test_other_waiting_is_a_ranks_own() -> None:
    stack, disk = (
        (TRAIN, frame_of("all_reduce@ranks:4")),
        (TRAIN, frame_of("save:6"), frame_of("fsync@lib:1")),
    )
    found = stacks(rank((stack, WAITS), (disk, WAITS), ((TRAIN,), WORKS)))
    assert found.own() == {frame_of("save:6"): 1.0, TRAIN: 1.0}
    assert found.including()["train", TRAIN.file] == (2.0, 0.0)
    assert found.blocked(("save", TRAIN.file)) == {"": 1.0}
    assert found.lines(("train", TRAIN.file)) == {3: 2.0}
    assert [(one.seconds, one.alone) for one in found.stretches()] == [(1.0, Alone.WAITS), (2.0, OWN)]


def test_a_comprehension_is_part_of_its_function() -> None:
    inner = Frame("load.<locals>.<listcomp>", TRAIN.file, 12)
    collective = ((TRAIN, frame_of("all_reduce@ranks:4")), WAITS)
    assert stacks(rank(((frame_of("load:11"), inner), WORKS), collective)).own() == {frame_of("load:11"): 1.0}


def test_only_the_main_thread_counts() -> None:
    builder = ProfileBuilder()
    for thread, weight in ((Thread(9, 9, "MainThread"), 50), (Thread(7, 8, "loader"), 40), (MAIN, 10)):
        builder.add((TRAIN,), thread, weight, state=WORKS)
    assert stacks(builder.build(period_ns=1e8)).own() == {TRAIN: 1.0}


@given(profiles(frames, states=thread_states))
def test_stretches_and_own_time_add_up(profile: Profile) -> None:
    found = stacks(profile)
    parts = list(found.stretches())
    assert all(one.alone is not other.alone for one, other in pairwise(parts))
    own_s = sum(found.own().values())
    assert own_s <= sum(part.seconds for part in parts if part.alone is not Alone.WAITS) + 1e-9
    assert sum(part.seconds for part in parts) <= profile.total_weight * 1e-3 + 1e-9
