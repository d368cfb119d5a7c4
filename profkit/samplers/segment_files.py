"""Where a sampler leaves a segment in its session's folder; the spool counts on these names."""

from __future__ import annotations

from pathlib import Path

LARGEST_OUTPUT_BYTES = 2**30
"""Size of the largest output that is read."""
LARGEST_LOG_BYTES = 16 * 2**20


def output_name(index: int) -> str:
    """Return the name of the file with the samples of a segment."""
    return f"segment-{index:03d}.speedscope.json"


def log_name(index: int) -> str:
    """Return the name of the sampler's log of a segment."""
    return f"segment-{index:03d}.log"


def output_path(folder: Path, index: int) -> Path:
    """The samples of a segment."""
    return folder.absolute() / output_name(index)


def log_path(folder: Path, index: int) -> Path:
    """The sampler's own words about a segment."""
    return folder.absolute() / log_name(index)
