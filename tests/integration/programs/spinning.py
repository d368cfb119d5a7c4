"""Work for programs under test: busy for a given time, in frames that samples can name."""

from __future__ import annotations

import time


def spin(duration_s: float) -> int:
    """Turn round and round; never the same number of times, so do not print what it gives."""
    end, turns = time.perf_counter() + duration_s, 0
    while time.perf_counter() < end:
        turns = turn(turns)
    return turns


def turn(turns: int) -> int:
    return turns + 1
