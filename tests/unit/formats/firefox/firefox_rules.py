"""What the Firefox Profiler's documentation asks of a processed profile of version 60, as checks.

After src/types/profile.ts and docs-developer/CHANGELOG-formats.md of github.com/firefox-devtools/profiler:
all columns of a table are as long as it says, indexes lie in their tables, callers come before callees,
times of samples never fall, one process has one main thread, and the categories have a grey one.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

Document = dict[str, Any]

COLUMNS = {
    "stackTable": {"frame", "prefix"},
    "frameTable": {
        "address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID",
        "line", "column",
    },
    "funcTable": {"name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber"},
    "resourceTable": {"lib", "name", "host", "type"},
    "nativeSymbols": {"libIndex", "address", "name", "functionSize"},
    "sources": {"uuid", "filename"},
    "markers": {"data", "name", "startTime", "endTime", "phase", "category"},
    "samples": {"stack", "time", "weight"},
}  # fmt: skip


def check_rules(document: Document) -> None:
    """Raises AssertionError for the first rule that is broken."""
    meta, shared, threads = document["meta"], document["shared"], document["threads"]
    _check_meta(meta, len(threads))
    _check_shared(shared, meta)
    for thread in threads:
        _check_thread(thread, shared["stackTable"]["length"])
    mains = Counter(thread["pid"] for thread in threads if thread["isMainThread"])
    assert mains == {thread["pid"]: 1 for thread in threads}


def _check_meta(meta: Document, threads: int) -> None:
    assert meta["preprocessedProfileVersion"] == 60
    assert meta["interval"] > 0
    assert {"startTime", "processType", "product", "stackwalk", "version", "markerSchema"} <= meta.keys()
    assert any(category["color"] == "grey" for category in meta["categories"])
    assert all(category["subcategories"][0] == "Other" for category in meta["categories"])
    for key in ("initialVisibleThreads", "initialSelectedThreads"):
        assert all(0 <= thread < threads for thread in meta[key])


def _check_shared(shared: Document, meta: Document) -> None:
    for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources"):
        _check_lengths(name, shared[name])
    strings = shared["stringArray"]
    assert len(set(strings)) == len(strings)
    stacks, frames, functions = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    _check_indexes(stacks["frame"], frames["length"])
    assert all(prefix is None or 0 <= prefix < node for node, prefix in enumerate(stacks["prefix"]))
    _check_indexes(frames["func"], functions["length"])
    _check_indexes(frames["category"], len(meta["categories"]))
    assert all(line is None or line > 0 for line in frames["line"])
    _check_indexes(functions["name"], len(strings))
    _check_indexes(
        [source for source in functions["source"] if source is not None], shared["sources"]["length"]
    )
    _check_indexes(shared["sources"]["filename"], len(strings))


def _check_thread(thread: Document, stacks: int) -> None:
    assert isinstance(thread["pid"], str)
    assert {"name", "tid", "processType", "registerTime", "unregisterTime", "pausedRanges"} <= thread.keys()
    samples = thread["samples"]
    _check_lengths("samples", {key: value for key, value in samples.items() if key != "weightType"})
    _check_lengths("markers", thread["markers"])
    assert samples["weightType"] in ("samples", "tracing-ms", "bytes")
    _check_indexes([stack for stack in samples["stack"] if stack is not None], stacks)
    assert samples["time"] == sorted(samples["time"])


def _check_lengths(name: str, table: Document) -> None:
    columns = {key: values for key, values in table.items() if key != "length"}
    assert columns.keys() == COLUMNS[name]
    assert {len(values) for values in columns.values()} == {table["length"]}, name


def _check_indexes(indexes: list[int], length: int) -> None:
    assert all(0 <= index < length for index in indexes)
