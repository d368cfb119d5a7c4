"""Which code is the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from profkit.model.profile import Frame
from profkit.transforms.origin import is_library_file

IsLibrary = Callable[[str], bool]
"""Asked about a frame's file."""


def library_test(own_file: str, frames: Iterable[Frame]) -> IsLibrary:
    """Whether a file is a library's, in a profile of these frames; `own_file`, the region's, never is.

    Machine code is a library's beside Python. Where there is no Python at all, it is what was profiled, and
    nothing is a library's. Answers are remembered, since every call in a tree is asked about.
    """
    beside_python = any(frame.file.endswith(".py") or frame.file.startswith("<") for frame in frames)

    @cache
    def is_library(file: str) -> bool:
        return beside_python and file != own_file and is_library_file(file)

    return is_library
