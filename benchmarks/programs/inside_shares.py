"""Sample this program from inside: `inside_shares.py RATE SECONDS PLACE MIX`; prints JSON.

PLACE is `main` or `thread`: where the work is done. MIX is `Python` or `mixed`. Prints the share of each part
of the time and of the samples, the number of samples, and how it was sampled.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from math import fsum

from profkit import profile
from profkit.model.notes import NoteCode

MAIN, THREAD = "main", "thread"
PYTHON, MIXED = "Python", "mixed"
_BUFFER = bytes(1_000_000)
_NUMBERS = [float(number * 7919 % 100_003) for number in range(20_000)]


def burn(units: int) -> int:
    """Run Python code without calls."""
    total = 0
    for number in range(100 * units):
        total += number * number % 7
    return total


def half() -> None:
    """Take half of the time of a round."""
    burn(50)


def third() -> None:
    """Take about a third."""
    burn(30)


def fifth() -> None:
    """Take a fifth."""
    burn(20)


def sort() -> None:
    """Run C code that holds the GIL."""
    sorted(_NUMBERS)


def digest() -> None:
    """Run C code that releases the GIL."""
    hashlib.sha256(_BUFFER).digest()


def wait() -> None:
    """Wait."""
    time.sleep(0.001)


STEPS: dict[str, tuple[Callable[[], None], ...]] = {
    PYTHON: (half, third, fifth), MIXED: (half, fifth, sort, digest, wait)
}  # fmt: skip


def spend(duration_s: float, steps: tuple[Callable[[], None], ...]) -> dict[str, float]:
    """Run the steps in random order, which has no period; return the time of each."""
    spent_s, order, rng = {step.__name__: 0.0 for step in steps}, [*steps], random.Random(1)
    start_s = time.perf_counter()
    end_s = start_s + duration_s
    while start_s < end_s:
        rng.shuffle(order)
        for step in order:
            step()
            now_s = time.perf_counter()
            spent_s[step.__name__] += now_s - start_s
            start_s = now_s
    return spent_s


def main(rate_hz: float, duration_s: float, place: str, mix: str) -> dict[str, object]:
    """Sample the steps and compare shares."""
    sampled, spent_s = profile(spend, sampler="inprocess", rate=rate_hz), dict[str, float]()

    def work() -> None:
        spent_s.update(sampled(duration_s, STEPS[mix]))

    if place == THREAD:
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    else:
        work()
    run = sampled.last_run
    if run is None or run.profile is None:
        raise RuntimeError("nothing was sampled")
    seen: Counter[str] = Counter()
    for sample in run.profile.samples:
        names = [run.profile.frames[frame].name for frame in run.profile.stacks[sample.stack]]
        seen[next((name for name in names if name in spent_s), "")] += sample.weight
    total_s, total = fsum(spent_s.values()), sum(seen.values())
    if not total:
        raise RuntimeError("nothing was sampled")
    return {
        "true": {name: taken_s / total_s for name, taken_s in spent_s.items()},
        "seen": {name: seen[name] / total for name in spent_s},
        "samples": total,
        "kinds": [
            dict(note.figures)["kind"] for note in run.info.notes if note.code is NoteCode.SAMPLED_INSIDE
        ],
    }


if __name__ == "__main__":
    rate, duration, where, what = sys.argv[1:]
    print(json.dumps(main(float(rate), float(duration), where, what)))
