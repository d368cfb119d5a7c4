"""Idle stacks: no transform loses or swaps their marks, and no weight depends on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.profile import Frame, Node, Profile, ProfileBuilder, Thread
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.session import Cover
from profkit.transforms.attribution import cut_regions
from profkit.transforms.combine import merge_profiles, side_by_side
from profkit.transforms.identity import with_identities
from profkit.transforms.simplify import (
    fold_addresses,
    fold_libraries,
    keep_leaf_end,
    keep_threads,
    leave_out_libraries,
    only_users_code,
    prune,
    without_own_threads,
)
from profkit.transforms.tables import Selection, function_table, line_table, thread_rows
from profkit.transforms.trees import call_tree, sum_samples
from profkit.transforms.waiting import waiting_stacks
from tests.support.profile_strategies import LIBRARY, NATIVE, USER, profiles

Stack = tuple[Frame, ...]
MARKED = 100
"""Added to the id of a thread whose samples stand for idle ones."""
REGION = Region(RegionKey("app", "f", 3, "f"), RegionKind.FUNCTION, USER, expected=("f", USER))
FRAMES = st.builds(
    Frame,
    name=st.sampled_from(["f", "g", "0x12"]),
    file=st.sampled_from([USER, LIBRARY, NATIVE]),
    line=st.integers(0, 2),
)
STATED = profiles(FRAMES, idle=st.booleans())


def cut(profile: Profile, covers: Collection[Cover] = (Cover(REGION.id, None),)) -> Profile:
    return cut_regions(profile, [REGION], covers)[REGION.id].profile


TRANSFORMS: list[Callable[[Profile], Profile]] = [
    sum_samples,
    fold_addresses,
    fold_libraries,
    leave_out_libraries,
    lambda profile: only_users_code(profile)[0],
    partial(prune, min_share=0.3),
    partial(keep_leaf_end, frames=2),
    partial(keep_threads, tids={1, 2, 1 + MARKED, 2 + MARKED}),
    without_own_threads,
    lambda profile: merge_profiles([profile, profile]),
    partial(with_identities, path_in=str),
    partial(with_identities, path_in=str, inline=True),
    cut,
]


def with_marks_as_threads(profile: Profile) -> Profile:
    """The profile with idle samples as those of other threads, without marks."""
    builder = ProfileBuilder()
    for stack, number, weight in profile.samples:
        thread = profile.threads[number]
        thread = thread._replace(tid=thread.tid + MARKED * (stack in profile.idle))
        builder.add(tuple(profile.frames[frame] for frame in profile.stacks[stack]), thread, weight)
    return builder.build(unit=profile.unit, period_ns=profile.period_ns)


def without_marks(profile: Profile) -> Profile:
    builder = ProfileBuilder()
    for stack, thread, weight in profile.samples:
        frames = tuple(profile.frames[frame] for frame in profile.stacks[stack])
        builder.add(frames, profile.threads[thread], weight)
    return builder.build(unit=profile.unit, period_ns=profile.period_ns)


def weights(profile: Profile) -> Counter[tuple[Stack, int, bool]]:
    """Weights by stack, thread and whether it is idle, which a mark or the thread's id says."""
    found: Counter[tuple[Stack, int, bool]] = Counter()
    for stack, thread, weight in profile.samples:
        by_thread, tid = divmod(profile.threads[thread].tid, MARKED)
        frames = tuple(profile.frames[frame] for frame in profile.stacks[stack])
        found[frames, tid, bool(by_thread) or stack in profile.idle] += weight
    return found


@pytest.mark.parametrize("transform", TRANSFORMS)
@given(profile=STATED)
def test_a_transform_keeps_the_marks(transform: Callable[[Profile], Profile], profile: Profile) -> None:
    assert weights(transform(profile)) == weights(transform(with_marks_as_threads(profile)))


@given(profile=STATED)
def test_two_sides_keep_the_marks(profile: Profile) -> None:
    both = side_by_side([profile], [without_marks(profile)])
    idle = Counter[int]()
    for stack, thread, weight in both.samples:
        idle[thread] += weight if stack in both.idle else 0
    assert idle[1] == 0
    assert idle[0] == sum(sample.weight for sample in profile.samples if sample.stack in profile.idle)


def tree(node: Node) -> list[tuple[int, Frame, int, int]]:
    return [(depth, one.frame, one.self_weight, one.total_weight) for depth, one in node.walk()]


@given(profile=STATED)
def test_reports_are_the_same_without_marks(profile: Profile) -> None:
    plain = without_marks(profile)
    assert sorted(tree(call_tree(profile))) == sorted(tree(call_tree(plain)))
    assert thread_rows(profile) == thread_rows(plain)
    for table in (function_table, line_table):
        rows, others = table(profile), table(plain)
        assert set(rows.rows) == set(others.rows)
    waits = function_table(profile, Selection(waiting=profile.idle)).rows
    assert sum(row.self_weight for row in waits) == sum(row.self_weight for row in function_table(plain).rows)
    assert sum(row.waiting_weight for row in waits) == sum(
        sample.weight
        for sample in profile.samples
        if sample.stack in profile.idle and profile.stacks[sample.stack]
    )


@given(profile=STATED)
def test_a_builder_has_equal_stacks_twice_at_most(profile: Profile) -> None:
    found = Counter((stack, number in profile.idle) for number, stack in enumerate(profile.stacks))
    assert max(found.values(), default=1) == 1
    assert profile.idle <= set(range(len(profile.stacks)))


@given(profile=STATED)
def test_idle_stacks_wait_in_addition_to_known_ones(profile: Profile) -> None:
    source = {(USER, 1): "time.sleep(1)"}.get
    by_name = waiting_stacks(without_marks(profile), lambda file, line: source((file, line)))
    known = {without_marks(profile).stacks[number] for number in by_name}
    found = waiting_stacks(profile, lambda file, line: source((file, line)))
    assert profile.idle <= found
    names = {
        tuple(profile.frames[frame] for frame in profile.stacks[number]) for number in found - profile.idle
    }
    plain = without_marks(profile)
    assert names <= {tuple(plain.frames[frame] for frame in stack) for stack in known}


def test_an_idle_stack_interrupts_a_row_of_equal_ones() -> None:
    builder = ProfileBuilder()
    stack, thread = (Frame("f", USER, 1),), Thread(7, 1, "t")
    for idle in (False, False, True, False):
        builder.add(stack, thread, idle=idle)
    profile = builder.build()
    assert [tuple(sample) for sample in profile.samples] == [(0, 0, 2), (1, 0, 1), (0, 0, 1)]
    assert (profile.stacks, profile.idle) == (((0,), (0,)), {1})
