"""Ways to sample a session, best first: if one cannot be started, the next is taken, with a warning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import SamplerError
from profkit.model.notes import Note, NoteCode
from profkit.model.session import SamplerPlan
from profkit.process.guard import reraise_signal_error
from profkit.samplers.base import LiveStacks, Sampler
from profkit.samplers.process_attachment import folder_problem
from profkit.samplers.registry import Rung
from profkit.session.failures import RETRY_AFTER_S

_Way = tuple[str, object]
"""Sampler and its option `blocking`."""


class Refusals:
    """Ways to sample that failed in this process recently, and are not tried again yet."""

    def __init__(self, clock: Clock, say: Callable[[str], None]) -> None:
        self._clock, self.say = clock, say
        self._seen: dict[_Way, tuple[float, SamplerError]] = {}

    def note(self, rung: Rung, error: SamplerError) -> None:
        """Remember why a way could not be taken."""
        self._seen[_way(rung)] = self._clock.monotonic_s(), error

    def recent(self, rung: Rung) -> SamplerError | None:
        """Return why a way is not tried again yet, None if it may be."""
        at_s, error = self._seen.get(_way(rung), (0.0, None))
        return error if error is not None and self._clock.monotonic_s() - at_s < RETRY_AFTER_S else None

    def forget(self) -> None:
        """Forget all, so that every way is tried again."""
        self._seen.clear()


class Ladder:
    """The ways to sample one session; the first one left is in use."""

    def __init__(self, rungs: Sequence[Rung], refusals: Refusals) -> None:
        self._rungs, self._refusals = list(rungs), refusals
        self._steps: list[Note] = []
        while len(self._rungs) > 1 and (error := refusals.recent(self._rungs[0])) is not None:
            self._step(error)

    @property
    def sampler(self) -> Sampler:
        """Sampler in use."""
        return self._rungs[0].sampler

    def plan(self, live: LiveStacks) -> SamplerPlan:
        """Return the plan for the sampler in use, with a note for each step down."""
        plan = self.sampler.plan(self._rungs[0].options, live)
        return replace(plan, notes=(*self._steps, *plan.notes))

    def step_down(self, failure: SamplerError, folder: Path) -> bool:
        """Take the next way because a start failed; return False if there is none.

        None is taken if the folder is the cause, as others would fail too.
        """
        reraise_signal_error(failure)
        if len(self._rungs) == 1 or folder_problem(folder) is not None:
            return False
        self._refusals.note(self._rungs[0], failure)
        self._step(failure)
        return True

    def _step(self, failure: SamplerError) -> None:
        left = self._rungs.pop(0)
        taken = self.sampler.name
        if taken == left.sampler.name:
            taken += " with blocking=False"
        self._steps.append(
            Note.of(NoteCode.SAMPLER_REPLACED, sampler=left.sampler.name, by=taken, detail=str(failure))
        )
        self._refusals.say(f"{failure}; sampling with {taken} instead")


def _way(rung: Rung) -> _Way:
    return rung.sampler.name, rung.options.blocking
