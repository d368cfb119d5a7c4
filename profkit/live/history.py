"""Samples in the order in which they were taken, in few bytes each, to keep them as a run."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise

from profkit.model.profile import Sample

MOST = 4_000_000
"""Maximum number of samples, about 80 MB; a longer recording is kept without its order."""


class History:
    """Stacks, threads, weights and starts of samples."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._columns = array("i"), array("i"), array("i"), array("l")
        self._batches: list[tuple[float, int]] = []
        """Beginning of each batch, and the number of samples before it."""
        self.is_whole = True
        """False if there were too many samples; then it has none."""
        self.has_starts = True

    def __len__(self) -> int:
        return len(self._columns[0])

    @property
    def began_s(self) -> float | None:
        """Beginning of the first batch."""
        return self._batches[0][0] if self._batches else None

    def add(self, began_s: float, samples: Sequence[tuple[int, int, int]], starts: Sequence[int]) -> None:
        """Add a batch; starts count from its beginning, and there are none if they are not known."""
        self._batches.append((began_s, len(self)))
        if not self.is_whole or len(self) + len(samples) > self._most:
            self.is_whole = False
            self._columns = array("i"), array("i"), array("i"), array("l")
            return
        self.has_starts = self.has_starts and len(starts) == len(samples)
        for (stack, thread, weight), start in zip(samples, starts or (0,) * len(samples), strict=True):
            for column, value in zip(self._columns, (stack, thread, weight, start), strict=True):
                column.append(value)

    def samples(self) -> Iterator[Sample]:
        """Yield all samples in order."""
        stacks, threads, weights, _ = self._columns
        return map(Sample, stacks, threads, weights)

    def starts(self, round_s: float) -> tuple[int, ...]:
        """Return the start of each sample in rounds of that length; empty if they are not known.

        Samples of a thread do not overlap, although batches may.
        """
        if not self.is_whole or not self.has_starts or not self._batches or round_s <= 0:
            return ()
        _, threads, weights, starts = self._columns
        first_s, found, ends = self._batches[0][0], list[int](), dict[int, int]()
        for (began_s, low), (_, high) in pairwise([*self._batches, (0.0, len(self))]):
            before = round((began_s - first_s) / round_s)
            for place in range(low, high):
                start = max(before + starts[place], ends.get(threads[place], 0))
                ends[threads[place]] = start + weights[place]
                found.append(start)
        return tuple(found)
