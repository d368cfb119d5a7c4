"""Chrome traces, the JSON that chrome://tracing, Perfetto and many tracers share.

The format is described in "Trace Event Format" (Google, 2016,
https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): a list of events, each
with its phase `ph`, or an object that holds one as `traceEvents`. Durations are pairs of B and E, or single
X; M names threads; `samples` point into `stackFrames`, which Perfetto passes over.
"""

from profkit.formats.chrome_trace.reading import decode, origin_of, sniff
from profkit.formats.chrome_trace.writing import encode

__all__ = ["decode", "encode", "origin_of", "sniff"]
