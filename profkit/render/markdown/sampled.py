"""Markdown report of a sampled run, bounded in length, for a pull request or a language model."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from profkit.model.profile import Frame, Profile
from profkit.model.region import RegionKind
from profkit.model.run import Run
from profkit.render.escape import code, code_block, plain, short, table
from profkit.render.formatting import cost_word, count, moment, percent, place
from profkit.render.markdown.operators import trace_parts
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.awaits import await_titles, mean_tasks
from profkit.render.views.costs import CostRow, plus_minus
from profkit.render.views.header import facts, why_no_samples
from profkit.render.views.merged import are_states_known, differing_rows, odd_words, process_rows
from profkit.render.views.sampled import Report, build_report
from profkit.render.views.summary import summary
from profkit.render.views.tables import HotRow, Tables, build_tables
from profkit.render.views.tree import TreeKind, TreeRow, guides, shorten_chains, tree_rows
from profkit.transforms.origin import package_of
from profkit.transforms.unsampled_time import AwaitShare, await_shares
from profkit.units import format_duration

_MAX_NAMED = 3
"""Most differing processes that are named per function."""


def processes_markdown(report: Report) -> Iterator[str]:
    """Yield tables of processes and of functions whose shares differ; nothing for a single run."""
    merged, limit = report.run.merged, report.options.limit
    if merged is None:
        return
    total, rows = report.scale.total, process_rows(merged)
    known = are_states_known(rows)
    process_cells = [
        [
            percent(row.share, total),
            count(row.samples),
            count(row.calls),
            f"{row.cpu_share * 100:.0f} %" if row.cpu_share is not None else "",
            *([percent(row.working_share or 0.0, row.samples)] if known else []),
            str(row.pid),
            moment(row.started_ns)[:19],
            code(row.host),
        ]
        for row in rows[:limit]
    ]
    yield "## Processes"
    yield table(
        ["share:", "samples:", "calls:", "CPU:", *(["worked:"] if known else []), "pid:", "started", "host"],
        process_cells,
    )
    if len(rows) > len(process_cells):
        yield f"… and {len(rows) - len(process_cells):,} more."
    if differing := differing_rows(merged)[:limit]:
        yield "## Shares that differ between processes\n\nOf functions, including their library calls."
        cells = [
            [
                percent(row.share, total),
                plain(odd_words(row, _MAX_NAMED)),
                code(row.name),
                code(place(row.file, row.line, report.run.info.process.cwd)),
            ]
            for row in differing
        ]
        yield table(["all:", "share in pid", "function", "where"], cells)


_LIMIT = 10
_MIN_SHARE = 0.02
_MAX_TREE_ROWS = 30
_MAX_CALLERS = 3
"""Most callers that are named per suspect."""
_SEARCHED_FRAMES = 64
"""Frames at the leaf end of a stack that are searched for callers."""
_FACTS = (
    *("imported", "tool", "total", "runs", "started", "calls", "active", "samples"),
    *(
        "peak",
        "allocated",
        "left",
        "sampler",
        "tracker",
        "resources",
        "process",
        "tags",
        "link",
        "note",
        "error",
    ),
)
"""Facts of the header that the report includes."""


def sampled_markdown(
    runs: Sequence[Run], options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the report of the first run, in a few thousand characters regardless of its size.

    Raise `UsageError` if the run does not have the selected thread.
    """
    filled = replace(
        options,
        limit=_LIMIT if options.limit is None else options.limit,
        min_share=_MIN_SHARE if options.min_share is None else options.min_share,
    )
    return "\n\n".join(_parts(build_report(runs[0], filled)))


def _parts(report: Report) -> Iterator[str]:
    info = report.run.info
    yield f"# Profile of {code(info.label)}"
    where = place(info.region.file, info.region.key.line, info.process.cwd)
    merged = report.run.merged
    subject = f"Run {code(info.id)}" if merged is None else f"{count(len(merged.infos), 'run')}, merged,"
    yield f"{subject} of {code(where)}." if where else f"{subject.removesuffix(',')}."
    if report.scale.total:
        yield plain(" ".join(summary(report)), 800)
    listed = [fact for fact in facts(report.run) if fact.name in _FACTS]
    yield "\n".join(f"- {fact.name}: {plain(fact.text, 400)}" for fact in listed)
    if report.scale.total == 0:
        yield plain(why_no_samples(report.run), 400)
        yield from _awaits(report)
        yield from trace_parts(report.run.trace, report.options)
        return
    if report.options.thread is not None:
        yield f"Only thread {code(report.options.thread)}: shares are of its samples."
    least = report.options.min_share or 0.0
    calls = tree_rows(report.tree, report.scale, least, report.is_library, report.options.depth)
    tables = build_tables(report)
    yield from trace_parts(report.run.trace, report.options)
    yield from _suspects(report, tables)
    yield from _awaits(report)
    yield from _lines(report, tables)
    yield from _tree(report, calls)
    yield from processes_markdown(report)


def _awaits(report: Report) -> Iterator[str]:
    info = report.run.info
    found = await_shares(info)[: report.options.limit]
    if not found:
        return
    title, remark = await_titles(info)
    yield f"## {title}\n\n{remark.capitalize()}."
    is_program = info.region.kind is RegionKind.PROGRAM
    figures = ["tasks:"] if is_program else ["share:", "time:", "times:"]
    yield table(
        [*figures, "awaiting", "function", "where"],
        [
            [
                *([mean_tasks(line)] if is_program else _figures(line)),
                code(line.place.awaited),
                code(line.place.function),
                code(place(line.place.file, line.place.line, info.process.cwd)),
            ]
            for line in found
        ],
    )


def _figures(line: AwaitShare) -> list[str]:
    return [percent(line.share, 1000), format_duration(line.suspended_s), count(line.place.times)]


def _suspects(report: Report, tables: Tables) -> Iterator[str]:
    rows = [row for row in tables.functions if row.self_samples]
    if not rows:
        return
    callers = _callers(report)
    yield f"## Hottest functions\n\nBy self {cost_word(report.scale.unit)}."
    yield table(
        ["self:", "total:", "function", "where", "main callers"],
        [
            [
                _share(row, report),
                percent(row.total_share, report.scale.total),
                code(row.name),
                code(place(row.file, row.line, report.run.info.process.cwd)),
                " ← ".join(code(name, 60) for name in callers.get(_identity(row, report), ())),
            ]
            for row in rows
        ],
    )
    if tables.functions_found > len(tables.functions):
        yield f"… and {count(tables.functions_found - len(tables.functions), 'more function')}."


def _share(row: HotRow, report: Report) -> str:
    share = (
        f"{percent(row.self_share, report.scale.total)} {plus_minus(row.self_samples, report.scale)}".rstrip()
    )
    return f"{share}, {format_duration(row.self_s)}" if row.self_s is not None else share


def _identity(function: CostRow | Frame, report: Report) -> tuple[str, str, int]:
    """Return a function's identity; it includes the line if the file states totals by function."""
    return function.name, function.file, function.line if report.stated else 0


def _callers(report: Report) -> Mapping[tuple[str, str, int], tuple[str, ...]]:
    """Return the user's callers of each function on its path with most self time, nearest first."""
    profile = report.run.profile or Profile()
    weights: Counter[int] = Counter()
    for sample in profile.samples:
        weights[sample.stack] += sample.weight
    weights_by_callers: defaultdict[tuple[str, str, int], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for stack, weight in weights.items():
        if stack_of := profile.stacks[stack]:
            *above, leaf = (profile.frames[number] for number in stack_of[-_SEARCHED_FRAMES:])
            users = (frame.name for frame in reversed(above) if not report.is_library(frame.file))
            # List a recursive function once, so that more of the path is shown.
            callers = dict.fromkeys(name for name in users if name != leaf.name)
            weights_by_callers[_identity(leaf, report)][tuple(islice(callers, _MAX_CALLERS))] += weight
    return {key: paths.most_common(1)[0][0] for key, paths in weights_by_callers.items()}


def _lines(report: Report, tables: Tables) -> Iterator[str]:
    rows = [row for row in tables.lines if row.self_samples]
    if not rows:
        return
    cwd = report.run.info.process.cwd
    yield "## Hottest lines\n\nLibrary calls count towards the calling line."
    yield table(
        ["self:", "line", "source"],
        [
            [
                _share(row, report),
                code(place(row.file, row.line, cwd)),
                code(row.source) if row.source else "",
            ]
            for row in rows
        ],
    )


def _tree(report: Report, calls: tuple[TreeRow, ...]) -> Iterator[str]:
    rows = calls if report.options.show_all else shorten_chains(calls)
    listed = rows[:_MAX_TREE_ROWS]
    drawn = [
        f"{percent(row.total_share, report.scale.total):>7}  {guide}{_call(row, report)}"
        for row, guide in zip(listed, guides(listed, None), strict=True)
    ]
    if len(rows) > len(listed):
        drawn.append(f"         … and {count(len(rows) - len(listed), 'more row')}")
    stated = " An approximation: the file has no stacks." if report.stated else ""
    yield f"## Call tree\n\nShares of all samples, including callees; library calls are folded.{stated}"
    yield code_block(drawn)


def _call(row: TreeRow, report: Report) -> str:
    if row.kind is TreeKind.SMALL:
        return f"… {count(row.hidden, 'smaller call')}"
    if row.kind is TreeKind.CHAIN:
        return f"⋮ {count(row.hidden, 'nested call')}"
    if row.kind is TreeKind.LIBRARY and not report.options.show_all:
        return f"{short(row.name)}  [{short(package_of(row.file))}]"
    return f"{short(row.name)}  {short(place(row.file, row.line, report.run.info.process.cwd))}"
