"""A Firefox profile of version 60 as other versions of the format have it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Document = dict[str, Any]


def prefix_offsets(document: Document) -> Document:
    """As of version 75: callers as distances, and flags that say which columns of a table mean something."""
    changed = deepcopy(document)
    changed["meta"]["preprocessedProfileVersion"] = 75
    shared = changed["shared"]
    prefixes = shared["stackTable"].pop("prefix")
    shared["stackTable"]["prefixOffset"] = [
        0 if prefix is None else node - prefix for node, prefix in enumerate(prefixes)
    ]
    frames, functions = shared["frameTable"], shared["funcTable"]
    frames["flags"] = [4 + 16 * (line is not None) for line in frames["line"]]
    frames["line"] = [line or 0 for line in frames["line"]]
    functions["flags"] = [8 * (source is not None) for source in functions["source"]]
    functions["source"] = [source or 0 for source in functions["source"]]
    del functions["isJS"], functions["relevantForJS"], frames["inlineDepth"]
    return changed


def per_thread_tables(document: Document) -> Document:
    """As of version 48: each thread has tables and strings of its own, and files are strings."""
    changed = deepcopy(document)
    changed["meta"]["preprocessedProfileVersion"] = 48
    shared = changed.pop("shared")
    sources = shared.pop("sources")
    functions = shared["funcTable"]
    files = functions.pop("source")
    functions["fileName"] = [None if file is None else sources["filename"][file] for file in files]
    for thread in changed["threads"]:
        thread |= deepcopy(shared)
        thread["pid"] = int(thread["pid"])
    return changed
