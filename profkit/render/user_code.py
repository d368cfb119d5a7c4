"""Which code is the user's own, and profiles in which library calls count for the line that makes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from profkit.model.profile import Profile
from profkit.transforms.origin import is_library_file

IsLibrary = Callable[[str], bool]
"""Asked about a frame's file."""


def library_test(own_file: str) -> IsLibrary:
    """Whether a file is a library's; the file of the region itself never is, wherever it lies.

    Answers are remembered, since every call in a tree is asked about.
    """

    @cache
    def is_library(file: str) -> bool:
        return file != own_file and is_library_file(file)

    return is_library


def charge_callers(profile: Profile, is_library: IsLibrary) -> Profile:
    """The profile without library frames; a stack that has no other frames stays as it is."""
    users = [not is_library(frame.file) for frame in profile.frames]
    stacks = (tuple(frame for frame in stack if users[frame]) or stack for stack in profile.stacks)
    return replace(profile, stacks=tuple(stacks))
