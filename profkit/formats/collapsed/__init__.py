"""Collapsed stacks: a line for each stack, its frames root first between `;`, and how often it was seen.

The format of Brendan Gregg's FlameGraph, https://github.com/brendangregg/FlameGraph, which most viewers
read. Frames stand as py-spy writes them, `name (file:line)`; the thread is the first frame,
`thread (TID): NAME`, below `process PID:"COMMAND"` where there are several processes. So what
`py-spy record -f raw` wrote reads as threads.

Equal stacks of a thread are one line, so the order of samples is lost, and with it the unit, the period
and the process of a profile of only one. What a line cannot hold stands as an escape: see `escapes`.
"""

from profkit.formats.collapsed.reading import decode, origin_of, sniff
from profkit.formats.collapsed.writing import encode

__all__ = ["decode", "encode", "origin_of", "sniff"]
