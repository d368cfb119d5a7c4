"""Chrome traces, the JSON of chrome://tracing, Perfetto and many tracers.

The format is described in "Trace Event Format" (Google, 2016,
https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): a list of events, each with
its phase `ph`, or an object with such a list as `traceEvents`. Durations are pairs of B and E, or single X; M
names threads; `samples` refer to `stackFrames`, which Perfetto ignores.
"""

from profkit.formats.chrome_trace.reading import decode, origin_of, sniff
from profkit.formats.chrome_trace.writing import encode

__all__ = ["decode", "encode", "origin_of", "sniff"]
