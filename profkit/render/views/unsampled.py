"""What samples do not show: suspended calls and tasks by await, unsampled processor time, and losses."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from profkit.model.profile import Profile, ThreadState
from profkit.model.region import RegionKind
from profkit.model.run import Run, RunInfo
from profkit.render.document import Block, Cell, Column, Role, Section, Table, cells, more_than, shares
from profkit.render.formatting import Tone, count, percent, place
from profkit.render.options import ReportOptions
from profkit.stats.means import share_interval
from profkit.transforms.origin import is_library_file
from profkit.transforms.unsampled_time import AwaitShare, Suspended, await_shares, unsampled_children
from profkit.units import Unit, format_duration

_NEARLY_ALL = 0.95
"""Part of the suspended time at one line from which on the part is not worth a word."""
_EXACT = 1000
"""Shares are exact, so they have a decimal."""


def await_blocks(info: RunInfo, options: ReportOptions) -> Iterator[Block]:
    """Yield the lines at which calls or tasks were suspended, the longest first; nothing if none is known."""
    found = await_shares(info)
    if not found:
        return
    lines = found[: options.rows(15, 10)]
    if info.region.kind is RegionKind.PROGRAM:
        yield Section("Suspended tasks, by await", "mean number of tasks at each line")
        figures = [Column("tasks", cells(map(_mean_tasks, lines)))]
    else:
        yield Section("Suspended, by await", "shares are of the wall time of all calls")
        of_lines = [line.share for line in lines]
        figures = [
            Column("share", shares((percent(share, _EXACT) for share in of_lines), of_lines)),
            Column("time", cells(format_duration(line.suspended_s) for line in lines)),
            Column("times", cells(count(line.place.times) for line in lines)),
        ]
    places = [line.place for line in lines]
    yield Table(
        [
            *figures,
            Column("awaiting", cells(one.awaited for one in places), Role.WORDS),
            Column("function", cells((one.function for one in places), Tone.FAINT), Role.NAME),
            Column(
                "where",
                [Cell(place(one.file, one.line, info.process.cwd), Tone.FAINT) for one in places],
                Role.PLACE,
            ),
        ]
    )
    yield from more_than(len(lines), len(found), "line")


def _mean_tasks(line: AwaitShare) -> str:
    """Format a mean number of tasks: `10.2`, `0.04`."""
    return f"{line.share:.1f}" if line.share >= 1 else f"{line.share:.2f}"


def of_tasks(info: RunInfo) -> Iterator[str]:
    """Yield at which line of a program its tasks are suspended longest, if that is known."""
    if info.region.kind is not RegionKind.PROGRAM:
        return
    lines = [one for one in await_shares(info) if not is_library_file(one.place.file)]
    for longest in lines[:1]:
        share = longest.share
        mean = f"on average {_mean_tasks(longest)} tasks are suspended"
        who = f"a task is suspended {100 * share:.0f} % of the time" if share < 1 else mean
        yield f"Meanwhile, {who} {_awaiting(longest, info)}."


def of_suspension(found: Suspended, info: RunInfo) -> str:
    """Return the sentence on the line at which the calls of a region were suspended longest."""
    share = f"{info.label} is suspended {100 * found.share:.0f} % of its wall time"
    if not found.lines:
        return f"{share}."
    longest = found.lines[0]
    part = "" if longest.share >= _NEARLY_ALL * found.share else f", {100 * longest.share:.0f} %"
    return f"{share}{part} {_awaiting(longest, info)}."


def _awaiting(line: AwaitShare, info: RunInfo) -> str:
    one = line.place
    return f"awaiting {one.awaited} in {one.function} ({place(one.file, one.line, info.process.cwd)})"


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
