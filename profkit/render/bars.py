"""Bars and tiny histograms out of block characters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from profkit.model.histogram import Histogram

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEVELS = " ▁▂▃▄▅▆▇█"


def bar(part: float, cells: int) -> str:
    """A horizontal bar for a part of 1, exact to an eighth of a cell; anything above 0 shows."""
    eighths = min(cells * 8, max(round(part * cells * 8), 1 if part > 0 else 0))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def columns(histogram: Histogram, cells: int) -> str:
    """The distribution of durations in at most `cells` columns, from the shortest to the longest.

    The scale of durations is logarithmic, that of the columns' heights linear; anything above 0 shows.
    """
    if not histogram.buckets:
        return ""
    first, last = histogram.buckets[0][0], histogram.buckets[-1][0]
    cells = min(cells, last - first + 1)
    heights: Counter[int] = Counter()
    for bucket, count in histogram.buckets:
        heights[(bucket - first) * cells // (last - first + 1)] += count
    return _standing(heights, cells)


def spread(values: Sequence[float], cells: int) -> str:
    """How values lie between the least and the largest, in `cells` columns; one column if all are equal."""
    least, most = min(values), max(values)
    if least == most:
        return _LEVELS[-1]
    heights = Counter(min(cells - 1, int((value - least) / (most - least) * cells)) for value in values)
    return _standing(heights, cells)


def sparkline(values: Sequence[float], cells: int) -> str:
    """Values over time in at most `cells` columns, from 0 to the largest; those that share one as their mean.

    Anything above 0 shows.
    """
    cells = min(cells, len(values))
    bounds = [len(values) * cell // cells for cell in range(cells + 1)] if cells else [0]
    means = [sum(values[low:high]) / (high - low) for low, high in pairwise(bounds)]
    most = max(means, default=0.0)
    return "".join(
        _LEVELS[math.ceil(max(0.0, mean) / most * 8)] if most > 0 else _LEVELS[0] for mean in means
    )


def _standing(heights: Counter[int], cells: int) -> str:
    most = max(heights.values())
    return "".join(_LEVELS[-(-heights[cell] * 8 // most)] for cell in range(cells))
