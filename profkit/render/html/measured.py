"""HTML page of measured runs: their report, that of each order, and its calls by instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from profkit.model.measurement import InstructionCounts, MeasuredRun
from profkit.model.profile import Profile
from profkit.render.document import Document, Facts, Title
from profkit.render.escape import visible
from profkit.render.html.blocks import document_head, page_blocks, whole
from profkit.render.html.document import html_page, refuse_limits
from profkit.render.html.runs import PageRun, PageRuns, SourceBudget
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.measured import OrderRow, order_rows, variants
from profkit.render.views.measured_header import measured_facts
from profkit.render.views.measured_report import measured_blocks
from profkit.render.views.source import SourceLines
from profkit.transforms.call_graphs import unfold_counts, unfold_python
from profkit.transforms.origin import is_library_file
from profkit.transforms.simplify import prune

_MAX_FUNCTIONS, _MAX_ROWS = 200, 20_000
"""Maximum number of functions of one order, and of rows of all orders together."""
_MAX_PATHS = 60_000
"""Maximum number of call paths of all orders together; the page draws no orders beyond it."""
_ESTIMATED = (
    "Self and total of functions are Callgrind's own; each call of a recursion counts again in totals. It "
    "counts calls, not stacks, so the graph is an approximation: the instructions of a function with several "
    "callers are split among them in proportion."
)


def measured_html(
    runs: Sequence[MeasuredRun],
    options: ReportOptions = DEFAULTS,
    _terminal: Terminal = PIPE,
    *,
    min_share: float = 0.0,
) -> str:
    """Return the page of measured runs, in their order.

    Sum up calls with a smaller share of all instructions than `min_share`. Raise `UsageError` if the options
    name a thread or limit the report.
    """
    refuse_limits(options)
    most = max(10, min(_MAX_FUNCTIONS, _MAX_ROWS // max(1, len(runs))))
    options = replace(whole(options), limit=most)
    rows = order_rows(runs, options)
    cwd = runs[0].info.process.cwd if runs else ""
    page = PageRuns(cwd, is_library_file, SourceBudget(SourceLines(0, cwd), 0))
    run_numbers = _add_graphs(page, rows, min_share)
    reports = _of_orders(rows, options) if len(rows) > 1 else [()]
    orders = [
        {"label": visible(row.run.info.label), "run": run_numbers.get(number), "blocks": page_blocks(report)}
        for number, (row, report) in enumerate(zip(rows, reports, strict=False))
    ]
    report = document_head(measured_blocks(rows, options), "nothing was measured")
    initial = {"sort": options.sort.value}
    return html_page({**page.head("measured"), **report, "orders": orders, "initial": initial}, page.columns)


def _of_orders(rows: Sequence[OrderRow], options: ReportOptions) -> Iterator[Document]:
    """Yield the report of each of several orders: what distinguishes it, and facts that not all have."""
    runs = [row.run for row in rows]
    shared = set(measured_facts(runs, options))
    for row, variant in zip(rows, variants(runs), strict=True):
        _, facts, *blocks = measured_blocks([row], options)
        assert isinstance(facts, Facts)
        own = [fact for fact in facts.rows if fact not in shared]
        yield [Title(row.run.info.label, variant), Facts(own), *blocks]


def _add_graphs(page: PageRuns, rows: Sequence[OrderRow], min_share: float) -> dict[int, int]:
    """Add the calls of counted orders while there is room; return run numbers by order number."""
    run_numbers: dict[int, int] = {}
    room = _MAX_PATHS
    for number, row in enumerate(rows):
        profile = _profile(row.counts) if room > 0 else None
        if profile is None:
            continue
        profile = prune(profile, min_share) if min_share else profile
        room -= len(profile.stacks)
        run_numbers[number] = len(run_numbers)
        info = row.run.info
        page.add(PageRun(info.id, info.label, profile, notes=[_ESTIMATED]))
    return run_numbers


def _profile(counts: InstructionCounts | None) -> Profile | None:
    """Return the calls of an order: of Python functions, if they were counted."""
    if counts is None:
        return None
    if counts.python is not None and counts.python.functions:
        return unfold_python(counts.python)
    return unfold_counts(counts) if counts.calls else None
