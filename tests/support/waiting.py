"""Waiting until something holds that another process or thread does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

LIMIT_S = 60.0
"""Time after which a test fails; what it waits for takes a small part of it, even on a busy machine."""
_PAUSE_S = 0.005


def until(
    condition: Callable[[], Found], why: Callable[[], object] | str = "", *, limit_s: float = LIMIT_S
) -> Found:
    """Return what `condition` returns as soon as that is true; fail with `why` after the limit."""
    end_s = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < end_s, why() if callable(why) else why or "it does not come true"
        time.sleep(_PAUSE_S)
    return found
