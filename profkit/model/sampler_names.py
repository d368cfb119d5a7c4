"""Names that stand for a sampler in runs without samples. Decorating a function loads them, not `session`."""

CALLS_ONLY = "none"
"""Sampler that takes no samples."""
MEMRAY = "memray"
"""Tracker of memory, in the place of a sampler."""
