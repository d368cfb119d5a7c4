"""From a run to the rows of its report; what every renderer lays out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from profkit.model.profile import Node, Profile, Thread
from profkit.model.run import Run
from profkit.render.options import ReportOptions, Sort
from profkit.render.rows import CostRow, LineRow, Scale, ThreadRow, scale_of
from profkit.render.source import SourceLines, infos_of, source_of
from profkit.render.threads import wanted_threads
from profkit.render.user_code import IsLibrary, library_test
from profkit.transforms import tables
from profkit.transforms.simplify import fold_addresses, fold_libraries, leave_out_libraries
from profkit.transforms.trees import call_tree, number_functions, sum_samples


@dataclass(frozen=True, slots=True)
class Report:
    """A run beside the tables of its samples.

    Tables are cut to the limit; `functions_found` and `lines_found` say how many rows there were.
    """

    run: Run
    options: ReportOptions
    scale: Scale
    functions: tuple[CostRow, ...]
    functions_found: int
    lines: tuple[LineRow, ...]
    lines_found: int
    changed_files: tuple[str, ...]
    """Files of shown lines that changed after the run, so that their source is not shown."""
    threads: tuple[ThreadRow, ...]
    """All threads of the run, also where the report is about one."""
    tree: Node
    """Library frames are folded unless the options say otherwise."""
    stated: bool
    """Totals of functions and lines are those of the run's file, a call graph; the tree approximates it."""
    is_library: IsLibrary


def build_report(run: Run, options: ReportOptions) -> Report:
    """The rows of a run's report; raises `UsageError` for a thread that the run does not have."""
    if run.profile is not None:
        run = replace(run, profile=fold_addresses(run.profile))
    everything = sum_samples(run.profile or Profile())
    profile = _only_thread(everything, options.thread)
    scale = scale_of(profile)
    is_library = library_test(run.info.region.file, profile.frames)
    folded = profile if options.show_all else fold_libraries(profile, is_library)
    charged = profile if options.show_all else leave_out_libraries(profile, is_library, folded)
    # Tables come by own weight; in another order any row can be the first.
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
    # Which line a library call counts for is an approximation in call graphs; the total is exact.
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
    # Stated totals are of all threads.
    return profile if samples == profile.samples else replace(profile, samples=samples, totals=())
