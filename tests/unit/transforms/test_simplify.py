"""Small calls are summed up, and nothing else changes."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.transforms.simplify import SMALLER_CALLS, prune, without_own_threads
from profkit.transforms.trees import call_tree
from tests.support.profile_strategies import profile_of, profiles

shares = st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0])


def by_thread(profile: Profile) -> Counter[int]:
    weights: Counter[int] = Counter()
    for _, thread, weight in profile.samples:
        weights[thread] += weight
    return weights


@settings(max_examples=80)
@given(profiles(), shares)
def test_each_call_that_is_kept_is_heavy_and_weighs_what_it_did(profile: Profile, share: float) -> None:
    before, after = call_tree(profile), call_tree(prune(profile, share))
    pending = [(before, after)]
    while pending:
        old, new = pending.pop()
        assert new.total_weight == old.total_weight
        known = {(child.frame.name, child.frame.file): child for child in old.children}
        for child in new.children:
            if child.frame == SMALLER_CALLS:
                assert child.children == ()
                continue
            assert child.total_weight >= share * profile.total_weight
            pending.append((known[child.frame.name, child.frame.file], child))
        kept = {child.frame for child in new.children}
        heavy = [child for child in old.children if child.total_weight >= share * profile.total_weight]
        assert len(kept - {SMALLER_CALLS}) == len(heavy)
        assert new.self_weight == old.self_weight


@settings(max_examples=80)
@given(profiles(), shares)
def test_threads_keep_their_weight(profile: Profile, share: float) -> None:
    pruned = prune(profile, share)
    assert by_thread(pruned) == by_thread(profile)


def test_order_is_kept_and_equal_neighbours_are_one() -> None:
    pruned = prune(profile_of(("f:1 g:1", 1), ("f:1 h:1", 1), ("f:1", 96), ("f:1 g:1", 2)), 0.05)
    small, large = (Frame("f", pruned.frames[0].file, 1), SMALLER_CALLS), (pruned.frames[0],)
    found = [
        (tuple(pruned.frames[n] for n in pruned.stacks[one.stack]), one.weight) for one in pruned.samples
    ]
    assert found == [(small, 2), (large, 96), (small, 2)]


def test_a_thread_is_profkits_own_if_most_of_its_samples_begin_there() -> None:
    ours = Frame("BackgroundThread._run", "/site/profkit/process/background.py", 9)
    users = Frame("f", "/app.py", 1)
    builder = ProfileBuilder()
    for tid, frame, weight in ((1, users, 98), (1, ours, 2), (2, ours, 99), (2, users, 1)):
        builder.add((frame,), Thread(7, tid, ""), weight)
    kept = without_own_threads(builder.build(period_ns=1e6))
    assert [(kept.threads[thread].tid, weight) for _, thread, weight in kept.samples] == [(1, 98), (1, 2)]
