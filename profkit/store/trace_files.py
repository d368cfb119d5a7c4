"""Names of the traces of torch.profiler in a session's folder: `trace-REGION-NNN.json`."""

from __future__ import annotations

import re

UNFINISHED_TRACE = ".new"
"""Suffix of a trace while it is being written."""
LARGEST_TRACE_BYTES = 2**30
_NAME = re.compile(r"trace-([0-9a-f]+)-(\d{3,})\.json(?:\.new)?")


def trace_name(region_id: str, number: int) -> str:
    """Return the file name of a region's trace."""
    return f"trace-{region_id}-{number:03d}.json"


def is_trace_file(name: str) -> bool:
    """Return whether this is the name of a trace, finished or not."""
    return _NAME.fullmatch(name) is not None


def region_of(name: str) -> str | None:
    """Return the id of the region whose trace is in a finished file; None for other files."""
    found = _NAME.fullmatch(name)
    return None if found is None or name.endswith(UNFINISHED_TRACE) else found[1]
