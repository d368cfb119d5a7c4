"""Resource points as the curves of the page's strip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from profkit.model.session import ResourcePoint

MOST_POINTS = 1500
"""More than a screen has pixels; a day of ticks has 86,400 points."""


def resource_curves(points: Sequence[ResourcePoint]) -> dict[str, list[float] | list[int]] | None:
    """CPU use, memory and threads over the seconds since the first point, None where there are none.

    `cpu_share` is that between two points (1 is one core), so it has one number less. Where points have
    been put together, memory and threads are their highest, and CPU use is that of the whole time.
    """
    kept = thinned(points, MOST_POINTS)
    if not kept:
        return None
    first = kept[0].at_ns
    return {
        "at_s": [round((point.at_ns - first) / 1e9, 3) for point in kept],
        "cpu_share": [round(_cpu_share(before, after), 4) for before, after in pairwise(kept)],
        "rss_bytes": [point.rss_bytes for point in kept],
        "threads": [point.threads for point in kept],
    }


def _cpu_share(before: ResourcePoint, after: ResourcePoint) -> float:
    elapsed_s = (after.at_ns - before.at_ns) / 1e9
    return max(0.0, (after.cpu_s - before.cpu_s) / elapsed_s) if elapsed_s > 0 else 0.0


def thinned(points: Sequence[ResourcePoint], most: int) -> tuple[ResourcePoint, ...]:
    """The first point, then one for each of at most `most - 1` groups of equal size."""
    if len(points) <= most:
        return tuple(points)
    size = -(-(len(points) - 1) // (most - 1))
    groups = (points[start : start + size] for start in range(1, len(points), size))
    return (points[0], *map(_together, groups))


def _together(group: Sequence[ResourcePoint]) -> ResourcePoint:
    """CPU time only grows, so that of the last point says how much was used since the group before."""
    rss_bytes, threads = max(point.rss_bytes for point in group), max(point.threads for point in group)
    return replace(group[-1], rss_bytes=rss_bytes, threads=threads)
