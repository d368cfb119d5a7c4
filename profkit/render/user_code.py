"""Which code is the user's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

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
