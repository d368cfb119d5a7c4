"""Frames and stacks out of the tables of any version since 2019.

Versions differ in where the tables are – each thread has its own, since 60 they share them – and in a few
columns: a stack's caller as its number, since 66 as how far back it is, 0 for none; a function's file as a
string, since 58 as a source; since 75 a function's flags say which of its columns mean something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from profkit.formats.json_members import column, member, whole
from profkit.formats.limits import Budget
from profkit.model.profile import Frame

_HAS_SOURCE = 8
"""Of a function's flags."""


class StackTable:
    """Stacks by the number of their innermost node, each walked once."""

    def __init__(self, holder: object, where: str, frame_count: int, budget: Budget) -> None:
        table = member(holder, where, "stackTable", dict)
        length = member(table, "stackTable", "length", int)
        self._frames = [whole(n, "stackTable.frame") for n in column(table, "stackTable", "frame", length)]
        if any(not 0 <= frame < frame_count for frame in self._frames):
            raise ValueError("stackTable.frame has a frame that frameTable lacks")
        self._prefixes = _prefixes(table, length)
        self._known: dict[int, tuple[int, ...]] = {}
        self._budget = budget

    def stack(self, node: object, where: str) -> tuple[int, ...]:
        """Frame numbers, root first; none for null. Raises ValueError, naming `where`, for other values."""
        if node is None:
            return ()
        if not isinstance(node, int) or not 0 <= node < len(self._frames):
            raise ValueError(f"{where} has a stack {node!r} that stackTable lacks")
        found = self._known.get(node)
        if found is None:
            path = []
            at = node
            while at >= 0:
                path.append(self._frames[at])
                at = self._prefixes[at]
            self._budget.check_depth(len(path))
            found = self._known[node] = tuple(reversed(path))
        return found


def frames_of(holder: object, where: str, strings: Sequence[object], sources: object) -> list[Frame]:
    """The frames of frameTable, in its order; `sources` is the table of files, where there is one."""
    functions = _functions(member(holder, where, "funcTable", dict), strings, sources)
    table = member(holder, where, "frameTable", dict)
    length = member(table, "frameTable", "length", int)
    lines = column(table, "frameTable", "line", length)
    frames = []
    for function, line in zip(column(table, "frameTable", "func", length), lines, strict=True):
        if not isinstance(function, int) or not 0 <= function < len(functions):
            raise ValueError(f"frameTable.func has {function!r}, which funcTable lacks")
        name, file = functions[function]
        frames.append(Frame(name, file, whole(line, "frameTable.line")))
    return frames


def _functions(
    table: Mapping[str, object], strings: Sequence[object], sources: object
) -> list[tuple[str, str]]:
    """Name and file of each function."""
    length = member(table, "funcTable", "length", int)
    names = [_string(strings, n, "funcTable.name") for n in column(table, "funcTable", "name", length)]
    if "source" not in table:
        listed = column(table, "funcTable", "fileName", length)
        return list(zip(names, (_string(strings, n, "funcTable.fileName") for n in listed), strict=True))
    files = [_string(strings, n, "sources.filename") for n in member(sources, "sources", "filename", list)]
    flags = column(table, "funcTable", "flags", length) if "flags" in table else [_HAS_SOURCE] * length
    found = []
    for source, flag in zip(column(table, "funcTable", "source", length), flags, strict=True):
        has_source = source is not None and whole(flag, "funcTable.flags") & _HAS_SOURCE
        found.append(_string(files, source, "funcTable.source") if has_source else "")
    return list(zip(names, found, strict=True))


def _prefixes(table: Mapping[str, object], length: int) -> list[int]:
    """The caller's node of each node, -1 for none; callers come first, so walks end."""
    if "prefixOffset" in table:
        offsets = column(table, "stackTable", "prefixOffset", length)
        whole_offsets = (whole(offset, "stackTable.prefixOffset") for offset in offsets)
        prefixes = [node - offset if offset else -1 for node, offset in enumerate(whole_offsets)]
    else:
        listed = column(table, "stackTable", "prefix", length)
        prefixes = [-1 if prefix is None else whole(prefix, "stackTable.prefix") for prefix in listed]
    if any(not -1 <= prefix < node for node, prefix in enumerate(prefixes)):
        raise ValueError("stackTable has a stack whose caller does not come before it")
    return prefixes


def _string(strings: Sequence[object], place: object, where: str) -> str:
    """The string of that number; empty for null."""
    if place is None:
        return ""
    if not isinstance(place, int) or not 0 <= place < len(strings):
        raise ValueError(f"{where} has {place!r}, which is not there")
    text = strings[place]
    if not isinstance(text, str):
        raise ValueError(f"{where} has {place!r}, which is no text")
    return text
