"""What pyinstrument writes: the JSON of `-r json`, and its saved sessions (`.pyisession`, also JSON).

A session has every sample in order (pyinstrument 5, session.py); the JSON is the tree that its reports
show (renderers/jsonrenderer.py): processed, in microseconds, functions at their first line.
"""

from profkit.formats.pyinstrument.reading import decode, origin_of, sniff

__all__ = ["decode", "origin_of", "sniff"]
