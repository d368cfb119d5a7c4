"""Histograms of durations in logarithmic buckets: within 12.5 %, a fixed size for any number of calls.

Each power of two is divided into eight buckets, as in HdrHistogram (Gil Tene): durations are known to within
12.5 %. Count, sum, minimum and maximum are exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_SUB_BITS = 3


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts per bucket, `(bucket, count)` in ascending order; all durations are in nanoseconds."""

    buckets: tuple[tuple[int, int], ...] = ()
    count: int = 0
    sum_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0


NO_DURATIONS = Histogram()


def bucket_of(duration_ns: int) -> int:
    """Return the bucket that holds a duration; durations below 8 ns have a bucket each."""
    return buckets_of((duration_ns,))[0]


def buckets_of(durations_ns: Iterable[int]) -> list[int]:
    """Return the bucket of each duration; separate calls of `bucket_of` would take half as long again."""
    return [
        duration_ns
        if (extra := duration_ns.bit_length() - _SUB_BITS - 1) <= 0
        else (extra << _SUB_BITS) + (duration_ns >> extra)
        for duration_ns in durations_ns
    ]


def bucket_bounds_ns(bucket: int) -> tuple[int, int]:
    """Return the smallest duration of a bucket and the smallest of the next."""
    return _lower_ns(bucket), _lower_ns(bucket + 1)


def _lower_ns(bucket: int) -> int:
    size = 1 << _SUB_BITS
    if bucket < 2 * size:
        return bucket
    extra = (bucket >> _SUB_BITS) - 1
    return (bucket - (extra << _SUB_BITS)) << extra


LARGEST_BUCKET = bucket_of(2**63 - 1)
"""Bucket of a duration of 292 years: a file with a larger one is damaged."""


def histogram_of(durations_ns: Iterable[int]) -> Histogram:
    """Return the histogram of durations; raises ValueError for a negative one."""
    durations = tuple(durations_ns)
    if not durations:
        return NO_DURATIONS
    smallest = min(durations)
    if smallest < 0:
        raise ValueError(f"a duration cannot be {smallest} ns")
    buckets = Counter(buckets_of(durations))
    return Histogram(
        buckets=tuple(sorted(buckets.items())),
        count=len(durations),
        sum_ns=sum(durations),
        min_ns=smallest,
        max_ns=max(durations),
    )


def merge_histograms(histograms: Iterable[Histogram]) -> Histogram:
    """Return the histogram of the durations of all histograms."""
    filled = [histogram for histogram in histograms if histogram.count]
    if not filled:
        return NO_DURATIONS
    buckets: Counter[int] = Counter()
    for histogram in filled:
        buckets.update(dict(histogram.buckets))
    return Histogram(
        buckets=tuple(sorted(buckets.items())),
        count=sum(histogram.count for histogram in filled),
        sum_ns=sum(histogram.sum_ns for histogram in filled),
        min_ns=min(histogram.min_ns for histogram in filled),
        max_ns=max(histogram.max_ns for histogram in filled),
    )


def quantile_ns(histogram: Histogram, q: float) -> float:
    """Return the duration that a share `q` of all durations does not exceed, to within a bucket (12.5 %).

    Durations are assumed to be uniform within their bucket; the minimum and maximum are exact. Raises
    ValueError for an empty histogram, or a `q` outside [0, 1].
    """
    if not histogram.count or not 0 <= q <= 1:
        raise ValueError(f"there is no quantile {q} of {histogram.count} durations")
    below, rank = 0, q * histogram.count
    value = float(histogram.max_ns)
    for bucket, count in histogram.buckets:
        if below + count >= rank:
            first, after = bucket_bounds_ns(bucket)
            value = first + (after - 1 - first) * (rank - below) / count
            break
        below += count
    return min(max(value, float(histogram.min_ns)), float(histogram.max_ns))
