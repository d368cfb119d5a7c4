"""Samples copied from one profile into another whose tables hold only what its samples use."""

from __future__ import annotations

from collections.abc import Mapping

from profkit.model.frame import Frame
from profkit.model.profile import Profile, ProfileBuilder


class Reindexer:
    """Adds samples to `target` that are given by indexes of `source`; each stack is mapped once."""

    def __init__(self, source: Profile, target: ProfileBuilder) -> None:
        self._source, self._target = source, target
        self._frames: dict[int, int] = {}
        self._threads: dict[int, int] = {}
        self._stacks: dict[tuple[int, ...], tuple[int, ...]] = {}

    def add(self, stack: tuple[int, ...], thread: int, weight: int) -> None:
        """Append one sample; `stack` need not be in the source's table, its frames must be."""
        mapped = self._stacks.get(stack)
        if mapped is None:
            mapped = self._stacks[stack] = tuple(self._frame(frame) for frame in stack)
        if thread not in self._threads:
            self._threads[thread] = self._target.thread(self._source.threads[thread])
        self._target.add_indexed(mapped, self._threads[thread], weight)

    def _frame(self, frame: int) -> int:
        if frame not in self._frames:
            self._frames[frame] = self._target.frame(self._source.frames[frame])
        return self._frames[frame]


def build_like(source: Profile, target: ProfileBuilder, totals: Mapping[Frame, int] | None = None) -> Profile:
    """The profile of everything that was added to `target`, in the unit and period of `source`.

    Its stated totals are those that are given: the source's are not those of a part of it.
    """
    return target.build(unit=source.unit, period_ns=source.period_ns, ordered=source.ordered, totals=totals)
