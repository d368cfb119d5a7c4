"""Content of reports of sampled runs: rows of functions, lines and threads, and the call tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache

from profkit.errors import UsageError
from profkit.model.profile import Frame, Node, Profile, Thread
from profkit.model.run import Run
from profkit.render.escape import short
from profkit.render.formatting import percent
from profkit.render.options import ReportOptions, Sort
from profkit.render.views.source import SourceLines, infos_of, source_of
from profkit.stats import share_interval
from profkit.transforms import tables
from profkit.transforms.origin import is_library_file
from profkit.transforms.simplify import fold_addresses, fold_libraries, leave_out_libraries
from profkit.transforms.trees import call_tree, number_functions, sum_samples
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
class LineRow(CostRow):
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
    functions: tuple[CostRow, ...]
    functions_found: int
    lines: tuple[LineRow, ...]
    lines_found: int
    changed_files: tuple[str, ...]
    """Files of shown lines that changed after the run; their source is not shown."""
    threads: tuple[ThreadRow, ...]
    """All threads of the run, even if the report is about one."""
    tree: Node
    """Call tree; library frames are folded unless `show_all` is set."""
    stated: bool
    """Whether totals are those of the run's file, a call graph, which the tree approximates."""
    is_library: IsLibrary


def build_report(run: Run, options: ReportOptions) -> Report:
    """Build the rows of a run's report; raise `UsageError` for a thread that the run does not have."""
    if run.profile is not None:
        run = replace(run, profile=fold_addresses(run.profile))
    everything = sum_samples(run.profile or Profile())
    profile = _only_thread(everything, options.thread)
    scale = scale_of(profile)
    is_library = library_test(run.info.region.file, profile.frames)
    folded = profile if options.show_all else fold_libraries(profile, is_library)
    charged = profile if options.show_all else leave_out_libraries(profile, is_library, folded)
    # Tables are sorted by own weight; another order needs all rows.
    hottest = options.limit if options.sort is Sort.SELF else None
    named = number_functions(profile.frames, by_line=bool(profile.totals))
    functions, lines = tables.function_table(profile, hottest, named), tables.line_table(charged, hottest)
    order = _order(options.sort)
    source = source_of(infos_of([run]), options.source_root)
    return Report(
        run=run,
        options=options,
        scale=scale,
        functions=tuple(_function(row, scale) for row in sorted(functions.rows, key=order)[: options.limit]),
        functions_found=functions.found,
        lines=tuple(_line(row, scale, source) for row in sorted(lines.rows, key=order)[: options.limit]),
        lines_found=lines.found,
        changed_files=tuple(sorted(source.changed)),
        threads=_threads(everything),
        tree=call_tree(folded, named),
        stated=bool(profile.totals),
        is_library=is_library,
    )


def _function(row: tables.FunctionRow, scale: Scale) -> CostRow:
    return CostRow(row.name, row.file, row.line, *scale.costs(row.self_weight, row.total_weight))


def _line(row: tables.LineRow, scale: Scale, source: SourceLines) -> LineRow:
    # In call graphs, the line that makes a library call is approximate; the total is exact.
    costs = scale.costs(min(row.self_weight, row.total_weight), row.total_weight)
    return LineRow(row.name, row.file, row.line, *costs, source=source.line(row.file, row.line))


def _order(sort: Sort) -> Callable[[tables.FunctionRow | tables.LineRow], tuple[int, int, str, str, int]]:
    if sort is Sort.NAME:
        return lambda row: (0, 0, row.name, row.file, row.line)
    if sort is Sort.TOTAL:
        return lambda row: (-row.total_weight, -row.self_weight, row.name, row.file, row.line)
    return lambda row: (-row.self_weight, -row.total_weight, row.name, row.file, row.line)


def _threads(profile: Profile) -> tuple[ThreadRow, ...]:
    scale = scale_of(profile)
    return tuple(
        ThreadRow(*_named(row.thread), row.weight, scale.share(row.weight), scale.seconds(row.weight))
        for row in tables.thread_rows(profile)
    )


def _named(thread: Thread) -> tuple[str, int, int]:
    return thread.name, thread.pid, thread.tid


def _only_thread(profile: Profile, wanted: str | None) -> Profile:
    if wanted is None:
        return profile
    meant = frozenset(wanted_threads(profile, wanted))
    samples = tuple(sample for sample in profile.samples if sample.thread in meant)
    # Stated totals include all threads.
    return profile if samples == profile.samples else replace(profile, samples=samples, totals=())


_MIN_SURE = 0.01
"""Share below which the uncertainty is not shown."""


def plus_minus(row: CostRow, scale: Scale) -> str:
    """Format the uncertainty of a row's own share in points: `±6`; empty for small shares."""
    if scale.unit is not Unit.SAMPLES or row.self_share < _MIN_SURE:
        return ""
    low, high = share_interval(row.self_samples, scale.total)
    return f"±{percent((high - low) / 2, scale.total).removesuffix(' %')}".replace("<", "")
