"""From a run to the rows of its report; what every renderer lays out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from profkit.errors import UsageError
from profkit.model.calltree import Node
from profkit.model.frame import Thread
from profkit.model.profile import Profile
from profkit.model.run import Run
from profkit.render.escape import short
from profkit.render.options import ReportOptions, Sort
from profkit.render.rows import CostRow, LineRow, Scale, ThreadRow, scale_of
from profkit.render.source import SourceLines
from profkit.render.user_code import IsLibrary, charge_callers, library_test
from profkit.transforms.tables import function_rows, line_rows, thread_rows
from profkit.transforms.tree import call_tree, fold_frames


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
    is_library: IsLibrary


def build_report(run: Run, options: ReportOptions) -> Report:
    """The rows of a run's report; raises `UsageError` for a thread that the run does not have."""
    everything = run.profile or Profile()
    profile = _only_thread(everything, options.thread)
    scale = scale_of(profile)
    is_library = library_test(run.info.region.file)
    functions = _functions(profile, scale, options.sort)
    charged = profile if options.show_all else charge_callers(profile, is_library)
    lines = _lines(charged, scale, options.sort)
    source = SourceLines(run.info.started_ns, run.info.process.cwd)
    tree = call_tree(profile)
    return Report(
        run=run,
        options=options,
        scale=scale,
        functions=tuple(functions[: options.limit]),
        functions_found=len(functions),
        lines=tuple(_with_source(row, source) for row in lines[: options.limit]),
        lines_found=len(lines),
        changed_files=tuple(sorted(source.changed)),
        threads=_threads(everything),
        tree=tree if options.show_all else fold_frames(tree, is_library),
        is_library=is_library,
    )


def _functions(profile: Profile, scale: Scale, sort: Sort) -> list[CostRow]:
    rows = [
        CostRow(row.name, row.file, row.line, *scale.costs(row.self_weight, row.total_weight))
        for row in function_rows(profile)
    ]
    return sorted(rows, key=_order(sort))


def _lines(profile: Profile, scale: Scale, sort: Sort) -> list[LineRow]:
    rows = [
        LineRow(row.name, row.file, row.line, *scale.costs(row.self_weight, row.total_weight), source=None)
        for row in line_rows(profile)
        if row.line
    ]
    return sorted(rows, key=_order(sort))


def _order(sort: Sort) -> Callable[[CostRow], tuple[int, int, str, str, int]]:
    if sort is Sort.NAME:
        return lambda row: (0, 0, row.name, row.file, row.line)
    if sort is Sort.TOTAL:
        return lambda row: (-row.total_samples, -row.self_samples, row.name, row.file, row.line)
    return lambda row: (-row.self_samples, -row.total_samples, row.name, row.file, row.line)


def _with_source(row: LineRow, source: SourceLines) -> LineRow:
    return replace(row, source=source.line(row.file, row.line))


def _threads(profile: Profile) -> tuple[ThreadRow, ...]:
    scale = scale_of(profile)
    return tuple(
        ThreadRow(*_named(row.thread), row.weight, scale.share(row.weight), scale.seconds(row.weight))
        for row in thread_rows(profile)
    )


def _named(thread: Thread) -> tuple[str, int, int]:
    return thread.name, thread.pid, thread.tid


def _only_thread(profile: Profile, wanted: str | None) -> Profile:
    if wanted is None:
        return profile
    meant = {n for n, thread in enumerate(profile.threads) if wanted in (thread.name, str(thread.tid))}
    if not meant:
        there = ", ".join(f"{short(thread.name)} ({thread.tid})" for thread in profile.threads) or "none"
        raise UsageError(f"no samples of a thread {wanted!r}", f"the run has samples of: {there}")
    return replace(profile, samples=tuple(sample for sample in profile.samples if sample.thread in meant))
