"""Profiles as gzipped pprof, https://github.com/google/pprof/blob/main/proto/profile.proto, without loss.

A sample is a stack in a thread, which stands as the labels `pid`, `tid` and `thread`; a location is a
frame. What pprof has no field for stands in a comment (unit, exact period, whether the order means anything),
in another one (stated totals, see `totals`) and in fields of profkit's own (the order itself, see `turns`).
Stacks and threads come back numbered by their first use, each once and none unused: the profiles of a
`ProfileBuilder` come back equal. Equal profiles give equal bytes.
"""

from profkit.formats.pprof.reading import decode
from profkit.formats.pprof.writing import encode

__all__ = ["decode", "encode"]
