"""Profiles of the Firefox Profiler, https://profiler.firefox.com, in its "processed" format.

Its documentation is the type definitions in src/types/profile.ts of github.com/firefox-devtools/profiler, and
docs-developer/CHANGELOG-formats.md there. A profile is tables whose columns are lists of equal length; a
stack is a node of a tree, with a frame and its caller's node. A profile that profkit wrote reads back equal
if its stacks are numbered by their first use, each once and none unused. Data without a field in the format
is in one additional member of `meta`, see `exact`.
"""

from profkit.formats.firefox.reading import decode, origin_of, sniff
from profkit.formats.firefox.writing import encode

__all__ = ["decode", "encode", "origin_of", "sniff"]
