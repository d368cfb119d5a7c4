"""How sure a sampled share is."""

from __future__ import annotations

import math

_Z_95 = 1.959963984540054
"""The normal distribution's 97.5 % quantile: 95 % of it lie within so many standard deviations."""


def share_interval(weight: int, total: int) -> tuple[float, float]:
    """Between which shares the true one lies with 95 % confidence, where `weight` of `total` samples hit.

    Wilson's score interval (E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", J. Am. Stat. Assoc. 22, 1927): unlike the normal one it holds for few samples and near
    0 and 1. It takes samples as independent. Nothing is known from no samples: (0, 1).
    """
    if not 0 <= weight <= total:
        raise ValueError(f"{weight} of {total} samples is no share")
    if total == 0:
        return 0.0, 1.0
    share, z2 = weight / total, _Z_95**2
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = _Z_95 / (1 + z2 / total) * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    # At the ends the two cancel exactly, but not in floating point.
    low = 0.0 if weight == 0 else centre - half
    high = 1.0 if weight == total else centre + half
    return low, high
