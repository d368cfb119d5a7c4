"""Content of reports of sampled runs: selected samples, working and waiting, the call tree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property

from profkit.model.profile import Frame, Node, Profile
from profkit.model.run import Run
from profkit.render.options import Activity, ReportOptions
from profkit.render.views.costs import Scale, scale_of
from profkit.render.views.source import SourceLines, infos_of, source_of
from profkit.render.views.threads import ThreadRow, only_thread, thread_rows
from profkit.transforms.origin import is_library_file
from profkit.transforms.simplify import fold_addresses, fold_libraries, leave_out_libraries
from profkit.transforms.trees import Functions, call_tree, number_functions, sum_samples, weight_of
from profkit.transforms.values import run_with_value
from profkit.transforms.waiting import waiting_stacks

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


@dataclass(frozen=True)
class ReportSamples:
    """Samples that a report is about, and what its parts derive from them together."""

    profile: Profile
    """Those of the selected threads and activity."""
    functions: Functions
    """Functions of the frames."""
    waiting: frozenset[int]
    """Indexes of the stacks of waiting threads."""
    source: SourceLines
    is_library: IsLibrary

    @cached_property
    def folded(self) -> Profile:
        """Stacks with folded library frames."""
        functions = None if self.profile.totals else self.functions
        return fold_libraries(self.profile, self.is_library, functions)

    @cached_property
    def of_users(self) -> Profile:
        """Stacks without library frames."""
        return leave_out_libraries(self.profile, self.is_library, self.functions)


@dataclass(frozen=True)
class Report:
    """A run with what sums up its samples; `views.tables` has its tables."""

    run: Run
    options: ReportOptions
    samples: ReportSamples
    scale: Scale
    threads: tuple[ThreadRow, ...]
    """All threads of the run, even if the report is about one."""
    activity: ActivityWeights
    is_by_work: bool
    """Whether working comes before waiting: several threads were sampled, some of which may be idle."""
    tree_activity: Activity
    """Samples in the tree: of several threads, only the working ones, unless others are requested."""
    stated: bool
    """Whether totals are those of the run's file, a call graph, which the tree approximates."""
    is_library: IsLibrary

    @cached_property
    def tree(self) -> Node:
        """Call tree; library frames are folded unless `show_all` is set."""
        samples = self.samples
        shown = samples.profile if self.options.show_all else samples.folded
        return call_tree(only_active(shown, samples.waiting, self.tree_activity), samples.functions)


def build_report(run: Run, options: ReportOptions, *, whole_tree: bool = False) -> Report:
    """Build a run's report; raise `UsageError` for a thread that the run does not have.

    The call tree of several threads has only working samples by default, all with `whole_tree`.
    """
    run = run_with_value(run, options.value)
    if run.profile is not None:
        run = replace(run, profile=fold_addresses(run.profile))
    everything = sum_samples(run.profile or Profile())
    source = source_of(infos_of([run]), options.source_root)
    shown = _shown(everything, options, source, whole_tree=whole_tree)
    profile = shown.profile
    is_library = library_test(run.info.region.file, profile.frames)
    named = number_functions(profile.frames, by_line=bool(profile.totals))
    return Report(
        run=run,
        options=options,
        samples=ReportSamples(profile, named, shown.waiting, source, is_library),
        scale=scale_of(profile),
        threads=thread_rows(everything, shown.waiting),
        activity=shown.activity,
        is_by_work=shown.by_work,
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
    of_threads = only_thread(everything, options.thread)
    waiting = waiting_stacks(everything, source.line) if of_threads.unit.is_time else frozenset()
    weights = ActivityWeights.of(of_threads, waiting)
    are_several = len(of_threads.weights_by_thread) > 1
    do_both = weights.waiting and weights.working >= _MIN_WORKING * (weights.working + weights.waiting)
    by_work = options.activity is Activity.ALL and are_several and bool(do_both)
    of_tree = Activity.WORKING if by_work and not whole_tree else options.activity
    return _Shown(weights, waiting, only_active(of_threads, waiting, options.activity), by_work, of_tree)


@dataclass(frozen=True, slots=True)
class ActivityWeights:
    """Weights of all samples of the threads that a report is about, whichever of them it shows."""

    working: int
    waiting: int

    @classmethod
    def of(cls, profile: Profile, waiting: Collection[int]) -> ActivityWeights:
        """Return the weights in a profile, with the indexes of the stacks that waited."""
        waited = weight_of(waiting, profile.weights_by_stack)
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
