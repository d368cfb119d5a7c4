"""What a seed decides: which injections a short form makes, and the moment of each."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TypeVar

from benchmarks.faults.rows import Injection

_GOLDEN = (math.sqrt(5) - 1) / 2
_T = TypeVar("_T")


def chosen_numbers(full: int, count: int, seed: int) -> tuple[int, ...]:
    """`count` of the numbers 0 to `full` - 1, spread over all of them; all of them if `count` is larger.

    The step has no divisor in common with `full`: if a fault's variant is its number modulo a divisor of
    `full`, a few numbers already have every variant.
    """
    if count >= full:
        return tuple(range(full))
    step = next(step for step in range(max(1, round(full * _GOLDEN)), 2 * full) if math.gcd(step, full) == 1)
    return tuple(sorted((seed + position * step) % full for position in range(count)))


def generator(injection: Injection, purpose: str = "") -> random.Random:
    """The source of the choices of one injection; another one for each purpose."""
    return random.Random(f"{injection.seed}/{injection.fault}/{injection.number}/{purpose}")


def moment_s(injection: Injection, latest_s: float, early_s: float = 0.06) -> float:
    """A random moment, counted from the first profiled call.

    One in three lies within the first `early_s` seconds, while the sampler starts.
    """
    rng = generator(injection, "moment")
    return rng.uniform(0, early_s) if rng.random() < 1 / 3 else rng.uniform(0, latest_s)


def variant_of(injection: Injection, variants: Sequence[_T]) -> _T:
    """The variant of an injection: they take turns by its number."""
    return variants[injection.number % len(variants)]
