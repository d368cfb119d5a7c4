"""Many questions at once: how sure each answer still is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Adjusted(NamedTuple):
    """One of several tests after the others were allowed for."""

    p: float
    """Adjusted: to be compared with the level that holds for all tests together."""
    level: float
    """What the test's own p was compared with; an interval at this level leaves 0 out just where
    the test is significant."""


def holm(ps: Sequence[float], level: float) -> tuple[Adjusted, ...]:
    """Of several tests, so that one in 1/`level` families of them has any false alarm at all, or fewer.

    The smallest p is compared with level/m, the next with level/(m-1), and so on up to the first that is
    larger; what follows is compared with what that one was (S. Holm, "A simple sequentially rejective
    multiple test procedure", Scand. J. Stat. 6, 1979). It holds however the tests depend on each other.
    """
    order = sorted(range(len(ps)), key=ps.__getitem__)
    found: dict[int, Adjusted] = {}
    worst, stopped_at = 0.0, 0
    for rank, number in enumerate(order):
        left = len(ps) - rank
        worst = max(worst, min(1.0, ps[number] * left))
        if not stopped_at and ps[number] > level / left:
            stopped_at = left
        found[number] = Adjusted(worst, level / (stopped_at or left))
    return tuple(found[number] for number in range(len(ps)))
