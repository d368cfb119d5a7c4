"""Parts of a profile by thread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given

from profkit.model.profile import Profile, Sample
from profkit.render.views.threads import of_threads, split_threads
from tests.support.profile_strategies import profiles


@given(profiles())
def test_each_group_of_threads_has_its_samples_in_their_order(profile: Profile) -> None:
    groups = [range(0, len(profile.threads), 2), range(1, len(profile.threads), 2)]
    parts = split_threads(profile, groups)
    for part, numbers in zip(parts, groups, strict=True):
        assert part.samples == tuple(one for one in profile.samples if one.thread in numbers)
        assert part == of_threads(profile, numbers)


class CountedSamples(tuple[Sample, ...]):
    """Samples that count how often they are read."""

    reads = 0

    def __iter__(self) -> Iterator[Sample]:
        CountedSamples.reads += 1
        return super().__iter__()


def test_a_job_of_many_threads_is_split_in_one_pass() -> None:
    samples = CountedSamples(Sample(0, number) for number in range(1000))
    profile = replace(Profile(stacks=((),)), samples=samples)
    assert len(split_threads(profile, [[number] for number in range(1000)])) == 1000
    assert CountedSamples.reads == 1
