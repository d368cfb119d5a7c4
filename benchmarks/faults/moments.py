"""Choices that derive from a seed: the injections of a short form, and the moment of each."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TypeVar

from benchmarks.faults.rows import Injection

_GOLDEN = (math.sqrt(5) - 1) / 2
_T = TypeVar("_T")


def chosen_numbers(full: int, count: int, seed: int) -> tuple[int, ...]:
    """Return `count` of the numbers 0 to `full` - 1, spread evenly; all of them if `count` is larger.

    The step has no divisor in common with `full`: if a fault's variant is its number modulo a divisor of
    `full`, a few numbers cover all variants.
    """
    if count >= full:
        return tuple(range(full))
    step = next(step for step in range(max(1, round(full * _GOLDEN)), 2 * full) if math.gcd(step, full) == 1)
    return tuple(sorted((seed + position * step) % full for position in range(count)))


def generator(injection: Injection, purpose: str = "") -> random.Random:
    """Return a random generator for one injection; different for each purpose."""
    return random.Random(f"{injection.seed}/{injection.fault}/{injection.number}/{purpose}")


def moment_s(injection: Injection, latest_s: float, early_s: float = 0.06) -> float:
    """Return a random moment, in seconds from the first profiled call.

    One in three is within the first `early_s` seconds, while the sampler starts.
    """
    rng = generator(injection, "moment")
    return rng.uniform(0, early_s) if rng.random() < 1 / 3 else rng.uniform(0, latest_s)


def variant_of(injection: Injection, variants: Sequence[_T]) -> _T:
    """Return the variant of an injection; variants rotate with its number."""
    return variants[injection.number % len(variants)]
