"""speedscope's own format, https://www.speedscope.app/file-format-schema.json; files of any tool are read.

A profile that profkit wrote reads back equal if its stacks are numbered by their first use, each once and
none unused, as those of a `ProfileBuilder` are. Data without a field in the format is in one additional
member, see `exact`.
"""

from profkit.formats.speedscope.pyspy import read_speedscope
from profkit.formats.speedscope.reading import decode, origin_of, parse_thread_name, select, sniff
from profkit.formats.speedscope.writing import encode

__all__ = ["decode", "encode", "origin_of", "parse_thread_name", "read_speedscope", "select", "sniff"]
