"""Where a sampler leaves a segment in its session's folder; the spool counts on these names."""

from __future__ import annotations

from pathlib import Path


def output_path(folder: Path, index: int) -> Path:
    """The samples of a segment."""
    return folder.absolute() / f"segment-{index:03d}.speedscope.json"


def log_path(folder: Path, index: int) -> Path:
    """The sampler's own words about a segment."""
    return folder.absolute() / f"segment-{index:03d}.log"
