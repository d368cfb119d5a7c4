"""Who made the others wait, in simulated jobs whose late ranks and times are known."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from profkit.comparing.merged_runs import merge_runs
from profkit.model.profile import Frame, ProfileBuilder, Thread, ThreadState
from profkit.model.ranks import LateRanks, RankTimes
from profkit.model.run import Merged, Run
from profkit.transforms.combine import merge_profiles
from tests.support.example_runs import APP
from tests.support.simulated_job import BACKWARD, PLANTED, Job, Part, crowded, even, late

FUNCTIONS = {
    "python": ("slow_augment", None),
    "C": ("slow_compress", None),
    "I/O": ("slow_read", ""),
    "loader": ("train", "the data loader"),
    "backward": ("slow_hook", None),
}
STEPS = 200


def merged(runs: list[Run]) -> Merged:
    found = merge_runs(runs).merged
    assert found is not None
    return found


def times(runs: list[Run]) -> RankTimes:
    found = merged(runs).ranks
    assert found is not None
    return found


def late_ranks(runs: list[Run]) -> tuple[LateRanks | None, list[int | None]]:
    """What is said of late ranks, and their ranks."""
    found = merged(runs)
    assert found.ranks is not None
    said = found.ranks.late
    return said, [found.processes[n].process.member.rank for n in said.ranks] if said is not None else []


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("rank", [0, 3])
def test_a_late_rank_is_named_with_its_time_and_function(kind: str, rank: int) -> None:
    job = Job.of(4, STEPS, late(even(random.Random(rank)), [rank], kind, 0.06))
    said, ranks = late_ranks(job.runs())
    assert said is not None
    assert ranks == [rank]
    assert said.function is not None
    assert (said.function.name, said.waits_for) == FUNCTIONS[kind]
    assert said.waited_s == pytest.approx(STEPS * 0.06, abs=said.error_s)
    assert 0 < said.error_s < 0.1 * said.waited_s


@pytest.mark.parametrize("is_sampled", [True, False])
def test_the_function_of_a_slow_loaders_workers_is_named(is_sampled: bool) -> None:
    runs = Job.of(4, STEPS, late(even(random.Random(1)), [1], "loader", 0.06)).runs()
    item = Frame("Images.__getitem__", APP, 60)
    for number, run in enumerate(runs if is_sampled else ()):
        builder = ProfileBuilder()
        builder.add(
            (Frame("train", APP, 41), item), Thread(9, 9, "MainThread"), 500, state=ThreadState.WORKING
        )
        assert run.profile is not None
        children = builder.build(period_ns=run.profile.period_ns)
        runs[number] = replace(run, profile=merge_profiles([run.profile, children]))
    said, ranks = late_ranks(runs)
    assert said is not None
    assert (ranks, said.of_children) == ([1], item if is_sampled else None)


def test_the_interval_has_the_planted_time() -> None:
    hits = 0
    for seed in range(40):
        job = Job.of(4, STEPS, late(even(random.Random(seed)), [seed % 4], "python", 0.05))
        said, ranks = late_ranks(job.runs(seed=seed))
        assert said is not None
        assert ranks == [seed % 4]
        hits += abs(said.waited_s - STEPS * 0.05) <= said.error_s
    assert hits >= 36


def test_a_late_rank_may_never_be_seen_to_wait() -> None:
    job = Job.of(4, STEPS, late(even(random.Random(1)), [3], "python", 0.06))
    only_own = tuple(part for part in job.ranks[3] if part.frames != BACKWARD)
    said, ranks = late_ranks(Job((*job.ranks[:3], only_own)).runs())
    assert said is not None
    assert ranks == [3]


def test_two_ranks_wait_for_one_another() -> None:
    said, ranks = late_ranks(Job.of(2, STEPS, late(even(random.Random(1)), [1], "C", 0.06)).runs())
    assert said is not None
    assert ranks == [1]


def test_late_ranks_of_one_host_are_named_together() -> None:
    job = Job.of(16, STEPS, late(even(random.Random(1)), range(4, 8), "I/O", 0.06))
    said, ranks = late_ranks(job.runs(hosts=4))
    assert said is not None
    assert sorted(rank for rank in ranks if rank is not None) == [4, 5, 6, 7]
    assert said.waited_s == pytest.approx(STEPS * 0.06, rel=0.1)


@pytest.mark.parametrize("ranks", [2, 4, 16])
@pytest.mark.parametrize("is_crowded", [False, True])
def test_if_none_is_late_none_is_named(ranks: int, is_crowded: bool) -> None:
    for seed in range(20):
        chance = random.Random(seed)
        step = crowded(chance, ranks) if is_crowded else even(chance)
        said, _ = late_ranks(Job.of(ranks, STEPS, step).runs(seed=seed))
        assert said is None


def test_a_rank_that_is_slower_in_everything_is_named_without_a_function() -> None:
    usual = even(random.Random(3))

    def step(rank: int, number: int) -> list[Part]:
        parts = usual(rank, number)
        return [part._replace(seconds=part.seconds * 1.5) for part in parts] if rank == 2 else [*parts]

    said, ranks = late_ranks(Job.of(4, STEPS, step).runs())
    assert said is not None
    assert ranks == [2]


@pytest.mark.parametrize("cpu_s", [1.0, 9.0])
def test_within_machine_code_of_backward_a_rank_is_late_if_its_cpu_time_agrees(cpu_s: float) -> None:
    """States are not exact on a crowded machine, and the backward pass is equally long in all ranks."""
    usual = even(random.Random(3))

    def step(rank: int, number: int) -> list[Part]:
        return [*usual(rank, number), *([Part(BACKWARD, 0.06)] if rank == 2 else [])]

    runs = Job.of(4, STEPS, step).runs()
    begin, end = runs[2].resources
    runs[2] = replace(runs[2], resources=(begin, replace(end, cpu_s=begin.cpu_s + 5.0 + cpu_s)))
    said, ranks = late_ranks(runs)
    assert ranks == ([2] if cpu_s > 6 else [])
    assert said is None or (said.function is not None and said.function.name == "train")


def test_one_long_incident_is_named() -> None:
    usual = even(random.Random(3))

    def step(rank: int, number: int) -> list[Part]:
        once = late(usual, [0], "I/O", 4.0) if number == 77 else usual
        return [*once(rank, number)]

    said, ranks = late_ranks(Job.of(4, STEPS, step).runs())
    assert said is not None
    assert said.function is not None
    assert (ranks, said.function.name) == ([0], "slow_read")


def test_ranks_of_two_jobs_are_not_compared() -> None:
    runs = Job.of(4, STEPS, late(even(random.Random(1)), [1], "python", 0.06)).runs()
    assert merged(runs).ranks is not None
    info = runs[0].info
    other = replace(info.process, member=replace(info.process.member, job="job-2"))
    runs[0] = replace(runs[0], info=replace(info, process=other))
    assert merged(runs).ranks is None


def test_processes_are_sorted_by_what_they_do_themselves() -> None:
    """A rank that waits for its disk is first, though it works no more than the others."""
    job = Job.of(4, STEPS, late(even(random.Random(1)), [2], "I/O", 0.06))
    assert merged(job.runs()).processes[0].process.member.rank == 2


def test_functions_that_differ_most_are_first() -> None:
    found = times(Job.of(4, STEPS, late(even(random.Random(1)), [2], "python", 0.06)).runs())
    assert found.functions[0].name == "slow_augment"
    assert found.functions[0].line == 20
    assert sorted(found.functions[0].seconds)[:3] == [0.0, 0.0, 0.0]
    for rank, total_s in enumerate(found.total_s):
        own_s = sum(function.seconds[rank] for function in found.functions)
        assert own_s + found.waited_s[rank] == pytest.approx(total_s)
