"""From profiles to what reports are made of: pure functions, nothing read or written."""

from profkit.transforms.cut import RegionCut, cut_region, cut_regions
from profkit.transforms.merge import merge_profiles
from profkit.transforms.origin import is_library_file
from profkit.transforms.tables import FunctionRow, LineRow, ThreadRow, function_rows, line_rows, thread_rows
from profkit.transforms.tree import call_tree, fold_frames
from profkit.transforms.trim import keep_leaf_end, keep_threads

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
