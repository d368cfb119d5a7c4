"""Lossless gzipped pprof, https://github.com/google/pprof/blob/main/proto/profile.proto.

A sample is a stack in a thread, which is written as the labels `pid`, `tid` and `thread`; a location is a
frame. Samples of idle threads have the label `state=idle`. Data without a field in pprof is in a comment
(unit, exact period, whether the order of samples matters) and in others: stated totals, see
`schema.totals_comment`, and the order itself, see `turns`. Some readers reject unknown fields, but all pass
over comments; `go tool pprof` hides those that begin with `#`. Stacks and threads are read back numbered by
their first use, each once and none unused: profiles of a `ProfileBuilder` read back equal. Equal profiles
give equal bytes.
"""

from profkit.formats.pprof.reading import decode
from profkit.formats.pprof.writing import encode, encode_timed

__all__ = ["decode", "encode", "encode_timed"]
