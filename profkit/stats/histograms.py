"""Operations on histograms of durations: creation, merging, quantiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from profkit.model.histogram import NO_DURATIONS, Histogram, bucket_bounds_ns, buckets_of


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
