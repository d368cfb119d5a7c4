"""Content of reports of sampled runs: rows of functions, lines and threads, and the call tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

from profkit.errors import UsageError
from profkit.model.profile import Frame, Node, Profile, Thread
from profkit.model.run import Run
from profkit.render.escape import short
from profkit.render.formatting import percent
from profkit.render.options import Activity, ReportOptions, Sort
from profkit.render.views.source import SourceLines, infos_of, source_of
from profkit.stats import share_interval
from profkit.transforms import tables
from profkit.transforms.bottleneck import Spender, top_spender
from profkit.transforms.origin import is_library_file
from profkit.transforms.simplify import (
    fold_addresses,
    fold_libraries,
    leave_out_libraries,
    only_users_code,
)
from profkit.transforms.trees import call_tree, number_functions, sum_samples
from profkit.transforms.waiting import waiting_stacks
from profkit.units import Unit


@dataclass(frozen=True, slots=True)
class CostRow:
    """Self and total cost of a place in the code.

    `samples` are the profile's weights, shares are parts of 1; seconds are None if the weights are not
    times.
    """

    name: str
    file: str
    line: int
    self_samples: int
    total_samples: int
    self_share: float
    total_share: float
    self_s: float | None
    total_s: float | None


Costs = tuple[int, int, float, float, float | None, float | None]
"""Figures of a `CostRow`, in its order."""


@dataclass(frozen=True, slots=True)
class HotRow(CostRow):
    """A function or line; waiting is the part of its self cost in which the thread waited."""

    waiting_samples: int
    waiting_share: float
    waiting_s: float | None


@dataclass(frozen=True, slots=True)
class LineRow(HotRow):
    """A line of a function, with its source if that can be shown."""

    source: str | None


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread and its part of all samples."""

    name: str
    pid: int
    tid: int
    samples: int
    share: float
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Scale:
    """Conversion of a profile's weights to shares and seconds."""

    unit: Unit
    total: int
    weight_s: float | None
    """Seconds per weight of 1; None if weights are not times."""

    def share(self, weight: int) -> float:
        """Return a weight's part of the total; 0 if the total is 0."""
        return weight / self.total if self.total else 0.0

    def seconds(self, weight: int) -> float | None:
        """Return the time that a weight represents."""
        return None if self.weight_s is None else weight * self.weight_s

    def costs(self, self_weight: int, total_weight: int) -> Costs:
        """Return the figures of a row with these weights."""
        return (
            self_weight,
            total_weight,
            self.share(self_weight),
            self.share(total_weight),
            self.seconds(self_weight),
            self.seconds(total_weight),
        )

    def waiting(self, weight: int) -> tuple[int, float, float | None]:
        """Return the additional figures of a `HotRow` with this waiting weight."""
        return weight, self.share(weight), self.seconds(weight)


def scale_of(profile: Profile) -> Scale:
    """Return the scale of a profile: a sample represents its period, a nanosecond itself."""
    weight_s = {Unit.SAMPLES: profile.period_ns / 1e9 or None, Unit.NANOSECONDS: 1e-9}.get(profile.unit)
    return Scale(profile.unit, profile.total_weight, weight_s)


IsLibrary = Callable[[str], bool]
"""Predicate of a frame's file."""


def library_test(own_file: str, frames: Iterable[Frame]) -> IsLibrary:
    """Return a cached test whether a file is a library's; `own_file`, the region's, never is.

    Machine code counts as a library's if the frames include Python. If they do not, it is the profiled code,
    and nothing is a library's.
    """
    beside_python = any(frame.file.endswith(".py") or frame.file.startswith("<") for frame in frames)

    @cache
    def is_library(file: str) -> bool:
        return beside_python and file != own_file and is_library_file(file)

    return is_library


def wanted_threads(profile: Profile, wanted: str) -> tuple[int, ...]:
    """Return the indexes of threads with this name or system id; raise `UsageError` if there are none."""
    meant = [n for n, thread in enumerate(profile.threads) if wanted in (thread.name, str(thread.tid))]
    if not meant:
        there = ", ".join(f"{short(thread.name)} ({thread.tid})" for thread in profile.threads) or "none"
        raise UsageError(f"no samples of a thread {wanted!r}", f"the run has samples of: {there}")
    return tuple(meant)


@dataclass(frozen=True, slots=True)
class Report:
    """A run with the tables of its samples.

    Tables are cut to the limit; `functions_found` and `lines_found` are the numbers of all rows.
    """

    run: Run
    options: ReportOptions
    scale: Scale
    functions: tuple[HotRow, ...]
    functions_found: int
    lines: tuple[LineRow, ...]
    lines_found: int
    lines_elsewhere: int
    """Weight of the samples without any line of the user's."""
    changed_files: tuple[str, ...]
    """Files of shown lines that changed after the run; their source is not shown."""
    threads: tuple[ThreadRow, ...]
    """All threads of the run, even if the report is about one."""
    activity: ActivityWeights
    is_by_work: bool
    """Whether working comes before waiting: several threads were sampled, some of which may be idle."""
    works_at: Spender | None
    waits_at: Spender | None
    """Functions that take most of the working and of the waiting time, with their library calls."""
    tree: Node
    """Call tree; library frames are folded unless `show_all` is set."""
    tree_activity: Activity
    """Samples in the tree: of several threads, only the working ones, unless others are requested."""
    stated: bool
    """Whether totals are those of the run's file, a call graph, which the tree approximates."""
    is_library: IsLibrary


def build_report(run: Run, options: ReportOptions, *, whole_tree: bool = False) -> Report:
    """Build the rows of a run's report; raise `UsageError` for a thread that the run does not have.

    The call tree of several threads has only working samples by default, all with `whole_tree`.
    """
    if run.profile is not None:
        run = replace(run, profile=fold_addresses(run.profile))
    everything = sum_samples(run.profile or Profile())
    source = source_of(infos_of([run]), options.source_root)
    shown = _shown(everything, options, source, whole_tree=whole_tree)
    profile, scale = shown.profile, scale_of(shown.profile)
    is_library = library_test(run.info.region.file, profile.frames)
    named = number_functions(profile.frames, by_line=bool(profile.totals))
    folded = fold_libraries(profile, is_library, None if profile.totals else named)
    of_users = leave_out_libraries(profile, is_library, folded)
    selection = _selection(options, shown)
    functions = tables.function_table(profile, selection, named)
    of_lines, elsewhere = (profile, 0) if options.show_all else only_users_code(of_users, is_library)
    lines = tables.line_table(of_lines, selection)
    order = _order(options.sort, selection)
    shown_lines = sorted(lines.rows, key=order)[: options.limit]
    works_at, waits_at = _spenders(profile, of_users, shown.waiting)
    of_tree = only_active(profile if options.show_all else folded, shown.waiting, shown.of_tree)
    return Report(
        run=run,
        options=options,
        scale=scale,
        functions=tuple(_function(row, scale) for row in sorted(functions.rows, key=order)[: options.limit]),
        functions_found=functions.found,
        lines=tuple(_line(row, scale, source) for row in shown_lines),
        lines_found=lines.found,
        lines_elsewhere=elsewhere,
        changed_files=tuple(sorted(source.changed & {row.file for row in shown_lines})),
        threads=_threads(everything),
        activity=shown.activity,
        is_by_work=shown.by_work,
        works_at=works_at,
        waits_at=waits_at,
        tree=call_tree(of_tree, named),
        tree_activity=shown.of_tree,
        stated=bool(profile.totals),
        is_library=is_library,
    )


_MIN_WORKING = 0.02
"""Share of working samples of several threads below which waiting is not put last."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """Samples of the selected threads and activity."""

    activity: ActivityWeights
    waiting: frozenset[int]
    profile: Profile
    by_work: bool
    of_tree: Activity


def _shown(everything: Profile, options: ReportOptions, source: SourceLines, *, whole_tree: bool) -> _Shown:
    of_threads = _only_thread(everything, options.thread)
    waiting = waiting_stacks(of_threads, source.line)
    weights = ActivityWeights.of(of_threads, waiting)
    are_several = len({sample.thread for sample in of_threads.samples}) > 1
    do_both = weights.waiting and weights.working >= _MIN_WORKING * (weights.working + weights.waiting)
    by_work = options.activity is Activity.ALL and are_several and bool(do_both)
    of_tree = Activity.WORKING if by_work and not whole_tree else options.activity
    return _Shown(weights, waiting, only_active(of_threads, waiting, options.activity), by_work, of_tree)


def _spenders(
    profile: Profile, of_users: Profile, waiting: frozenset[int]
) -> tuple[Spender | None, Spender | None]:
    """Return the functions that take most of the working and of the waiting time."""
    working = (stack for stack in range(len(profile.stacks)) if stack not in waiting)
    return top_spender(profile, of_users.stacks, working), top_spender(profile, of_users.stacks, waiting)


@dataclass(frozen=True, slots=True)
class ActivityWeights:
    """Weights of all samples of the threads that a report is about, whichever of them it shows."""

    working: int
    waiting: int

    @classmethod
    def of(cls, profile: Profile, waiting: Collection[int]) -> ActivityWeights:
        """Return the weights in a profile, with the indexes of the stacks that waited."""
        waited = sum(sample.weight for sample in profile.samples if sample.stack in waiting)
        return cls(profile.total_weight - waited, waited)


def only_active(profile: Profile, waiting: Collection[int], activity: Activity) -> Profile:
    """Return the profile with only the samples of an activity; the same object if these are all."""
    if activity is Activity.ALL:
        return profile
    waits = activity is Activity.WAITING
    samples = tuple(sample for sample in profile.samples if (sample.stack in waiting) is waits)
    # Stated totals include all samples.
    if samples == profile.samples:
        return profile
    return replace(profile, samples=samples, totals=(), starts=())


def _selection(options: ReportOptions, shown: _Shown) -> tables.Selection:
    # Tables are sorted by own weight; another order needs all rows.
    hottest = options.limit if options.sort is Sort.SELF else None
    return tables.Selection(hottest, shown.waiting, shown.by_work)


def _function(row: tables.FunctionRow, scale: Scale) -> HotRow:
    costs = scale.costs(row.self_weight, row.total_weight)
    return HotRow(row.name, row.file, row.line, *costs, *scale.waiting(row.waiting_weight))


def _line(row: tables.LineRow, scale: Scale, source: SourceLines) -> LineRow:
    # In call graphs, the line that makes a library call is approximate; the total is exact.
    costs = scale.costs(min(row.self_weight, row.total_weight), row.total_weight)
    waiting = scale.waiting(row.waiting_weight)
    return LineRow(row.name, row.file, row.line, *costs, *waiting, source=source.line(row.file, row.line))


_Row: TypeAlias = tables.FunctionRow | tables.LineRow


def _order(sort: Sort, selection: tables.Selection) -> Callable[[_Row], tuple[int, int, int, str, str, int]]:
    def key(row: _Row) -> tuple[int, int, int, str, str, int]:
        heat = {
            Sort.NAME: (0, 0, 0),
            Sort.TOTAL: (-row.total_weight, -row.self_weight, 0),
            Sort.SELF: tables.heat(row, selection),
        }[sort]
        return *heat, row.name, row.file, row.line

    return key


def _threads(profile: Profile) -> tuple[ThreadRow, ...]:
    scale = scale_of(profile)
    return tuple(
        ThreadRow(*_named(row.thread), row.weight, scale.share(row.weight), scale.seconds(row.weight))
        for row in tables.thread_rows(profile)
    )


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """Threads whose names differ only in numbers, such as those of a pool."""

    name: str
    """Their name, with `*` for a number; of a single thread, its own name."""
    threads: tuple[ThreadRow, ...]

    @property
    def samples(self) -> int:
        """Weight of all their samples."""
        return sum(row.samples for row in self.threads)

    @property
    def share(self) -> float:
        """Their part of all samples."""
        return sum(row.share for row in self.threads)

    @property
    def seconds(self) -> float | None:
        """Time of their samples, summed."""
        known = [row.seconds for row in self.threads if row.seconds is not None]
        return sum(known) if known else None


_MIN_GROUP = 3
"""Smallest number of threads that are shown as a group."""
_NUMBER = re.compile(r"\d+")


def thread_groups(rows: Sequence[ThreadRow]) -> tuple[ThreadGroup, ...]:
    """Return the threads in groups of at least three by process and name, the heaviest group first."""
    groups: dict[tuple[int, str], list[ThreadRow]] = {}
    for row in rows:
        groups.setdefault((row.pid, _NUMBER.sub("*", row.name)), []).append(row)
    found = []
    for (_, name), members in groups.items():
        if len(members) >= _MIN_GROUP:
            found.append(ThreadGroup(name, tuple(members)))
        else:
            found += [ThreadGroup(row.name, (row,)) for row in members]
    return tuple(sorted(found, key=lambda group: (-group.samples, group.name)))


def _named(thread: Thread) -> tuple[str, int, int]:
    return thread.name, thread.pid, thread.tid


def _only_thread(profile: Profile, wanted: str | None) -> Profile:
    if wanted is None:
        return profile
    meant = frozenset(wanted_threads(profile, wanted))
    samples = tuple(sample for sample in profile.samples if sample.thread in meant)
    # Stated totals include all threads.
    if samples == profile.samples:
        return profile
    return replace(profile, samples=samples, totals=(), starts=())


_MIN_SURE = 0.01
"""Share below which the uncertainty is not shown."""


def plus_minus(weight: int, scale: Scale) -> str:
    """Format the uncertainty of a weight's share in points: `±6`; empty for small shares."""
    if scale.unit is not Unit.SAMPLES or scale.share(weight) < _MIN_SURE:
        return ""
    low, high = share_interval(weight, scale.total)
    return f"±{percent((high - low) / 2, scale.total).removesuffix(' %')}".replace("<", "")
