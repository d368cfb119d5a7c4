"""Report of a sampled run, or of merged runs: sentences, facts, tables and call tree; how many rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from profkit.model.profile import Frame, Profile
from profkit.model.run import Run
from profkit.render.document import (
    Block,
    Call,
    Cell,
    Column,
    Document,
    Flame,
    Remark,
    Role,
    Section,
    Table,
    cells,
    more_than,
    shares,
)
from profkit.render.formatting import Tone, alike, bar, cost_word, count, percent, place, weight_text
from profkit.render.options import DEFAULTS, Activity, ReportOptions, Sort
from profkit.render.views.costs import CostRow, Scale, plus_minus
from profkit.render.views.header import details, facts, head, why_no_samples
from profkit.render.views.operators import trace_blocks
from profkit.render.views.processes import process_blocks
from profkit.render.views.sampled import Report, build_report
from profkit.render.views.summary import summary
from profkit.render.views.tables import (
    HotRow,
    Tables,
    TreeKind,
    TreeRow,
    build_tables,
    shorten_chains,
    tree_rows,
)
from profkit.render.views.threads import ThreadGroup, thread_groups
from profkit.render.views.unsampled import await_blocks
from profkit.transforms.origin import package_of
from profkit.units import Unit

_BAR = 6
_WIDE = 110
_SPARE = 20
"""Additional cells that source lines need compared with names."""
_MAX_CALLERS = 3
"""Most callers that are named per function."""
_MANY_PROCESSES, _MOST_CALLS = 15, 40
"""Number of processes from which on tables have fewer rows, and the most rows that their tree then has."""
_SEARCHED_FRAMES = 64
"""Frames at the leaf end of a stack that are searched for callers."""


def sampled(runs: Sequence[Run], options: ReportOptions = DEFAULTS) -> Document:
    """Yield the report of the first run; omit the others, which are of the same session.

    Raise `UsageError` if the run does not have the selected thread.
    """
    limit = options.rows(10 if _has_many_processes(runs[0]) else 15, 10)
    return _blocks(build_report(runs[0], replace(options, limit=limit)))


def _has_many_processes(run: Run) -> bool:
    return run.merged is not None and len(run.merged.processes) > _MANY_PROCESSES


def _blocks(report: Report) -> Iterator[Block]:
    run, options = report.run, report.options
    known = facts(run)
    if report.scale.total == 0:
        yield from head(run, known)
        yield Remark(_why_empty(report), Tone.PLAIN, gap=True)
        yield from await_blocks(run.info, options)
        yield from trace_blocks(run.trace, options)
        yield from details(known)
        return
    yield from head(run, known, summary(report))
    if options.thread is not None:
        yield Section(f"Only thread {options.thread}", "shares are of its samples")
    yield from trace_blocks(run.trace, options)
    tables = build_tables(report)
    yield from _functions(report, tables.functions, tables.functions_found)
    yield from await_blocks(run.info, options)
    yield Flame(report.tree, report.scale.total, report.is_library)
    yield from _tree(report)
    if tables.lines:
        yield from _lines(report, tables)
    if run.merged is not None:
        yield from process_blocks(run.merged, run.info, options, report.scale.total, report.is_library)
    if len(report.threads) > 1 and not _are_ranks(report):
        yield from _threads(report)
    yield from details(known)


def _are_ranks(report: Report) -> bool:
    """Return whether each thread is the only one of a rank, of which the table of processes says the same."""
    merged = report.run.merged
    return merged is not None and merged.ranks is not None and len(report.threads) == len(merged.processes)


def _why_empty(report: Report) -> str:
    activity = report.options.activity
    if activity is not Activity.ALL and report.activity.working + report.activity.waiting:
        return f"No sample is {activity.value}: leave out --{activity.value}."
    return why_no_samples(report.run)


def cost_columns(rows: Sequence[HotRow], scale: Scale, spare: int = 0) -> list[Column]:
    """Return columns of own and total cost; on terminals, other columns need `spare` more cells.

    If any row has waiting, the own cost is shown in two columns, working and waiting.
    """
    selves = [row.self_share for row in rows]
    most = max(selves, default=0.0) or 1.0
    # Both columns of times have one unit, so that all their figures compare.
    times = alike([*(row.self_s for row in rows), *(row.total_s for row in rows)])
    own_times = [time if row.self_samples else "" for row, time in zip(rows, times, strict=False)]
    waits = any(row.waiting_samples for row in rows)
    working = [own_share(row.self_samples - row.waiting_samples, scale) for row in rows]
    weights = [weight_text(row.self_samples, scale.unit) if row.self_samples else "" for row in rows]
    bars = shares((bar(share / most, _BAR) for share in selves), selves)
    # Weights that are not times take the place of times.
    is_time, counts = scale.weight_s is not None, scale.unit is not Unit.NANOSECONDS
    wide = _WIDE if is_time else 60
    columns = {
        "self": Column("working" if waits else "self", working),
        "waiting": Column("waiting", [own_share(row.waiting_samples, scale) for row in rows]),
        "bar": Column("", bars, Role.DRAWING, 76 + spare, brief=False),
        "time": Column("time", cells(own_times), width=60 + spare),
        "samples": Column(scale.unit.value, cells(weights), width=spare + wide, brief=not is_time),
        "total": Column("total", [share_cell(row.total_share, scale) for row in rows]),
        "total time": Column("time", cells(times[len(rows) :]), width=96 + spare, brief=False),
    }
    shown = {"waiting": waits, "time": is_time, "total time": is_time, "samples": counts or not is_time}
    return [column for name, column in columns.items() if shown.get(name, True)]


def share_cell(share: float, scale: Scale) -> Cell:
    """Return a share, coloured by its size."""
    return Cell(percent(share, scale.total), heat=share)


def own_share(weight: int, scale: Scale) -> Cell:
    """Return the share of a weight with its uncertainty in points, `43 % ±6`; empty for 0."""
    return (
        share_cell(scale.share(weight), scale)._replace(more=plus_minus(weight, scale)) if weight else Cell()
    )


def _functions(report: Report, rows: Sequence[HotRow], found: int) -> Iterator[Block]:
    """Yield the hottest functions with their own cost, their cost including callees, and their places."""
    columns = cost_columns(rows, report.scale)
    names = [
        Cell(row.name, Tone.FAINT) if report.is_library(row.file) else Cell(row.name, heat=row.self_share)
        for row in rows
    ]
    columns += [Column("function", names, Role.NAME), _places(rows, report)]
    if report.options.brief:
        callers = _callers(report)
        paths = [" ← ".join(callers.get(_identity(row, report), ())) for row in rows]
        columns.append(Column("main callers", cells(paths), Role.NAME))
    yield Section("Hottest functions", _order_remark(report))
    yield Table(columns)
    yield from more_than(len(rows), found, "function")


def _places(rows: Sequence[CostRow], report: Report, head: str = "where") -> Column:
    cwd = report.run.info.process.cwd
    return Column(head, cells((place(row.file, row.line, cwd) for row in rows), Tone.FAINT), Role.PLACE)


def _identity(function: CostRow | Frame, report: Report) -> tuple[str, str, int]:
    """Return a function's identity; it includes the line if the file states totals by function."""
    return function.name, function.file, function.line if report.stated else 0


def _callers(report: Report) -> Mapping[tuple[str, str, int], tuple[str, ...]]:
    """Return the user's callers of each function on its path with most self time, nearest first."""
    profile = report.run.profile or Profile()
    weights_by_callers: defaultdict[tuple[str, str, int], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for stack, weight in profile.weights_by_stack.items():
        if stack_of := profile.stacks[stack]:
            *above, leaf = (profile.frames[number] for number in stack_of[-_SEARCHED_FRAMES:])
            users = (frame.name for frame in reversed(above) if not report.is_library(frame.file))
            # List a recursive function once, so that more of the path is shown.
            callers = dict.fromkeys(name for name in users if name != leaf.name)
            weights_by_callers[_identity(leaf, report)][tuple(islice(callers, _MAX_CALLERS))] += weight
    return {key: paths.most_common(1)[0][0] for key, paths in weights_by_callers.items()}


def _lines(report: Report, tables: Tables) -> Iterator[Block]:
    """Yield the hottest lines with their source."""
    rows, scale = tables.lines, report.scale
    columns = cost_columns(rows, scale, _SPARE)
    sources = cells(row.source or "" for row in rows)
    columns += [_places(rows, report, "line")] + [Column("source", sources, Role.SOURCE)] * any(sources)
    charged = "" if report.options.show_all else "; library calls count towards the calling line"
    yield Section("Hottest lines", _order_remark(report) + charged)
    yield Table(columns)
    yield from more_than(len(rows), tables.lines_found, "line")
    if tables.lines_elsewhere:
        share = percent(scale.share(tables.lines_elsewhere), scale.total)
        yield Remark(f"{share} of the samples have no line of your code; --show-all shows theirs")
    if tables.changed_files:
        files = count(len(tables.changed_files), "file")
        yield Remark(f"{files} changed after the run began; source of such files is not shown")


def _order_remark(report: Report) -> str:
    cost = cost_word(report.scale.unit)
    by_work = "working" if report.is_by_work else "self"
    order = {
        Sort.SELF: f"by {by_work} {cost}",
        Sort.TOTAL: f"by {cost} including callees",
        Sort.NAME: "by name",
    }[report.options.sort]
    activity = report.options.activity
    if activity is Activity.ALL:
        return order
    total = report.activity.working + report.activity.waiting
    return f"{order}; only {activity.value}, {percent(report.scale.total / total, total)} of all samples"


def _tree(report: Report) -> Iterator[Block]:
    """Yield the tree of calls down to the minimum share in the options."""
    options, scale, rows = report.options, report.scale, _tree_rows(report)
    remarks = [] if options.show_all else ["library calls folded"]
    if report.tree_activity is not Activity.ALL and report.activity.waiting:
        remarks.append(f"only {report.tree_activity.value} samples")
    remarks += ["an approximation: the file has no stacks"] if report.stated else []
    yield Section("Call tree", "; ".join(remarks))
    times = Column("time", cells(alike([row.total_s for row in rows]), Tone.FAINT), brief=False)
    selves = [share_cell(row.self_share, scale) if row.self_samples else Cell() for row in rows]
    yield Table(
        [
            Column("total", [share_cell(row.total_share, scale) for row in rows]),
            *([times] if scale.weight_s is not None else []),
            Column("self", selves),
            Column("call", [_call(row, report) for row in rows], Role.CALL),
        ]
    )


def _tree_rows(report: Report) -> tuple[TreeRow, ...]:
    """Return the rows of the tree; many processes that do different things have only their largest calls."""
    options = report.options
    least = options.min_share if options.min_share is not None else 0.02 if options.brief else 0.01
    is_bounded = options.min_share is None and not options.show_all and _has_many_processes(report.run)
    while True:
        rows = tree_rows(report.tree, report.scale, least, report.is_library, options.depth)
        rows = rows if options.show_all else shorten_chains(rows)
        if not is_bounded or len(rows) <= _MOST_CALLS or least >= 1:
            return rows
        least *= 1.5


def _call(row: TreeRow, report: Report) -> Call:
    if row.kind is TreeKind.SMALL:
        return Call(f"… {count(row.hidden, 'smaller call')}", "", row.depth, row.last, Tone.ASIDE)
    if row.kind is TreeKind.CHAIN:
        return Call(f"⋮ {count(row.hidden, 'nested call')}", "", row.depth, row.last, Tone.ASIDE)
    where = place(row.file, row.line, report.run.info.process.cwd)
    if row.kind is TreeKind.LIBRARY:
        where = where if report.options.show_all else f"[{package_of(row.file)}]"
        return Call(row.name, where, row.depth, row.last, Tone.ASIDE)
    return Call(row.name, where, row.depth, row.last, heat=row.total_share)


def _threads(report: Report) -> Iterator[Block]:
    """Yield the threads, those with most samples first; threads of a pool are one row by default."""
    everything = tuple(ThreadGroup(row.name, (row,)) for row in report.threads)
    groups = everything if report.options.show_all else thread_groups(report.threads)
    rows = groups[: report.options.limit]
    samples = sum(row.samples for row in report.threads)
    several = len({row.pid for row in report.threads}) > 1
    pids = Column("pid", cells((str(row.threads[0].pid) for row in rows), Tone.FAINT))
    yield Section("Threads")
    yield Table(
        [
            Column(
                "share", shares((percent(row.share, samples) for row in rows), (row.share for row in rows))
            ),
            *_thread_costs(rows, report.scale),
            *_thread_states(rows),
            *([pids] if several else []),
            Column("tid", cells(map(_tid, rows), Tone.FAINT)),
            Column("thread", cells(row.name for row in rows), Role.WORDS),
        ]
    )
    hidden = sum(len(group.threads) for group in groups[len(rows) :])
    yield from more_than(0, hidden, "thread")


def _tid(group: ThreadGroup) -> str:
    first, *others = group.threads
    return count(len(group.threads), "thread") if others else str(first.tid)


def _thread_costs(rows: Sequence[ThreadGroup], scale: Scale) -> list[Column]:
    """Return the columns of times, of weights, or of both, without empty or redundant ones."""
    times = Column("time", cells(alike([row.seconds for row in rows])))
    weights = Column(scale.unit.value, cells(weight_text(row.samples, scale.unit) for row in rows))
    if scale.weight_s is None:
        return [weights]
    return [times] if scale.unit is Unit.NANOSECONDS else [times, weights]


def _thread_states(rows: Sequence[ThreadGroup]) -> list[Column]:
    """Return the columns of the parts of each thread's time, without empty ones."""
    parts = {"worked": [row.working_share for row in rows], "GIL": [row.gil_share for row in rows]}
    return [
        Column(
            name,
            cells(
                "" if share is None else percent(share, row.samples)
                for share, row in zip(found, rows, strict=True)
            ),
        )
        for name, found in parts.items()
        if any(found)
    ]
