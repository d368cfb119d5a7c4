"""speedscope's own format, https://www.speedscope.app/file-format-schema.json: written, and read of any tool.

A profile that profkit wrote comes back equal, stacks numbered by their first use, each once and none
unused, as those of a `ProfileBuilder` are. What the format has no field for stands in one member more,
see `exact`.
"""

from profkit.formats.speedscope.pyspy import read_speedscope
from profkit.formats.speedscope.reading import decode, origin_of, parse_thread_name, sniff
from profkit.formats.speedscope.writing import encode

__all__ = ["decode", "encode", "origin_of", "parse_thread_name", "read_speedscope", "sniff"]
