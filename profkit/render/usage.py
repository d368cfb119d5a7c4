"""What a process used through a session, summed up from its resource points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from profkit.model.session import ResourcePoint


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU use (1.0 is one core; None for less than two points), and peaks of memory and threads."""

    cpu_share: float | None
    peak_rss_bytes: int
    peak_threads: int


def cpu_shares(points: Sequence[ResourcePoint]) -> list[float]:
    """CPU use between each point and the next; 1.0 is one core."""
    return [
        (after.cpu_s - before.cpu_s) * 1e9 / (after.at_ns - before.at_ns)
        for before, after in pairwise(points)
        if after.at_ns > before.at_ns
    ]


def usage(points: tuple[ResourcePoint, ...]) -> Usage | None:
    """The sum of a session's resource points, None where there are none."""
    if not points:
        return None
    first, last = points[0], points[-1]
    elapsed_s = (last.at_ns - first.at_ns) / 1e9
    return Usage(
        cpu_share=(last.cpu_s - first.cpu_s) / elapsed_s if elapsed_s > 0 else None,
        peak_rss_bytes=max(point.rss_bytes for point in points),
        peak_threads=max(point.threads for point in points),
    )
