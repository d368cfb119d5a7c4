"""Library frames taken out of stacks: folded into the one that was entered first, or left out altogether.

Profiles in, profiles out: samples, threads and every total stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import compress

from profkit.model.profile import Profile
from profkit.transforms.origin import is_library_file
from profkit.transforms.stacks import Stack, picked

_OTHERS = bytes.maketrans(b"\0\1", b"\1\0")


def fold_libraries(profile: Profile, is_library: Callable[[str], bool] = is_library_file) -> Profile:
    """The profile with each run of library frames in a stack folded into its first one.

    In its call tree a library's frame stands for all that was reached from there through library frames
    alone, and never has another below it. User code that any of these called stands directly under it.
    `is_library` is asked about files.
    """
    library = [int(is_library(frame.file)) for frame in profile.frames]
    return replace(profile, stacks=tuple([_folded(stack, library) for stack in profile.stacks]))


def leave_out_libraries(
    profile: Profile, is_library: Callable[[str], bool] = is_library_file, folded: Profile | None = None
) -> Profile:
    """The profile without library frames; a stack that has no other frames stays as it is.

    Less is to be looked at where it is known `folded`.
    """
    users = [int(not is_library(frame.file)) for frame in profile.frames]
    shorter = profile.stacks if folded is None else folded.stacks
    stacks = [
        tuple(compress(short, picked(short, users))) or stack
        for short, stack in zip(shorter, profile.stacks, strict=True)
    ]
    return replace(profile, stacks=tuple(stacks), totals=_totals_of(stacks, profile))


def _totals_of(stacks: Iterable[Stack], profile: Profile) -> tuple[int | None, ...]:
    """The stated totals of the functions that are still on stacks."""
    left: set[int] = set().union(*stacks) if profile.totals else set()
    return tuple(total if frame in left else None for frame, total in enumerate(profile.totals))


def _folded(stack: Stack, library: list[int]) -> Stack:
    # Flags as bytes of one number: moved by a byte, each meets that of the frame below it.
    flags = int.from_bytes(picked(stack, library), "big")
    inner = flags & flags >> 8
    return tuple(compress(stack, inner.to_bytes(len(stack), "big").translate(_OTHERS))) if inner else stack
