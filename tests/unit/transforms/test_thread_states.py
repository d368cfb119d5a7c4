"""States of threads: no transform loses or swaps them, and no weight depends on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.profile import Frame, Node, Profile, ProfileBuilder, Thread, ThreadState
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
from tests.support.profile_strategies import LIBRARY, NATIVE, USER, profiles, thread_states

Stack = tuple[Frame, ...]
MARKED = 100
"""Added per state to the id of a thread whose samples stand for those in that state."""
REGION = Region(RegionKey("app", "f", 3, "f"), RegionKind.FUNCTION, USER, expected=("f", USER))
FRAMES = st.builds(
    Frame,
    name=st.sampled_from(["f", "g", "0x12"]),
    file=st.sampled_from([USER, LIBRARY, NATIVE]),
    line=st.integers(0, 2),
)
STATED = profiles(FRAMES, states=thread_states)
TIDS = {tid + MARKED * state for tid in (1, 2) for state in ThreadState}


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
    partial(keep_threads, tids=TIDS),
    without_own_threads,
    lambda profile: merge_profiles([profile, profile]),
    partial(with_identities, path_in=str),
    partial(with_identities, path_in=str, inline=True),
    cut,
]


def with_states_as_threads(profile: Profile) -> Profile:
    """The profile with the samples of each state as those of other threads, without states."""
    builder = ProfileBuilder()
    for stack, number, weight in profile.samples:
        thread = profile.threads[number]
        thread = thread._replace(tid=thread.tid + MARKED * profile.state_of(stack))
        builder.add(tuple(profile.frames[frame] for frame in profile.stacks[stack]), thread, weight)
    return builder.build(unit=profile.unit, period_ns=profile.period_ns)


def without_states(profile: Profile) -> Profile:
    builder = ProfileBuilder()
    for stack, thread, weight in profile.samples:
        frames = tuple(profile.frames[frame] for frame in profile.stacks[stack])
        builder.add(frames, profile.threads[thread], weight)
    return builder.build(unit=profile.unit, period_ns=profile.period_ns)


def weights(profile: Profile) -> Counter[tuple[Stack, int, int]]:
    """Weights by stack, thread and its state, which the thread's id may say."""
    found: Counter[tuple[Stack, int, int]] = Counter()
    for stack, thread, weight in profile.samples:
        by_thread, tid = divmod(profile.threads[thread].tid, MARKED)
        frames = tuple(profile.frames[frame] for frame in profile.stacks[stack])
        found[frames, tid, by_thread or profile.state_of(stack)] += weight
    return found


@pytest.mark.parametrize("transform", TRANSFORMS)
@given(profile=STATED)
def test_a_transform_keeps_the_states(transform: Callable[[Profile], Profile], profile: Profile) -> None:
    assert weights(transform(profile)) == weights(transform(with_states_as_threads(profile)))


@given(profile=STATED)
def test_two_sides_keep_the_states(profile: Profile) -> None:
    both = side_by_side([profile], [without_states(profile)])
    found = Counter[tuple[int, ThreadState]]()
    for stack, thread, weight in both.samples:
        found[thread, both.state_of(stack)] += weight
    for state in ThreadState:
        weight = sum(one.weight for one in profile.samples if profile.state_of(one.stack) is state)
        assert found[0, state] == weight
        assert found[1, state] == (0 if state else profile.total_weight)


def tree(node: Node) -> list[tuple[int, Frame, int, int]]:
    return [(depth, one.frame, one.self_weight, one.total_weight) for depth, one in node.walk()]


@given(profile=STATED)
def test_reports_are_the_same_without_states(profile: Profile) -> None:
    plain = without_states(profile)
    assert sorted(tree(call_tree(profile))) == sorted(tree(call_tree(plain)))
    assert thread_rows(profile) == thread_rows(plain)
    for table in (function_table, line_table):
        rows, others = table(profile), table(plain)
        assert set(rows.rows) == set(others.rows)
    waiting = {n for n, state in enumerate(profile.states) if state is ThreadState.WAITING}
    waits = function_table(profile, Selection(waiting=frozenset(waiting))).rows
    assert sum(row.self_weight for row in waits) == sum(row.self_weight for row in function_table(plain).rows)
    assert sum(row.waiting_weight for row in waits) == sum(
        sample.weight
        for sample in profile.samples
        if sample.stack in waiting and profile.stacks[sample.stack]
    )


@given(profile=STATED)
def test_a_builder_has_equal_stacks_once_per_state(profile: Profile) -> None:
    found = Counter((stack, profile.state_of(number)) for number, stack in enumerate(profile.stacks))
    assert max(found.values(), default=1) == 1
    assert len(profile.states) in (0, len(profile.stacks))


@given(profile=STATED)
def test_functions_say_what_waits_only_if_the_state_is_unknown(profile: Profile) -> None:
    def source(file: str, line: int) -> str | None:
        return "time.sleep(1)" if (file, line) == (USER, 1) else None

    plain = without_states(profile)
    by_name = {
        tuple(plain.frames[frame] for frame in plain.stacks[number])
        for number in waiting_stacks(plain, source)
    }
    found = waiting_stacks(profile, source)
    for number, stack in enumerate(profile.stacks):
        state = profile.state_of(number)
        is_known_wait = tuple(profile.frames[frame] for frame in stack) in by_name
        waits = state in (ThreadState.WAITING, ThreadState.GIL) if state else is_known_wait
        assert (number in found) is waits


def test_another_state_interrupts_a_row_of_equal_stacks() -> None:
    builder = ProfileBuilder()
    stack, thread = (Frame("f", USER, 1),), Thread(7, 1, "t")
    for state in (ThreadState.WORKING, ThreadState.WORKING, ThreadState.WAITING, ThreadState.WORKING):
        builder.add(stack, thread, state=state)
    profile = builder.build()
    assert [tuple(sample) for sample in profile.samples] == [(0, 0, 2), (1, 0, 1), (0, 0, 1)]
    assert profile.stacks == ((0,), (0,))
    assert profile.states == (ThreadState.WORKING, ThreadState.WAITING)
