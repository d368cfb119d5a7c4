"""Whether the CPU time that a process used contradicts its samples."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from profkit.model.profile import Profile, ThreadState
from profkit.model.run import Run, RunInfo
from profkit.stats.means import share_interval
from profkit.units import Unit

_LEAST_SPAN_S, _LEAST_COVERED = 0.5, 0.8
"""Shortest time, and smallest sampled part of it, for which CPU time and samples are compared."""
_TOLERANCE, _TICKS_S = 0.05, 0.1
"""Part of the time and fixed time by which they may differ: profkit's own threads, and units of counting."""
_READY = 2.0
"""Factor by which samples that only seem to work may exceed the CPU time: threads wait for processors."""


@dataclass(frozen=True, slots=True)
class CpuContradiction:
    """CPU time that a process used, and time that its threads worked by the samples, with its interval."""

    cpu_s: float
    working_s: float
    low_s: float
    high_s: float

    @property
    def is_unseen_work(self) -> bool:
        """Whether more CPU time was used than was seen, as by threads without Python code."""
        return self.cpu_s > self.high_s


def cpu_contradiction(run: Run, profile: Profile, waiting: Collection[int]) -> CpuContradiction | None:
    """Return the two times if they differ by more than the samples' interval allows; else None.

    `waiting` has the waiting stacks of the profile, which is the run's. Threads ready for a processor
    work, too: so more work than CPU time is a contradiction only if states were not measured, and if it is
    much more.
    """
    points, info = run.resources, run.info
    if not info.plan.idle or not info.region.all_threads or profile.unit is not Unit.SAMPLES or not points:
        return None
    own = [s for s in profile.samples if profile.threads[s.thread].pid in (0, info.process.pid)]
    total, working = sum(s.weight for s in own), sum(s.weight for s in own if s.stack not in waiting)
    span_s = (points[-1].at_ns - points[0].at_ns) / 1e9
    scale_s = total * profile.period_ns / 1e9 * _missed(info, span_s)
    if not scale_s:
        return None
    low, high = (scale_s * bound for bound in share_interval(working, total))
    cpu_s, margin_s = points[-1].cpu_s - points[0].cpu_s, _TOLERANCE * span_s + _TICKS_S
    measured = any(profile.state_of(s.stack) is not ThreadState.UNKNOWN for s in own)
    exceeds = not measured and low > _READY * cpu_s + margin_s
    if cpu_s <= high + margin_s and not exceeds:
        return None
    return CpuContradiction(cpu_s, scale_s * working / total, low, high)


def _missed(info: RunInfo, span_s: float) -> float:
    """Return the factor by which samples must be scaled to cover the whole time; 0 if too much is missing."""
    covered_s = info.session_s - info.gap_s
    if span_s < _LEAST_SPAN_S or covered_s < _LEAST_COVERED * span_s:
        return 0.0
    return max(1.0, span_s / covered_s) * (info.samples + info.torn) / max(1, info.samples)
