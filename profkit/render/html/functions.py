"""Functions of a page, numbered across its runs, with their packages."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from profkit.model.profile import Frame
from profkit.render.escape import short
from profkit.render.formatting import short_path
from profkit.render.views.sampled import IsLibrary
from profkit.transforms.origin import is_native_file, package_of, standard_file
from profkit.transforms.trees import Functions

_LONGEST = 400
"""Maximum number of characters of a name; names of C++ templates can fill pages."""

_NO_NAME = "(no name)"
"""Replacement for a blank name, which a reader could not click."""
_NO_FILE = ("", "???")
"""File names that mean an unknown file; the second is Callgrind's."""
_Function = tuple[str, str]
"""Name and file."""
_ANY_LINE = -1


class FunctionTable:
    """Numbers for functions (name and file), in order of first use; short paths are relative to `cwd`."""

    def __init__(self, cwd: str, is_library: IsLibrary) -> None:
        self._cwd, self._is_library = cwd, is_library
        self._numbers: dict[tuple[str, str, int], int] = {}

    def keys(self, frames: Sequence[Frame], functions: Functions | None = None) -> list[int]:
        """Return the number of each frame's function; without `functions`, they differ by line."""
        numbers = self._numbers
        if functions is None:
            return [numbers.setdefault(frame, len(numbers)) for frame in frames]
        known = [numbers.setdefault((*function, _ANY_LINE), len(numbers)) for function in functions.keys]
        return list(map(known.__getitem__, functions.of))

    def functions(self) -> tuple[_Function, ...]:
        """Return all functions in the order of their numbers."""
        return tuple((name, file) for name, file, _ in self._numbers)

    def head(self, lines: Mapping[int, int]) -> dict[str, object]:
        """Return `functions` and `packages` of the page's head, with names made safe; `lines` by function."""
        packages: dict[tuple[str, str], int] = {}
        of_file: dict[str, int] = {}
        for _, file, _ in self._numbers:
            if file not in of_file:
                of_file[file] = packages.setdefault(self._package(file), len(packages))
        functions = {
            "name": [short(name, _LONGEST).strip() or _NO_NAME for name, _, _ in self._numbers],
            "file": [short(self._path(file), _LONGEST) for _, file, _ in self._numbers],
            "line": [lines.get(number, 0) for number in range(len(self._numbers))],
            "package": [of_file[file] for _, file, _ in self._numbers],
        }
        named = [{"name": short(name, _LONGEST), "kind": kind} for name, kind in packages]
        return {"functions": functions, "packages": named}

    def _path(self, file: str) -> str:
        path = short_path(file, self._cwd)
        # Native sources are shown without the folders where they were built.
        return standard_file(path) if is_native_file(file) else path

    def _package(self, file: str) -> tuple[str, str]:
        if file in _NO_FILE:
            return "", "none"
        path = self._path(file)
        if is_native_file(file):
            return package_of(path), "native"
        if self._is_library(file):
            return package_of(path), "library"
        # Outside the program's folder, the files of one folder count as a package.
        folder = posixpath.basename(posixpath.dirname(path)) if path.startswith("/") else ""
        return folder or package_of(path), "user"
