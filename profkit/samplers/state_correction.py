"""Corrections of the states of a thread's samples, so that they agree with its use of processors.

A state is read up to a millisecond after its stack, and stops wake threads, so some states are wrong. A wrong
one is as likely at each line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from profkit.model.profile import ThreadState

_FEWEST = 10
"""Samples of a thread, or a line, below which they say nothing."""
_MOST_MISSED = 0.5
"""Largest part of the working samples of each line that is taken to have been read as waiting."""
_STEPS = 30
_MOST_STOPPED = 0.1
"""Part of the time for which a sampler stops a program at most, if processors are scarce."""
_MOST_WOKEN = 0.5
"""Largest part of the waiting samples of a line that is taken to have been read as working."""
_WAKES, _MOST_WAKES = 2, 2.25
"""How often a round that stops a process wakes a sleeping thread: to stop, and to sleep again; and at most.

Idle threads were put on a processor 2.00 to 2.08 times per round.
"""
_MOST_GIL = 0.05
"""Part of a thread's samples that wait for the GIL from which on its times may be such waits, not work."""


class Use(NamedTuple):
    """A thread's use of processors, as parts of its time."""

    cpu: float
    """On a processor."""
    late: float
    """Waiting for one."""
    slices: float
    """How often it was put on one, per round."""

    def most_working(self, seen: float, wakes: float) -> float:
        """Return the largest part of the time in which it can have had work, if `seen` of the samples did.

        Each round wakes it so many times if it sleeps. Then it waits for a processor only to sleep on. While
        a sampler stops it, it is neither on a processor nor waiting for one.
        """
        running = 1 - _MOST_STOPPED if wakes else 1.0
        for _ in range(_STEPS):
            seen = min(seen, self._with_work(seen, wakes) / running)
        return seen

    def least_working(self) -> float:
        """Return the smallest part of the time in which it can have had work, if a sampler stops it.

        A thread that wakes to be stopped is often in its next wait when its state is read.
        """
        part = self.cpu
        for _ in range(_STEPS):
            part = self._with_work(part, _MOST_WAKES)
        return part

    def _with_work(self, working: float, wakes: float) -> float:
        """Return its time on processors, and of waiting for them but to be stopped while it sleeps."""
        own = max(0.0, 1 - wakes * (1 - working) / self.slices) if self.slices else 1.0
        return min(1.0, self.cpu + self.late * own)


class Placed(NamedTuple):
    """Samples in a row with one stack and state."""

    start: int
    stack: int
    weight: int
    state: ThreadState


def corrected(
    placed: Sequence[Placed], use: Use | None, leaves: Sequence[int], *, stops: bool
) -> Iterator[Placed]:
    """Yield the samples, with as many of each line working as the thread's use of processors allows."""
    counts: Counter[tuple[int, ThreadState]] = Counter()
    for _, stack, weight, state in placed:
        if state:
            counts[leaves[stack], state] += weight
    total: Counter[int] = Counter()
    for (leaf, _), weight in counts.items():
        total[leaf] += weight
    seen = {leaf: counts[leaf, ThreadState.WORKING] for leaf in total}
    number = total.total()
    if number < _FEWEST:
        yield from placed
        return
    part = sum(seen.values()) / number
    wanted_part = part if use is None else max(use.cpu, use.most_working(part, _WAKES if stops else 0))
    if use is not None and not stops:
        # A thread that was woken from a wait is ready for a processor, but has no work at that line.
        woken = sum(found for leaf, found in seen.items() if 2 * found < total[leaf]) / number
        wanted_part = max(use.cpu, min(wanted_part, part - min(use.late, woken)))
    if stops:
        wants_gil = sum(part for (_, state), part in counts.items() if state is ThreadState.GIL)
        is_known = use is not None and wants_gil <= _MOST_GIL * number
        least = use.least_working() if use is not None and is_known else 0.0
        wanted_part = max(wanted_part, least, _least_working(total, seen))
    if wanted_part == part:
        yield from placed
        return
    wanted = corrected_parts(total, seen, wanted_part * number)
    due = dict.fromkeys(total, 0.0)
    for run in placed:
        leaf = leaves[run.stack]
        more = wanted[leaf] - seen[leaf] if run.state else 0.0
        is_working = run.state is ThreadState.WORKING
        if is_working == (more > 0) or not more:
            yield run
            continue
        due[leaf] += run.weight * abs(more) / (seen[leaf] if is_working else total[leaf] - seen[leaf])
        changed = min(run.weight, int(due[leaf]))
        due[leaf] -= changed
        wants_gil = counts[leaf, ThreadState.GIL] > counts[leaf, ThreadState.WAITING]
        waits = ThreadState.GIL if wants_gil else ThreadState.WAITING
        if changed:
            other = waits if is_working else ThreadState.WORKING
            yield Placed(run.start, run.stack, changed, other)
        if changed < run.weight:
            yield Placed(run.start + changed, run.stack, run.weight - changed, run.state)


def _least_working(total: Mapping[int, int], seen: Mapping[int, int]) -> float:
    """Return the least part of the samples in which a thread can have had work that the sampler stopped.

    While it is stopped it is neither on a processor nor ready for one, so its times do not say how long it
    had work. But waits were read as work no more often than at the line with most waits.
    """
    wrong = min([_MOST_WOKEN, *(seen[line] / number for line, number in total.items() if number >= _FEWEST)])
    part = sum(seen.values()) / sum(total.values())
    return max(0.0, (part - wrong) / (1 - wrong))


def corrected_parts(total: Mapping[int, int], seen: Mapping[int, int], wanted: float) -> Mapping[int, float]:
    """Return how many samples of each line work, if they are `wanted` together and `seen` was read.

    Of waiting samples, the same part was read as working at each line; or of working ones as waiting.
    """
    if sum(seen.values()) >= wanted:

        def parts(wrong: float) -> dict[int, float]:
            least = {line: (seen[line] - wrong * number) / (1 - wrong) for line, number in total.items()}
            return {line: max(0.0, value) for line, value in least.items()}

        low, high = 0.0, 1 - 1e-9
    else:

        def parts(wrong: float) -> dict[int, float]:
            return {line: min(float(number), seen[line] / (1 - wrong)) for line, number in total.items()}

        low, high = _MOST_MISSED, 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if sum(parts(middle).values()) > wanted:
            low = middle
        else:
            high = middle
    found = parts(high)
    works = sum(found.values())
    if works > wanted:  # at lines that were read as working only
        return {line: value * wanted / works for line, value in found.items()}
    waits = sum(total.values()) - works
    more = min(1.0, (wanted - works) / waits) if waits > 0 else 0.0
    return {line: value + more * (total[line] - value) for line, value in found.items()}
