"""Small calls are summed up, and nothing else changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.transforms.simplify import SMALLER_CALLS, fold_addresses, prune, without_own_threads
from profkit.transforms.tables import function_rows
from profkit.transforms.trees import call_tree
from tests.support.profile_strategies import built, profile_of, profiles

shares = st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0])


def by_thread(profile: Profile) -> Counter[int]:
    weights: Counter[int] = Counter()
    for _, thread, weight in profile.samples:
        weights[thread] += weight
    return weights


@settings(max_examples=80)
@given(profiles(), shares)
def test_each_call_that_is_kept_is_heavy_and_weighs_what_it_did(profile: Profile, share: float) -> None:
    pruned = prune(profile, share)
    assert by_thread(pruned) == by_thread(profile)
    before, after = call_tree(profile), call_tree(pruned)
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


Z = "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13"
WORK = Frame("work", "/home/ann/app.py", 3)
FOLDED = Frame("[libz.so]", Z)


def made(*stacks: tuple[Frame, ...]) -> Profile:
    return built(*((stack, 2) for stack in stacks), period_ns=1e7)


def frames_of(profile: Profile) -> list[tuple[Frame, ...]]:
    return [tuple(profile.frames[n] for n in profile.stacks[sample.stack]) for sample in profile.samples]


def address(number: int, file: str = Z) -> Frame:
    return Frame(f"0x7fd6cd7{number:05x}", file)


def test_addresses_of_a_library_are_one_function() -> None:
    deflate = Frame("deflate", Z)
    profile = made((WORK, address(1)), (WORK, address(2), address(3)), (WORK, deflate, address(4)))
    folded = fold_addresses(profile)
    assert frames_of(folded) == [(WORK, FOLDED), (WORK, deflate, FOLDED)]
    assert [(row.name, row.self_weight) for row in function_rows(folded) if row.self_weight] == [
        ("[libz.so]", 6)
    ]
    assert (folded.period_ns, folded.ordered, folded.threads) == (1e7, True, profile.threads)


def test_neighbours_of_different_libraries_are_not_one() -> None:
    other = "/opt/lib/_ext.cpython-311-x86_64-linux-gnu.so"
    profile = made((WORK, address(1), address(2, other), address(3)))
    assert frames_of(fold_addresses(profile)) == [
        (WORK, FOLDED, Frame("[_ext.cpython-311-x86_64-linux-gnu.so]", other), FOLDED)
    ]


def test_a_program_and_code_of_no_file_have_names_too() -> None:
    profile = made((address(1, "/usr/bin/python3.11"), address(2, "")))
    assert [frame.name for frame in frames_of(fold_addresses(profile))[0]] == [
        "[python3.11]",
        "[native code]",
    ]


def test_recursion_and_names_that_only_look_alike_stay() -> None:
    profile = made((WORK, WORK, Frame("0xcafe", "app.py", 7), Frame("0xzz", Z), Frame("", Z)))
    assert fold_addresses(profile) is profile


@given(profiles(), st.sets(st.integers(0, 20)))
def test_weights_stay(profile: Profile, chosen: set[int]) -> None:
    frames = tuple(
        frame._replace(name=f"0x{number + 4096:x}", line=0) if number in chosen else frame
        for number, frame in enumerate(profile.frames)
    )
    given_profile = replace(profile, frames=frames)
    folded = fold_addresses(given_profile)
    assert folded.total_weight == given_profile.total_weight
    assert all(not frame.name.startswith("0x") or frame.line for frame in folded.frames)
