"""What a process used through a session, summed up from its resource points."""

from __future__ import annotations

from dataclasses import dataclass

from profkit.model.session import ResourcePoint


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU use (1.0 is one core; None for less than two points), and peaks of memory and threads."""

    cpu_share: float | None
    peak_rss_bytes: int
    peak_threads: int


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
