"""Numbers to numbers, pure: durations in histograms, sampled shares, medians, comparisons of two samples."""

from __future__ import annotations

from profkit.stats.batches import batch_spread, phased_spread
from profkit.stats.histograms import histogram_of, merge_histograms, quantile_ns
from profkit.stats.holm import holm
from profkit.stats.order import median, median_interval, paired_ratio
from profkit.stats.ranks import mann_whitney, minimum_detectable_effect
from profkit.stats.shares import share_interval
from profkit.stats.shift import unpaired_ratio
from profkit.stats.student import t_quantile, t_two_sided

__all__ = [
    "batch_spread",
    "histogram_of",
    "holm",
    "mann_whitney",
    "median",
    "median_interval",
    "merge_histograms",
    "minimum_detectable_effect",
    "paired_ratio",
    "phased_spread",
    "quantile_ns",
    "share_interval",
    "t_quantile",
    "t_two_sided",
    "unpaired_ratio",
]
