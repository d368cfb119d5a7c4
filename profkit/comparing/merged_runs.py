"""Merge the runs of a label or job: their samples, even if rates differ, processes, states and notes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from profkit.comparing.comparability import match_functions
from profkit.comparing.process_shares import ProcessWeights, differing
from profkit.comparing.ranks import InOrder, LinesOf, ProcessKey, Rank, process_of, ranks_of, without_lines
from profkit.comparing.shares import Function
from profkit.model.histogram import merge_histograms
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile, Sample, ThreadState
from profkit.model.region import Region
from profkit.model.run import FunctionPart, Merged, ProcessPart, Run, RunInfo
from profkit.model.session import ResourcePoint, SessionState
from profkit.transforms.combine import merge_profiles
from profkit.transforms.origin import is_library_file
from profkit.transforms.simplify import fold_addresses
from profkit.transforms.tables import pids_of
from profkit.transforms.trees import sum_samples, weight_of
from profkit.transforms.unsampled_time import add_awaits, sampled_points
from profkit.units import Unit

MERGED_ID = "merged"
"""Id of a merged run; no run in the store has it."""
_SAME_RATE = 1.25
"""Maximum ratio of sampling periods up to which samples of different runs count the same."""


def merge_runs(runs: Iterable[Run], lines_of: LinesOf = without_lines) -> Run:
    """Merge sampled runs, newest first, in time linear in their samples.

    Some waiting for other ranks is known by lines of source. If rates differ, weights are times instead of
    samples. Raises ValueError without runs, and UsageError for profiles in different units.
    """
    order = InOrder(lines_of)
    summed = tuple(_summed(run, order) for run in runs)
    if not summed:
        raise ValueError("there are no runs to merge")
    if _rates_differ(summed):
        summed = tuple(_in_time(run) for run in summed)
    summed, notes = _matched(summed)
    arrivals = order.find_arrivals(summed)
    processes = _by_process(summed, order)
    profiles = [one.profile for one in _with_names_of_hosts(processes) if one.profile is not None]
    infos = tuple(run.info for run in summed)
    jobs = {info.process.member.job for info in infos} - {""}
    if len(jobs) > 1:
        notes = (Note.of(NoteCode.JOBS_MERGED, jobs=len(jobs)), *notes)
    return Run(
        info=replace(_merged_info(infos), notes=notes),
        profile=merge_profiles(profiles) if profiles else None,
        merged=Merged(
            infos=infos,
            processes=tuple(process.part() for process in processes),
            functions=_functions(processes, infos[0].region.file),
            ranks=ranks_of(
                [process.runs for process in processes],
                [process.rank for process in processes],
                lines_of,
                arrivals,
            ),
        ),
    )


@dataclass(slots=True)
class _ProcessRuns:
    """The runs of one process, newest first."""

    runs: list[Run] = field(default_factory=list)
    rank: Rank | None = None
    """Its times, if it is known to wait for other ranks."""

    @property
    def weight(self) -> int:
        return sum(run.profile.total_weight for run in self.runs if run.profile is not None)

    @property
    def working(self) -> int | None:
        """Weight of samples in which threads worked, None if their states are not known."""
        profiles = [run.profile for run in self.runs if run.profile is not None and run.profile.samples]
        if not all(profile.states for profile in profiles):
            return None
        return sum(
            weight_of(profile.stacks_in(ThreadState.WORKING), profile.weights_by_stack)
            for profile in profiles
        )

    @property
    def watched(self) -> list[tuple[ResourcePoint, ...]]:
        """Resources of each session; its regions share them."""
        return list({run.info.session: sampled_points(run) for run in self.runs if run.resources}.values())

    @property
    def cpu_s(self) -> float:
        return sum(points[-1].cpu_s - points[0].cpu_s for points in self.watched)

    def part(self) -> ProcessPart:
        infos, watched = [run.info for run in self.runs], self.watched
        elapsed_s = sum(points[-1].at_ns - points[0].at_ns for points in watched) / 1e9
        return ProcessPart(
            process=infos[0].process,
            started_ns=min(info.started_ns for info in infos),
            runs=len(infos),
            calls=sum(info.calls for info in infos),
            samples=sum(info.samples for info in infos),
            weight=self.weight,
            cpu_share=self.cpu_s / elapsed_s if elapsed_s > 0 else None,
            peak_rss_bytes=max((point.rss_bytes for points in watched for point in points), default=0),
            working=self.working,
            children=tuple(sorted(pids_of(run.profile for run in self.runs) - {infos[0].process.pid})),
        )


def _summed(run: Run, order: InOrder) -> Run:
    """Return the run without the order of its samples; add what that says of waiting for other ranks."""
    order.add(run)
    return run if run.profile is None else replace(run, profile=sum_samples(fold_addresses(run.profile)))


def _matched(runs: tuple[Run, ...]) -> tuple[tuple[Run, ...], tuple[Note, ...]]:
    """Return the runs with names and files by which their functions match, and notes on that.

    A single run keeps the names and files that it was recorded with.
    """
    if len(runs) < 2:
        return runs, ()
    matched = match_functions(runs)
    named = tuple(
        run if run.profile is None else replace(run, profile=profile)
        for run, profile in zip(runs, matched.profiles, strict=True)
    )
    return named, (Note(NoteCode.COMPREHENSIONS_INLINED),) if matched.inlined else ()


def _rates_differ(runs: Sequence[Run]) -> bool:
    """Return whether sampling periods differ by more than the noise of a rate."""
    profiles = [run.profile for run in runs if run.profile is not None and run.profile.samples]
    periods = [profile.period_ns for profile in profiles]
    all_timed = all(profile.unit is Unit.SAMPLES and profile.period_ns for profile in profiles)
    return bool(periods) and all_timed and max(periods) > _SAME_RATE * min(periods)


def _in_time(run: Run) -> Run:
    """Return the run with each sample weighted by the time that it represents."""
    profile = run.profile
    if profile is None:
        return run
    samples = tuple(
        Sample(stack, thread, round(weight * profile.period_ns)) for stack, thread, weight in profile.samples
    )
    return replace(
        run, profile=replace(profile, unit=Unit.NANOSECONDS, period_ns=0.0, samples=samples, starts=())
    )


def _by_process(runs: Sequence[Run], order: InOrder) -> tuple[_ProcessRuns, ...]:
    """Group runs by process, those first that worked most; if that is not known, by CPU time or samples.

    Ranks of one job have about as many samples each, and differ in how much they wait for others.
    """
    groups: dict[ProcessKey, _ProcessRuns] = {}
    for run in runs:
        groups.setdefault(process_of(run), _ProcessRuns()).runs.append(run)
    found = groups.values()
    for group in found:
        group.rank = order.rank_of(group.runs, group.cpu_s)
    times = [process.rank.by_state for process in found if process.rank is not None]
    if len(times) == len(found) and any(time.waited_s for time in times):
        worked = {key: time.total_s - time.waited_s for key, time in zip(groups, times, strict=True)}
    elif all(process.working is not None for process in found):
        worked = {key: float(process.working or 0) for key, process in groups.items()}
    elif all(process.watched for process in found):
        worked = {key: round(process.cpu_s, 2) for key, process in groups.items()}
    else:
        worked = dict.fromkeys(groups, 0.0)
    weights = {key: process.weight for key, process in groups.items()}
    return tuple(groups[key] for key in sorted(groups, key=lambda key: (-worked[key], -weights[key], key)))


def _with_names_of_hosts(processes: Sequence[_ProcessRuns]) -> Iterable[Run]:
    """Yield all runs; add the host to names of threads if different processes have the same pid.

    In containers every process may have the pid 1.
    """
    of_pid = Counter(process.runs[0].info.process.pid for process in processes)
    seen: Counter[tuple[str, int]] = Counter()
    for process in processes:
        info = process.runs[0].info.process
        seen[info.host, info.pid] += 1
        number = seen[info.host, info.pid]
        where = f" on {info.host}" + (f" ({number})" if number > 1 else "")
        for run in process.runs:
            yield _with_thread_names(run, where) if of_pid[info.pid] > 1 else run


def _with_thread_names(run: Run, suffix: str) -> Run:
    if run.profile is None:
        return run
    threads = tuple(thread._replace(name=f"{thread.name}{suffix}") for thread in run.profile.threads)
    return replace(run, profile=replace(run.profile, threads=threads))


def _merged_info(infos: Sequence[RunInfo]) -> RunInfo:
    """Return the info of all runs; values that cannot be added up are those of the newest run."""
    sessions = {info.session: info for info in infos}
    return replace(
        infos[0],
        region=_common_region([info.region for info in infos]),
        id=MERGED_ID,
        session=next(iter(sessions)) if len(sessions) == 1 else "",
        state=_state(infos),
        started_ns=min(info.started_ns for info in infos),
        durations=merge_histograms([info.durations for info in infos]),
        suspended_ns=sum(info.suspended_ns for info in infos),
        awaits=add_awaits(one for info in infos for one in info.awaits),
        skipped=sum(info.skipped for info in infos),
        raised=sum(info.raised for info in infos),
        traced_away=sum(info.traced_away for info in infos),
        achieved_hz=_achieved_hz(sessions.values()),
        session_s=sum(info.session_s for info in sessions.values()),
        gap_s=sum(info.gap_s for info in sessions.values()),
        samples=sum(info.samples for info in infos),
        torn=sum(info.torn for info in infos),
        errors=sum(info.errors for info in sessions.values()),
        links=tuple(dict.fromkeys(link for info in infos for link in info.links)),
        notes=(),
        error=infos[0].error if all(info.error is not None for info in infos) else None,
        truncated=any(info.truncated for info in infos),
        nested=sum(info.nested for info in infos),
        last_ns=max(info.last_ns for info in infos),
    )


def _common_region(regions: Sequence[Region]) -> Region:
    """Return the newest region with only the tags, user and environment that all have."""
    first, *others = regions
    return replace(
        first,
        tags=tuple(tag for tag in first.tags if all(tag in other.tags for other in others)),
        user=first.user if all(other.user == first.user for other in others) else "",
        env=tuple(variable for variable in first.env if all(variable in other.env for other in others)),
    )


def _state(infos: Iterable[RunInfo]) -> SessionState:
    """Return RUNNING while any run is being recorded, FAILED if all have failed; one may have ended early."""
    states = {info.state for info in infos}
    if not all(state.is_final for state in states):
        return SessionState.RUNNING
    if states == {SessionState.FAILED}:
        return SessionState.FAILED
    return SessionState.ENDED_EARLY if SessionState.ENDED_EARLY in states else SessionState.SUCCESS


def _achieved_hz(sessions: Iterable[RunInfo]) -> float | None:
    """Return the mean rate, weighted by the time that each session was sampled."""
    known = [(info.achieved_hz, info.session_s) for info in sessions if info.achieved_hz is not None]
    total_s = sum(session_s for _, session_s in known)
    return sum(rate_hz * session_s for rate_hz, session_s in known) / total_s if total_s else None


def _functions(processes: Sequence[_ProcessRuns], own_file: str) -> tuple[FunctionPart, ...]:
    if len(processes) < 2:
        return ()
    lines: defaultdict[Function, Counter[int]] = defaultdict(Counter)
    is_library = cache(lambda file: file != own_file and is_library_file(file))
    weighed = [_weights(process, is_library, lines) for process in processes]
    rows = [
        FunctionPart(
            name=function[0],
            file=function[1],
            line=min(lines[function], key=lambda line: (-lines[function][line], line)),
            weight=sum(lines[function].values()),
            weights=tuple(process.functions.get(function, 0) for process in weighed),
            differs=differs,
        )
        for function, differs in differing(weighed).items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.weight, row.name, row.file)))


def _weights(
    process: _ProcessRuns, is_library: Callable[[str], bool], lines: Mapping[Function, Counter[int]]
) -> ProcessWeights:
    """Return the weight of each function with its library calls; add that of each line to `lines`."""
    functions: Counter[Function] = Counter()
    for run in process.runs:
        profile = run.profile or Profile()
        is_users = [not is_library(file) for _, file, _ in profile.frames]
        ends: dict[int, int] = {}
        for number, weight in profile.weights_by_stack.items():
            if stack := profile.stacks[number]:
                end = next(filter(is_users.__getitem__, reversed(stack)), stack[-1])
                ends[end] = ends.get(end, 0) + weight
        for end, weight in ends.items():
            name, file, line = profile.frames[end]
            functions[name, file] += weight
            lines[name, file][line] += weight
    samples = sum(run.info.samples for run in process.runs)
    return ProcessWeights(samples, process.weight, functions)
