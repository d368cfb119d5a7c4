"""Functions of a page, numbered across its runs, with their packages and the weights of their lines."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from profkit.model.profile import Frame, Profile
from profkit.render.escape import short
from profkit.render.formatting import short_path
from profkit.render.views.sampled import IsLibrary
from profkit.transforms.origin import is_native_file, package_of, standard_file
from profkit.transforms.trees import picked, stack_weights


class LineWeights(NamedTuple):
    """Weights of a line of a function, which is given by its number; line 0 if the line is unknown."""

    function: int
    line: int
    own: int
    total: int
    waiting: int = 0
    """Part of `own` in which the thread waited."""


def line_weights(
    profile: Profile, keys: Sequence[int], waiting: Collection[int] = ()
) -> tuple[LineWeights, ...]:
    """Return all lines with samples or a stated total, sorted; frame n belongs to function `keys[n]`.

    `waiting` has the indexes of the stacks of waiting threads.
    """
    numbers: dict[tuple[int, int], int] = {}
    of_frame = [
        numbers.setdefault((key, frame.line), len(numbers))
        for key, frame in zip(keys, profile.frames, strict=True)
    ]
    own, total, waits = ([0] * len(numbers) for _ in range(3))
    weights = stack_weights(profile)
    for stack in waiting:
        waits[of_frame[profile.stacks[stack][-1]]] += weights.get(stack, 0)
    for weight, stacks in _by_weight(profile, weights).items():
        for number, times in Counter(of_frame[stack[-1]] for stack in stacks).items():
            own[number] += weight * times
        once = (set(picked(stack, of_frame)) for stack in stacks)
        for number, times in Counter(chain.from_iterable(once)).items():
            total[number] += weight * times
    for number, stated in zip(of_frame, profile.totals, strict=False):
        total[number] = total[number] if stated is None else stated
    lines = (
        LineWeights(*place, own[number], total[number], waits[number]) for place, number in numbers.items()
    )
    return tuple(sorted(line for line in lines if line.total))


def _by_weight(profile: Profile, weights: Mapping[int, int]) -> dict[int, list[tuple[int, ...]]]:
    """Group nonempty stacks by weight: stacks of equal weight can be counted, which is fast."""
    stacks: dict[int, list[tuple[int, ...]]] = {}
    for number, weight in weights.items():
        if profile.stacks[number]:
            stacks.setdefault(weight, []).append(profile.stacks[number])
    return stacks


def heaviest_lines(lines: Sequence[LineWeights]) -> dict[int, list[LineWeights]]:
    """Return each function's lines, heaviest first; functions are ordered by their heaviest line."""
    by_function: dict[int, list[LineWeights]] = {}
    for line in sorted(lines, key=lambda line: (-line.total, line)):
        by_function.setdefault(line.function, []).append(line)
    return by_function


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

    def keys(self, frames: Sequence[Frame], *, by_line: bool = False) -> list[int]:
        """Return the number of each frame's function; `by_line` as in `number_functions`."""
        numbers = self._numbers
        if by_line:
            return [numbers.setdefault(frame, len(numbers)) for frame in frames]
        return [numbers.setdefault((name, file, _ANY_LINE), len(numbers)) for name, file, _ in frames]

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
