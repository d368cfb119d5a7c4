"""From profiles to what reports are made of: pure functions, nothing read or written.

Modules load when one of their names is used: profiled programs need few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from profkit.transforms.cut import RegionCut, cut_region, cut_regions
    from profkit.transforms.merge import merge_profiles
    from profkit.transforms.origin import is_library_file
    from profkit.transforms.tables import (
        FunctionRow,
        LineRow,
        ThreadRow,
        function_rows,
        line_rows,
        thread_rows,
    )
    from profkit.transforms.tree import call_tree, fold_frames
    from profkit.transforms.trim import keep_leaf_end, keep_threads

_HOMES = {
    "FunctionRow": "tables",
    "LineRow": "tables",
    "RegionCut": "cut",
    "ThreadRow": "tables",
    "call_tree": "tree",
    "cut_region": "cut",
    "cut_regions": "cut",
    "fold_frames": "tree",
    "function_rows": "tables",
    "is_library_file": "origin",
    "keep_leaf_end": "trim",
    "keep_threads": "trim",
    "line_rows": "tables",
    "merge_profiles": "merge",
    "thread_rows": "tables",
}

__all__ = [
    "FunctionRow",
    "LineRow",
    "RegionCut",
    "ThreadRow",
    "call_tree",
    "cut_region",
    "cut_regions",
    "fold_frames",
    "function_rows",
    "is_library_file",
    "keep_leaf_end",
    "keep_threads",
    "line_rows",
    "merge_profiles",
    "thread_rows",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
