from __future__ import annotations

from collections import Counter
from itertools import pairwise, takewhile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profkit.model.profile import Frame, Node, Profile
from profkit.transforms.origin import is_library_file
from profkit.transforms.simplify import fold_libraries, leave_out_libraries
from profkit.transforms.trees import (
    Vectors,
    call_tree,
    children_once,
    sort_stacks,
    sum_parts,
    sum_samples,
)
from tests.support.profile_strategies import LIBRARY, OTHER_LIBRARY, USER, built, profile_of, profiles
from tests.unit.transforms.tree_oracle import plain_tree, plainly_folded

of_several_files = st.builds(
    Frame,
    name=st.sampled_from(["f", "g", "h"]),
    file=st.sampled_from([USER, LIBRARY, OTHER_LIBRARY]),
    line=st.integers(0, 3),
)


def lines(root: Node) -> list[str]:
    """The tree as text: depth, name, line, self/total."""
    return [
        f"{'  ' * depth}{node.frame.name}:{node.frame.line} {node.self_weight}/{node.total_weight}"
        for depth, node in root.walk()
    ]


def test_functions_merge_under_each_caller_with_their_heaviest_line() -> None:
    profile = profile_of(("f:1 g:5", 2), ("f:2 g:6", 3), ("f:2 h:1", 1), ("h:9", 9))
    assert lines(call_tree(profile)) == [
        ":0 0/15",
        "  h:9 9/9",
        "  f:2 0/6",
        "    g:6 5/5",
        "    h:1 1/1",
    ]


def test_children_that_are_read_once_are_not_kept() -> None:
    tree = call_tree(profile_of(("f:1 g:1", 1), ("h:1", 1)))
    assert children_once(tree)[0] is not children_once(tree)[0]
    kept = tree.children[0]
    assert children_once(tree)[0] is kept
    assert list(children_once(tree)) == list(tree.children)
    assert children_once(Node(Frame("f", ""), 1, 1)) == ()


def test_a_stack_ten_thousand_deep_is_no_harder() -> None:
    stack = tuple(Frame(f"f{depth % 3}", USER if depth % 2 else LIBRARY, depth) for depth in range(10_000))
    profile = built((stack, 3))
    tree = call_tree(profile)
    assert sum(1 for _ in tree.walk()) == 10_001
    assert max(depth for depth, _ in tree.walk()) == 10_000
    assert {node.total_weight for _, node in call_tree(fold_libraries(profile)).walk()} == {3}


def test_frames_of_a_library_fold_into_the_one_that_was_entered_first() -> None:
    profile = profile_of(
        ("f:1 dump@lib:3 encode@lib:4 walk@lib:5", 2),
        ("f:1 dump@lib:3 write@lib:8", 2),
        ("f:1 dump@lib:3", 66),
    )
    assert lines(call_tree(fold_libraries(profile))) == [":0 0/70", "  f:1 0/70", "    dump:3 70/70"]


def test_a_fold_does_not_hide_where_much_of_the_time_is_spent() -> None:
    profile = profile_of(
        ("f:1 dump@lib:3 encode@lib:4 walk@lib:5", 3),
        ("f:2 dump@lib:3 walk@lib:6", 2),
        ("f:1 dump@lib:3 write@lib:8", 4),
        ("f:1 dump@lib:3", 1),
        ("g:1", 90),
    )
    assert lines(call_tree(fold_libraries(profile))) == [
        ":0 0/100",
        "  g:1 90/90",
        "  f:1 0/10",
        "    dump:3 5/10",
        "      walk:5 5/5",
    ]


def test_machine_code_is_one_package() -> None:
    profile = profile_of(("f:1 call@c:1 eval@c2:2 call@c:3 eval@c2:4", 1), ("f:1", 99))
    assert lines(call_tree(fold_libraries(profile))) == [":0 0/100", "  f:1 99/100", "    call:1 1/1"]


@given(profiles(max_depth=9))
@example(Profile())
@example(profile_of(("g:7", 1), ("f:3", 1), ("f:2", 1), ("g:9", 1)))
def test_a_tree_is_the_one_that_is_made_node_by_node(profile: Profile) -> None:
    assert call_tree(profile) == plain_tree(profile)


@given(profiles(of_several_files, max_depth=9))
def test_stacks_are_folded_frame_by_frame(profile: Profile) -> None:
    folded = fold_libraries(profile)
    frames = [[profile.frames[frame] for frame in stack] for stack in folded.stacks]
    assert frames == plainly_folded(profile, is_library_file)


@given(profiles(max_depth=9))
def test_a_node_of_a_folded_tree_has_the_line_with_most_weight(profile: Profile) -> None:
    folded = fold_libraries(profile)
    assert call_tree(folded) == plain_tree(folded)
    assert {*folded.frames} == {*profile.frames}


@given(profiles(max_depth=9))
def test_library_calls_count_for_the_code_that_makes_them(profile: Profile) -> None:
    charged = leave_out_libraries(profile)
    assert charged.samples == profile.samples
    for stack, before in zip(charged.stacks, profile.stacks, strict=True):
        users = tuple(n for n in before if profile.frames[n].file == USER)
        assert stack == (users or before)


@given(profiles())
def test_folding_changes_nothing_where_all_is_the_users(profile: Profile) -> None:
    tree = call_tree(profile)
    assert call_tree(fold_libraries(profile, lambda file: False)) == tree


@pytest.mark.parametrize(
    "file",
    [
        "/home/ann/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py",
        "/usr/lib/python3/dist-packages/yaml/__init__.py",
        "/usr/local/lib/python3.13t/threading.py",
        "/usr/lib64/python3.12/json/__init__.py",
        "/opt/python/lib/python311.zip/json/__init__.py",
        "/home/ann/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py",
        "/usr/lib/x86_64-linux-gnu/libc.so.6",
        "/tmp/build/Python-3.11.7/Modules/_json.c",
        *("<frozen importlib._bootstrap>", "<string>", "<eval_with_key>.3", ""),
    ],
)
def test_library_code(file: str) -> None:
    assert is_library_file(file)


@pytest.mark.parametrize(
    "file",
    [
        *("/home/ann/app.py", "/home/ann/lib/python_tools/app.py", "/home/ann/site-packages.py"),
        *("<stdin>", "<ipython-input-3-aa11>", "<doctest app[0]>", "app.py"),
    ],
)
def test_code_of_the_user(file: str) -> None:
    assert not is_library_file(file)


def numbered(profile: Profile) -> list[int]:
    """A number a function, as trees want them."""
    numbers: dict[tuple[str, str], int] = {}
    return [numbers.setdefault((frame.name, frame.file), len(numbers)) for frame in profile.frames]


def test_an_unused_stack_has_no_place() -> None:
    used = profile_of(("f:1", 1), ("g:1", 1))
    some = Profile(frames=used.frames, stacks=used.stacks, threads=used.threads, samples=used.samples[1:])
    assert sort_stacks(some, [0, 1]).places == [-1, 0]


@given(profiles(), st.randoms())
def test_sorted_stacks_are_those_of_the_samples(profile: Profile, random: object) -> None:
    keys = numbered(profile)
    random.shuffle(keys)  # type: ignore[attr-defined]
    found = sort_stacks(profile, keys)
    weights: Counter[tuple[int, ...]] = Counter()
    for sample in profile.samples:
        stack = tuple(keys[frame] for frame in profile.stacks[sample.stack])
        weights[stack] += sample.weight
        assert found.stacks[found.places[sample.stack]] == stack
    assert list(found.stacks) == sorted(weights)
    assert dict(zip(found.stacks, found.weights, strict=True)) == weights
    assert found.shared[:1] == [0][: len(found.stacks)]
    for common, (before, stack) in zip(found.shared[1:], pairwise(found.stacks), strict=True):
        assert common == len([*takewhile(lambda pair: pair[0] == pair[1], zip(before, stack, strict=False))])


@given(profiles())
def test_summed_samples_keep_every_weight(profile: Profile) -> None:
    summed = sum_samples(profile)
    assert summed.weights_by_stack == profile.weights_by_stack
    assert len({(sample.stack, sample.thread) for sample in summed.samples}) == len(summed.samples)
    assert len(summed.samples) <= len(profile.samples)
    for thread in range(len(profile.threads)):
        weights = [sum(s.weight for s in p.samples if s.thread == thread) for p in (summed, profile)]
        assert weights[0] == weights[1]


THINGS = st.lists(st.tuples(st.frozensets(st.integers(0, 5)), st.integers(0, 4)), max_size=20)


@given(THINGS)
def test_each_part_has_the_weight_of_its_things(things: list[tuple[frozenset[int], int]]) -> None:
    expected = [sum(weight for parts, weight in things if part in parts) for part in range(6)]
    assert sum_parts(things, lambda parts: parts, 6) == expected


def test_a_part_that_does_not_count_is_the_last() -> None:
    assert sum_parts([((0, -1), 2), ((-1,), 3)], lambda parts: parts, 2) == [2, 5]


@given(st.lists(st.lists(st.integers(-(2**70), 2**70), min_size=3, max_size=3), max_size=8))
def test_vectors_add_up_element_by_element(added: list[list[int]]) -> None:
    vectors = Vectors.that_hold((weight for weights in added for weight in weights), 3)
    units = vectors.units()
    total = sum(weight * unit for weights in added for weight, unit in zip(weights, units, strict=True))
    assert vectors.elements(total) == [sum(weights[n] for weights in added) for n in range(3)]
