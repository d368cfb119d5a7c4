"""A Firefox profile of version 60 as other versions of the format have it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Document = dict[str, Any]


def as_version_75(document: Document) -> Document:
    """Callers as distances, and flags that say which columns of a table mean something."""
    changed = deepcopy(document)
    changed["meta"]["preprocessedProfileVersion"] = 75
    shared = changed["shared"]
    frames, functions, stacks = shared["frameTable"], shared["funcTable"], shared["stackTable"]
    prefixes = stacks.pop("prefix")
    stacks["prefixOffset"] = [0 if prefix is None else node - prefix for node, prefix in enumerate(prefixes)]
    _make_flags(frames, {"category": 4, "line": 16}, ("address", "nativeSymbol", "innerWindowID", "column"))
    frames |= {"lib": [0] * frames["length"], "originalLocation": [0] * frames["length"]}
    del frames["inlineDepth"]
    _make_flags(functions, {"source": 8}, ("resource", "lineNumber", "columnNumber"))
    functions["originalLocation"] = [0] * functions["length"]
    del functions["isJS"], functions["relevantForJS"]
    sources = shared["sources"]
    sources["id"] = sources.pop("uuid")
    nothing = [None] * sources["length"]
    sources |= {"startLine": [1] * sources["length"], "startColumn": [1] * sources["length"]}
    sources |= {"sourceMapURL": nothing, "content": nothing}
    shared["sourceLocationTable"] = {"length": 0, "source": [], "line": [], "column": []}
    return changed


def as_version_48(document: Document) -> Document:
    """Each thread has tables and strings of its own, files are strings, and stacks have a category."""
    changed = deepcopy(document)
    changed["meta"]["preprocessedProfileVersion"] = 48
    shared = changed.pop("shared")
    sources = shared.pop("sources")
    functions, frames, stacks = shared["funcTable"], shared["frameTable"], shared["stackTable"]
    files = functions.pop("source")
    functions["fileName"] = [None if file is None else sources["filename"][file] for file in files]
    frames["implementation"] = [None] * frames["length"]
    stacks["category"] = [frames["category"][frame] for frame in stacks["frame"]]
    stacks["subcategory"] = [0] * stacks["length"]
    for thread in changed["threads"]:
        thread |= deepcopy(shared)
    return changed


def _make_flags(table: Document, flags: dict[str, int], unset: tuple[str, ...]) -> None:
    """Columns with a flag where they mean something, and 0 where not, as those of `unset` never do."""
    table["flags"] = [
        sum(flag for column, flag in flags.items() if table[column][row] is not None)
        for row in range(table["length"])
    ]
    for column in (*flags, *unset):
        table[column] = [0 if column in unset else value or 0 for value in table[column]]
