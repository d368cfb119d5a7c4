"""Pure statistics: histograms of durations, sampled shares, medians, comparisons of two samples."""

from __future__ import annotations

from profkit.stats.histograms import histogram_of, merge_histograms, quantile_ns
from profkit.stats.means import batch_spread, phased_spread, share_interval, t_quantile, t_two_sided
from profkit.stats.ranks import (
    holm,
    mann_whitney,
    median,
    median_interval,
    minimum_detectable_effect,
    paired_ratio,
    unpaired_ratio,
)

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
