"""What Callgrind counted, read from `callgrind.out` directly: the numbers of `callgrind_annotate`, sooner.

The format: Valgrind manual, "Callgrind Format Specification",
https://valgrind.org/docs/manual/cl-format.html. Rows are named as `callgrind_annotate` names them.
"""

from profkit.formats.callgrind.reading import parse_callgrind, read_callgrind

__all__ = ["parse_callgrind", "read_callgrind"]
