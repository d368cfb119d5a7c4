"""A module that calls what it profiles while it is imported."""

from __future__ import annotations

from spinning import spin

from profkit import profile, profiled


@profile(rate=200, label="at import")
def answer() -> int:
    spin(0.05)
    return 42


with profiled("block at import", rate=200):
    ANSWER = answer()
