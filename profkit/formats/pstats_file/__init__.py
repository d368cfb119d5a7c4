"""The files of cProfile and profile: what `pstats` reads, `python -m cProfile -o FILE` and `dump_stats`.

They hold a marshalled dictionary (Lib/pstats.py): for each function its calls, its own time, its time
with callees, and what it took under each of its callers. So there is a call graph, which `callgraph`
unfolds into stacks in proportion; functions stand at their first line.
"""

from profkit.formats.pstats_file.reading import decode, origin_of, sniff

__all__ = ["decode", "origin_of", "sniff"]
