"""Identity of functions across samplers, Pythons and environments; `origin` drops what a build adds.

Comparing and merging match functions by it; runs are kept and exported with the names and paths that they
were recorded with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from profkit.model.profile import Frame, Profile
from profkit.transforms.origin import (
    ANY_CELL,
    from_import_root,
    is_cell,
    is_native_file,
    standard_file,
    standard_function,
    standard_object,
    whole_function,
)

_INTERPRETER = re.compile(r"(?:^|/)(?:lib)?python\d[\d.]*[dt]*(?:\.so[\d.]*)?$")
_PYTHON = "python"
_FROZEN = re.compile(r"<frozen (.+)>")
_MODULE = re.compile(r"(?:/__init__)?\.pyc?$")
_SHARED_OBJECT = re.compile(r"\.so(?:\.\d+)*$")
_SYSTEM = re.compile(r"/(?:usr/)?(?:local/)?lib(?:32|64|x32)?/")
_OF_LIBRARY = re.compile(r"\[(.+)\]")
_COMPREHENSION = re.compile(r"(?:^|\.)<(?:list|set|dict)comp>(?=\.|$)")
_WITHOUT_FUNCTION = ("<listcomp>", "<setcomp>", "<dictcomp>")
"""Comprehensions of a module, or of any function if a tool does not record qualified names."""
_LOCALS = ".<locals>"
_MODULE_FRAME = "<module>"

SHIM = ("__init__", "__init__")
"""Name and file of the frame that CPython 3.12 and later put between a call of a class and its `__init__`."""


def file_identity(file: str) -> str:
    """Return a name for a library's file that is the same in every environment; other files unchanged.

    A frozen module has the identity of its source file, a shared object has no build tags, and sources of
    machine code have no build folder. The interpreter and its shared library have one identity, and so have
    all cells of notebooks.
    """
    if is_cell(file):
        return ANY_CELL
    if frozen := _FROZEN.fullmatch(file):
        return frozen[1].replace(".", "/")
    if _INTERPRETER.search(file):
        return _PYTHON
    if not is_native_file(file):
        imported = from_import_root(file)
        return file if imported == file else _MODULE.sub("", imported)
    return _shared_object(file) if _SHARED_OBJECT.search(file) else standard_file(file)


def _shared_object(file: str) -> str:
    """Return a shared object's place within packages, if it is in one, without build tags."""
    imported = from_import_root(file)
    if imported == file and _SYSTEM.match(file):
        return standard_object(file)
    folder, slash, _ = imported.rpartition("/")
    return f"{folder}{slash}{standard_object(file)}"


@cache
def is_machine_code(file: str) -> bool:
    """Return whether a frame of this file is machine code, including that of the interpreter."""
    return is_native_file(file) or _INTERPRETER.search(file) is not None


@cache
def machine_name(name: str) -> str:
    """Return the name of a machine function without what depends on its build.

    Code of a library without symbols is `[library]`, as `simplify.fold_addresses` names it.
    """
    if library := _OF_LIBRARY.fullmatch(name):
        return f"[{_PYTHON if _INTERPRETER.search(library[1]) else standard_object(library[1])}]"
    return standard_function(name)


def is_comprehension(name: str) -> bool:
    """Return whether a function is a list, set or dict comprehension, as they were before Python 3.12."""
    return name.endswith("comp>") and _COMPREHENSION.search(name) is not None


def without_comprehensions(name: str) -> str:
    """Return a qualified name as since Python 3.12: a comprehension's is that of the function around it."""
    if "comp>" not in name:
        return name
    inlined = _COMPREHENSION.sub("", name).removeprefix(".").removesuffix(_LOCALS)
    return inlined or _MODULE_FRAME


def has_comprehensions(profile: Profile) -> bool:
    """Return whether a profile has comprehensions as functions of their own."""
    return any(is_comprehension(frame.name) for frame in profile.frames)


def with_identities(profile: Profile, path_in: Callable[[str], str], *, inline: bool = False) -> Profile:
    """Return the profile with names of functions that compare, and files as `path_in` names them.

    A part of a machine function is one call with the function that it belongs to. With `inline`, so are a
    comprehension and the function around it. Frames of `SHIM` are left out.
    """
    names = set(map(itemgetter(1), profile.frames))
    files = {file: _File(path_in(file), is_machine_code(file)) for file in names}
    roles = _Roles(
        parts=frozenset(_parts(profile.frames, files, inline)),
        shims=frozenset(_shims(profile.frames, files)),
    )
    frames = _named(profile.frames, files, inline)
    if not roles.parts and not roles.shims:
        return profile if frames == profile.frames else replace(profile, frames=frames)
    joined = _Joined(profile.frames, frames, roles)
    return replace(profile, frames=frames, stacks=tuple(map(joined.stack, profile.stacks)))


class _File(NamedTuple):
    path: str
    """As the returned profile has it."""
    is_machine: bool


def _named(frames: Iterable[Frame], files: Mapping[str, _File], inline: bool) -> tuple[Frame, ...]:
    """Return the frames with other names and files; those without a difference are the same objects."""
    changed = {file for file, (path, is_machine) in files.items() if inline or is_machine or path != file}
    if not changed:
        return tuple(frames)
    named = []
    for frame in frames:
        name, file, line = frame
        if file not in changed:
            named.append(frame)
            continue
        path, is_machine = files[file]
        if is_machine:
            name = machine_name(name)
        elif inline:
            name = without_comprehensions(name)
        named.append(frame if path == file and name == frame.name else Frame(name, path, line))
    return tuple(named)


class _Roles(NamedTuple):
    """Frames that are not calls of their own, by number."""

    parts: frozenset[int]
    """Parts of the function that calls them."""
    shims: frozenset[int]


def _parts(frames: Iterable[Frame], files: Mapping[str, _File], inline: bool) -> Iterator[int]:
    if not inline and not any(file.is_machine for file in files.values()):
        return
    for number, (name, file, _) in enumerate(frames):
        if files[file].is_machine:
            if whole_function(name) != name:
                yield number
        elif inline and is_comprehension(name):
            yield number


def _shims(frames: Iterable[Frame], files: Mapping[str, _File]) -> Iterator[int]:
    if SHIM[1] in files:
        yield from (number for number, frame in enumerate(frames) if frame[:2] == SHIM)


@dataclass(frozen=True, slots=True)
class _Joined:
    """Stacks in which a part of a function is one frame with its caller."""

    before: Sequence[Frame]
    after: Sequence[Frame]
    roles: _Roles

    def stack(self, stack: tuple[int, ...]) -> tuple[int, ...]:
        parts, shims = self.roles
        if parts.isdisjoint(stack) and shims.isdisjoint(stack):
            return stack
        kept: list[int] = []
        for frame in stack:
            if frame in parts and kept and self._is_of(kept[-1], frame):
                # The part has the executing line, if it is named after its function.
                kept[-1] = frame if self.after[kept[-1]][:2] == self.after[frame][:2] else kept[-1]
            elif frame not in shims:
                kept.append(frame)
        return tuple(kept)

    def _is_of(self, caller: int, part: int) -> bool:
        """Return whether the caller is the part's function, or another part of it."""
        if self.before[part].name in _WITHOUT_FUNCTION:
            return self.after[caller].file == self.after[part].file
        same = self.after[caller][:2] == self.after[part][:2]
        return same and self.before[caller].name != self.before[part].name  # otherwise it recurses
