"""Decorated functions whose calls are counted, with no sampler behind them."""

from __future__ import annotations

from typing import Any

from profkit import profile


def live(function: Any) -> Any:
    """A decorated function whose calls are counted."""
    decorated = profile(function)
    decorated._self_counters.live = True
    return decorated
