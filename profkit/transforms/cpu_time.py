"""CPU time of a run's process and of its children, sampled or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profkit.model.notes import Note, NoteCode
from profkit.model.run import Run
from profkit.model.sampler_names import CALLS_ONLY, MEMRAY
from profkit.model.session import ResourcePoint, SamplerPlan

_UNSAMPLED = NoteCode.CHILDREN_UNSAMPLED
_LEAST_SHARE, _LEAST_S = 0.05, 0.2
"""CPU time of children from which on they are worth a note, the first as a part of all."""


def children_note(points: Sequence[ResourcePoint], plan: SamplerPlan) -> Note | None:
    """Return a note if children used much CPU time and were not sampled; None if not."""
    last = points[-1].children if points else None
    if last is None or plan.subprocesses or plan.sampler in (CALLS_ONLY, MEMRAY):
        return None
    first = points[0].children
    used_s = last.unrecorded_s - (first.unrecorded_s if first is not None else 0.0)
    all_s = used_s + points[-1].cpu_s - points[0].cpu_s
    if used_s < max(_LEAST_S, _LEAST_SHARE * all_s):
        return None
    processes = last.processes if first is None else 0
    return Note.of(_UNSAMPLED, processes=processes, cpu_s=round(used_s, 2))


def unsampled_children(run: Run) -> tuple[int, float] | None:
    """Return how many children used notable CPU time without being sampled, and that time in seconds.

    The number is 0 if it is not known; of a merged run, both are sums. None if there are none.
    """
    infos = run.merged.infos if run.merged else (run.info,)
    notes = {info.session: note for info in infos for note in info.notes if note.code is _UNSAMPLED}
    figures = [dict(note.figures) for note in notes.values()]
    if not figures:
        return None
    processes = [int(each["processes"]) for each in figures]
    return sum(processes) if all(processes) else 0, sum(float(each["cpu_s"]) for each in figures)


def sampled_points(run: Run) -> tuple[ResourcePoint, ...]:
    """Return a run's resources, whose CPU time includes that of children if they were sampled, too."""
    if not run.info.plan.subprocesses:
        return run.resources
    return tuple(
        point if point.children is None else replace(point, cpu_s=point.cpu_s + point.children.cpu_s)
        for point in run.resources
    )
