"""Sentences on what the samples of a run lack: processor time of others, losses, and contradictions."""

from __future__ import annotations

from collections.abc import Iterator

from profkit.model.run import Run, RunInfo
from profkit.render.formatting import count
from profkit.render.views.contradiction import CpuContradiction
from profkit.transforms.unsampled_time import unsampled_children
from profkit.units import format_duration

_LEAST_GAP, _LEAST_LOST = 0.02, 0.002
"""Parts from which on time without samples, of the recorded time, and lost samples are worth a word."""


def of_unsampled(run: Run, found: CpuContradiction | None) -> Iterator[str]:
    """Yield who used processors without being sampled: threads without Python code, and children."""
    if found is not None and found.is_unseen_work:
        unseen = format_duration(found.cpu_s - found.working_s)
        yield f"Threads without Python code, or that were not sampled, used {unseen} of processor time."
    yield from _of_children(run)


def _of_children(run: Run) -> Iterator[str]:
    """Yield how much processor time children used that were not sampled, if they did."""
    found = unsampled_children(run)
    if found is not None:
        processes, cpu_s = found
        who = count(processes, "child process") if processes else "Child processes"
        verb = "was" if processes == 1 else "were"
        used = f"used {format_duration(cpu_s)} of processor time"
        yield f"{who} {used} and {verb} not sampled: --subprocesses samples them."


def of_contradiction(found: CpuContradiction) -> str:
    """Return the sentence on samples that cannot be: more work than processor time."""
    worked, used = format_duration(found.working_s), format_duration(found.cpu_s)
    return (
        f"By the samples, threads worked for {worked}, but the process used {used} of processor time: "
        "most of that was waiting that the sampler does not recognize."
    )


def not_seen(info: RunInfo) -> Iterator[str]:
    """Yield what was not sampled, if anything is known to be missing."""
    missing = list(_missing(info))
    if missing and info.imported is None:
        yield f"Not seen: {'; '.join(missing)}."


def _missing(info: RunInfo) -> Iterator[str]:
    if info.torn > _LEAST_LOST * info.samples:
        yield f"{count(info.torn)} of {count(info.torn + info.samples, 'sample')}, which were torn"
    if info.errors > _LEAST_LOST * info.samples:
        yield f"{count(info.errors, 'sample')} that the sampler lost"
    if info.gap_s >= _LEAST_GAP * info.session_s:
        yield f"{format_duration(info.gap_s)} without samples"
    if info.skipped:
        yield f"{count(info.skipped, 'call')} that were not profiled"
    if info.traced_away:
        yield f"{count(info.traced_away, 'call')} that torch compiled"
