"""Parts of a profile: the leaf end of its stacks, some of its threads."""

from __future__ import annotations

from collections.abc import Collection

from profkit.model.profile import Profile, ProfileBuilder
from profkit.transforms.reindex import Reindexer, build_like


def keep_leaf_end(profile: Profile, frames: int) -> Profile:
    """The profile with at most `frames` frames per stack, those nearest the leaf; 0 keeps all."""
    if frames < 0:
        raise ValueError(f"a stack cannot keep {frames} frames")
    if frames == 0 or all(len(stack) <= frames for stack in profile.stacks):
        return profile
    builder = ProfileBuilder()
    reindexer = Reindexer(profile, builder)
    for sample in profile.samples:
        reindexer.add(profile.stacks[sample.stack][-frames:], sample.thread, sample.weight)
    return build_like(profile, builder)


def keep_threads(profile: Profile, tids: Collection[int]) -> Profile:
    """The profile of the threads whose system ids are `tids`."""
    builder = ProfileBuilder()
    reindexer = Reindexer(profile, builder)
    for sample in profile.samples:
        if profile.threads[sample.thread].tid in tids:
            reindexer.add(profile.stacks[sample.stack], sample.thread, sample.weight)
    return build_like(profile, builder)
