"""Sorted stacks: the same samples, in an order in which every call is a range."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, takewhile

from hypothesis import given
from hypothesis import strategies as st

from profkit.model.profile import Profile
from profkit.transforms.trees import sort_stacks, stack_weights, sum_samples
from tests.support.profile_strategies import profile_of, profiles


def numbered(profile: Profile) -> list[int]:
    """A number a function, as trees want them."""
    numbers: dict[tuple[str, str], int] = {}
    return [numbers.setdefault((frame.name, frame.file), len(numbers)) for frame in profile.frames]


def test_stacks_of_equal_keys_are_one() -> None:
    found = sort_stacks(profile_of(("f:1 g:2", 1), ("h:1", 2), ("f:3 g:2", 4), ("f:1", 8)), [0, 1, 2, 0])
    assert found.stacks == ((0,), (0, 1), (2,))
    assert found.shared == [0, 1, 0]
    assert found.weights == [8, 5, 2]
    assert found.places == [1, 2, 1, 0]


def test_an_unused_stack_has_no_place() -> None:
    used = profile_of(("f:1", 1), ("g:1", 1))
    some = Profile(frames=used.frames, stacks=used.stacks, threads=used.threads, samples=used.samples[1:])
    assert sort_stacks(some, [0, 1]).places == [-1, 0]


def test_nothing_gives_nothing() -> None:
    assert sort_stacks(Profile(), []).stacks == ()


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
    assert stack_weights(summed) == stack_weights(profile)
    assert len({(sample.stack, sample.thread) for sample in summed.samples}) == len(summed.samples)
    assert len(summed.samples) <= len(profile.samples)
    for thread in range(len(profile.threads)):
        weights = [sum(s.weight for s in p.samples if s.thread == thread) for p in (summed, profile)]
        assert weights[0] == weights[1]
