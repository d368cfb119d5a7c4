"""The tables that all threads of a written profile share: strings, functions, frames and stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from profkit.formats.firefox.schema import LIBRARY, NATIVE, OTHER, USER
from profkit.formats.pprof.spelling import spell
from profkit.model.profile import Frame, Profile
from profkit.transforms.origin import is_library_file, is_native_file
from profkit.transforms.trees import sort_stacks

Table = Mapping[str, object]


class StackTree(NamedTuple):
    """Nodes in which callers come before callees, and where each stack of the profile ends."""

    frames: list[int]
    prefixes: list[int | None]
    leaves: list[int | None]
    """By the stack's index; None for the empty stack and for those that no sample has."""


class _Strings:
    """Each string once, spelled as JSON's readers agree on."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(spell(text), len(self._numbers))

    def all(self) -> list[str]:
        return list(self._numbers)


def shared_tables(frames: Sequence[Frame], tree: StackTree) -> Table:
    """The member `shared`: the profile's frames keep their numbers."""
    strings = _Strings()
    functions: dict[tuple[str, str], int] = {}
    of_frames = [functions.setdefault((frame.name, frame.file), len(functions)) for frame in frames]
    files = {file: n for n, file in enumerate(dict.fromkeys(file for _, file in functions if file))}
    return {
        "stackTable": _table(len(tree.frames), frame=tree.frames, prefix=tree.prefixes),
        "frameTable": _frame_table(frames, of_frames),
        "funcTable": _table(
            len(functions),
            name=[strings.number(name) for name, _ in functions],
            source=[files.get(file) for _, file in functions],
            isJS=[False] * len(functions),
            relevantForJS=[False] * len(functions),
            resource=[-1] * len(functions),
            lineNumber=[None] * len(functions),
            columnNumber=[None] * len(functions),
        ),
        "sources": _table(
            len(files), uuid=[None] * len(files), filename=[strings.number(file) for file in files]
        ),
        "resourceTable": _table(0, lib=[], name=[], host=[], type=[]),
        "nativeSymbols": _table(0, libIndex=[], address=[], name=[], functionSize=[]),
        "stringArray": strings.all(),
    }


def stack_tree(profile: Profile) -> StackTree:
    """The stacks of the profile's samples as one tree, which is as small as a tree of them can be."""
    in_order = sort_stacks(profile, range(len(profile.frames)))
    tree = StackTree([], [], [])
    path: list[int] = []
    leaves: list[int | None] = []
    for stack, shared in zip(in_order.stacks, in_order.shared, strict=True):
        del path[shared:]
        for frame in stack[shared:]:
            tree.prefixes.append(path[-1] if path else None)
            path.append(len(tree.frames))
            tree.frames.append(frame)
        leaves.append(path[-1] if path else None)
    tree.leaves.extend(leaves[place] if place >= 0 else None for place in in_order.places)
    return tree


def _frame_table(frames: Sequence[Frame], functions: Sequence[int]) -> Table:
    count = len(frames)
    return _table(
        count,
        func=functions,
        line=[frame.line or None for frame in frames],
        category=[_category(frame.file) for frame in frames],
        subcategory=[0] * count,
        column=[None] * count,
        address=[-1] * count,
        inlineDepth=[0] * count,
        nativeSymbol=[None] * count,
        innerWindowID=[None] * count,
    )


def _category(file: str) -> int:
    if not file:
        return OTHER
    return NATIVE if is_native_file(file) else LIBRARY if is_library_file(file) else USER


def _table(length: int, **columns: Sequence[object]) -> Table:
    return {"length": length, **columns}
