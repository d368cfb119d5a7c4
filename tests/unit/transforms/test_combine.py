from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import UsageError
from profkit.model.profile import Frame, Profile, Sample
from profkit.transforms.combine import Home, aligned, merge_profiles, side_by_side
from profkit.transforms.simplify import keep_leaf_end, keep_threads
from profkit.transforms.tables import function_rows
from profkit.units import Unit
from tests.support.profile_strategies import built, profile_of, profiles

Spelled = list[tuple[tuple[object, ...], object, int]]


def spelled(profile: Profile) -> Spelled:
    """The samples with their frames and threads, equal ones in a row joined."""
    found: Spelled = []
    for sample in profile.samples:
        stack = tuple(profile.frames[index] for index in profile.stacks[sample.stack])
        thread, weight = profile.threads[sample.thread], sample.weight
        if found and found[-1][:2] == (stack, thread):
            weight += found.pop()[2]
        found.append((stack, thread, weight))
    return found


def test_equal_frames_stacks_and_threads_are_kept_once_and_samples_in_order() -> None:
    merged = merge_profiles([profile_of(("f:1 g:2", 1), ("f:1", 2)), profile_of(("f:1", 3), ("g:2", 1))])
    assert [frame.name for frame in merged.frames] == ["f", "g"]
    assert merged.samples == (Sample(0, 0, 1), Sample(1, 0, 5), Sample(2, 0, 1))
    assert merged.period_ns == 1e6


def test_mixed_units_are_refused_but_a_profile_without_samples_has_none() -> None:
    samples = profile_of(("f:1", 1))
    counts = Profile(Unit.INSTRUCTIONS, 0.0, samples.frames, samples.stacks, samples.threads, samples.samples)
    with pytest.raises(UsageError, match="instructions and samples"):
        merge_profiles([samples, counts])
    assert merge_profiles([Profile(), counts]) == counts


def test_different_periods_keep_the_time_that_all_samples_stand_for() -> None:
    slow = profile_of(("f:1", 10))
    fast = Profile(Unit.SAMPLES, 4e6, slow.frames, slow.stacks, slow.threads, (Sample(0, 0, 30),))
    merged = merge_profiles([slow, fast])
    assert merged.period_ns * merged.total_weight == pytest.approx(10 * 1e6 + 30 * 4e6)


def test_one_unordered_part_makes_the_whole_unordered() -> None:
    one = profile_of(("f:1", 1))
    other = Profile(one.unit, one.period_ns, one.frames, one.stacks, one.threads, one.samples, ordered=False)
    assert not merge_profiles([one, other]).ordered
    assert merge_profiles([one, one]).ordered


@given(st.lists(profiles(), max_size=4))
def test_merging_keeps_all_samples_in_order(parts: list[Profile]) -> None:
    merged = merge_profiles(parts)
    assert merged.total_weight == sum(part.total_weight for part in parts)
    everything: Spelled = []
    for part in parts:
        for stack, thread, weight in spelled(part):
            if everything and everything[-1][:2] == (stack, thread):
                weight += everything.pop()[2]
            everything.append((stack, thread, weight))
    assert spelled(merged) == everything


@given(profiles(), profiles(), profiles())
def test_merging_is_associative(one: Profile, two: Profile, three: Profile) -> None:
    left = merge_profiles([merge_profiles([one, two]), three])
    right = merge_profiles([one, merge_profiles([two, three])])
    assert left == right == merge_profiles([one, two, three])


@given(profiles(), st.integers(1, 7))
def test_the_leaf_end_is_kept(profile: Profile, frames: int) -> None:
    kept = keep_leaf_end(profile, frames)
    assert kept.total_weight == profile.total_weight
    assert (kept.unit, kept.period_ns) == (profile.unit, profile.period_ns)
    assert sum_by_stack(kept) == sum_by_stack(profile, frames)


def sum_by_stack(profile: Profile, frames: int = 100) -> dict[object, int]:
    weights: dict[object, int] = {}
    for stack, thread, weight in spelled(profile):
        key = (stack[-frames:], thread)
        weights[key] = weights.get(key, 0) + weight
    return weights


def test_zero_keeps_all_frames_and_less_is_refused() -> None:
    profile = profile_of(("f:1 g:2 h:3", 1))
    assert keep_leaf_end(profile, 0) is profile
    assert [frame.name for frame in keep_leaf_end(profile, 2).frames] == ["g", "h"]
    with pytest.raises(ValueError, match="-1"):
        keep_leaf_end(profile, -1)


@given(profiles(), st.sets(st.integers(1, 4)))
def test_threads_are_kept_by_their_system_id(profile: Profile, tids: set[int]) -> None:
    kept, others = keep_threads(profile, tids), keep_threads(profile, {1, 2, 3, 4} - tids)
    assert {thread.tid for thread in kept.threads} <= tids
    assert kept.total_weight + others.total_weight == profile.total_weight


def test_starts_are_kept_only_on_one_clock() -> None:
    one = replace(profile_of(("f:1", 2), ("g:1", 1)), starts=(0, 4))
    other = replace(one, starts=(10, 12))
    assert merge_profiles([one, other], same_clock=True).starts == (0, 4, 10, 12)
    assert merge_profiles([one, other]).starts == ()
    assert merge_profiles([one, replace(one, starts=())], same_clock=True).starts == ()


def of_files(*files: str) -> Profile:
    return built(([Frame("f", file, 3) for file in files], 2))


def files_of(profile: Profile) -> list[str]:
    return [frame.file for frame in profile.frames]


def test_two_checkouts_are_one_program() -> None:
    here, there = Home("/src/old", "/src/old/app/main.py"), Home("/tmp", "/home/new/app/main.py")
    one, other = aligned(
        (of_files("/src/old/app/main.py", "/src/old/lib.py"), of_files("/home/new/lib.py", "/home/newer.py")),
        (here, there),
    )
    assert files_of(one) == ["/src/old/app/main.py", "/src/old/lib.py"]
    assert files_of(other) == ["/src/old/lib.py", "/home/newer.py"]


def test_two_environments_have_the_same_libraries() -> None:
    home = Home("/src", "/src/main.py")
    one, other = aligned(
        (
            of_files("/usr/lib/python3.11/json/encoder.py", "/a/lib/python3.11/site-packages/torch/nn.py"),
            of_files("/usr/lib/python3.12/json/encoder.py", "/b/lib/python3.12/site-packages/torch/nn.py"),
        ),
        (home, home),
    )
    assert files_of(one) == files_of(other)


def test_the_same_program_run_from_two_folders_keeps_its_paths() -> None:
    """Its files lie in the folder that the second ran in."""
    profile = of_files("/src/main.py")
    one, other = aligned((profile, profile), (Home("/data", "/src/main.py"), Home("/src", "/src/main.py")))
    assert one == other == profile


def test_programs_without_a_common_file_are_reported_by_where_they_ran() -> None:
    _, other = aligned(
        (of_files("/a/x.py"), of_files("/b/y.py", "/bb/y.py")),
        (Home("/a", "/a/x.py"), Home("/b/", "/b/y.py")),
    )
    assert files_of(other) == ["/a/y.py", "/bb/y.py"]


@given(profiles(), profiles(), profiles())
def test_sides_keep_their_totals(one: Profile, two: Profile, three: Profile) -> None:
    both = side_by_side((one, two), (three,))
    assert ([thread.name for thread in both.threads], both.ordered) == (["A", "B"], False)
    weights = [0, 0]
    for sample in both.samples:
        weights[sample.thread] += sample.weight
    assert weights == [one.total_weight + two.total_weight, three.total_weight]
    rows = {(row.name, row.file): row.self_weight for row in function_rows(both)}
    apart = [function_rows(profile) for profile in (one, two, three)]
    assert sum(rows.values()) == sum(row.self_weight for table in apart for row in table)


@given(st.lists(profiles(), min_size=1, max_size=3))
def test_the_first_program_keeps_its_paths(taken: list[Profile]) -> None:
    homes = [Home("/home/ann", "/home/ann/app.py")] * len(taken)
    assert aligned(taken, homes) == tuple(taken)
