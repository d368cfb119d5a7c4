"""The page of measured runs: times and counts of each order, and its calls by instructions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from profkit.model.measurement import InstructionCounts, MeasuredRun, Timing
from profkit.render.escape import short, visible
from profkit.render.html.document import html_page, refuse_limits
from profkit.render.html.runs import PageRun, PageRuns, SourceBudget, fact_lists
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.terminal import PIPE, Terminal
from profkit.render.views.measured import FunctionRow, OrderRow, order_rows, variants, warning_text
from profkit.render.views.measured_header import measured_facts
from profkit.render.views.source import SourceLines
from profkit.transforms.call_graphs import unfold_counts
from profkit.transforms.origin import is_library_file, standard_file
from profkit.transforms.simplify import prune

_MOST_FUNCTIONS, _MOST_ROWS = 200, 20_000
"""Of one order, and of all together."""
_MOST_PATHS = 60_000
"""Through the calls of all orders together; what comes after them is not drawn."""
_LONGEST_LABEL, _LONGEST_NAME = 200, 400
_ESTIMATED = (
    "Self and total of functions are Callgrind's own; each call of a recursion counts again in totals. It "
    "counts calls, not stacks, so the graph is an approximation: the instructions of a function with several "
    "callers are split among them as theirs are."
)


def measured_html(
    runs: Sequence[MeasuredRun],
    options: ReportOptions = DEFAULTS,
    _terminal: Terminal = PIPE,
    *,
    without: Collection[str] = (),
    min_share: float = 0.0,
) -> str:
    """The page of measured runs, in their order.

    Facts of the names in `without` are left out, and calls that are a smaller part of all instructions
    are summed up. Raises `UsageError` where one thread is options for, and for options that a page has no
    use for.
    """
    refuse_limits(options)
    rows = order_rows(runs, options)
    cwd = runs[0].info.process.cwd if runs else ""
    page = PageRuns(cwd, is_library_file, SourceBudget(SourceLines(0, cwd), 0))
    drawn = _add_graphs(page, rows, min_share)
    most = max(10, min(_MOST_FUNCTIONS, _MOST_ROWS // max(1, len(rows))))
    orders = [
        {
            "variant": short(variant, _LONGEST_LABEL),
            "facts": _facts((row.run,), without),
            "run": drawn.get(number),
            **_order_object(row, most),
        }
        for number, (row, variant) in enumerate(zip(rows, variants(runs), strict=True))
    ]
    head = page.head("measured", f"{_title(runs)} – profkit")
    measured = {"facts": _facts(runs, without), "orders": orders}
    return html_page({**head, "measured": measured, "initial": {"sort": options.sort.value}}, page.columns)


def _add_graphs(page: PageRuns, rows: Sequence[OrderRow], min_share: float) -> dict[int, int]:
    """Add the calls of counted orders as far as there is room; the number of each one's run by its own."""
    drawn: dict[int, int] = {}
    room = _MOST_PATHS
    for number, row in enumerate(rows):
        if row.counts is None or not row.counts.calls or room <= 0:
            continue
        profile = unfold_counts(row.counts)
        profile = prune(profile, min_share) if min_share else profile
        room -= len(profile.stacks)
        drawn[number] = len(drawn)
        info = row.run.info
        page.add(PageRun(info.id, info.label, profile, facts=measured_facts((row.run,)), notes=[_ESTIMATED]))
    return drawn


def timing_object(timing: Timing | None, row: OrderRow) -> dict[str, object] | None:
    """An order's times as a head has them; None where no block was measured."""
    if timing is None or row.times is None:
        return None
    times = row.times
    low_s, high_s = times.interval_s or (None, None)
    processes = [process for process in timing.processes if process.times_s]
    return {
        "number": times.number,
        "processes": [process.times_s for process in processes],
        "zygotes": [process.zygote for process in processes],
        "median_s": times.median_s,
        "low_s": low_s,
        "high_s": high_s,
        "min_s": times.min_s,
    }


def _facts(runs: Sequence[MeasuredRun], without: Collection[str]) -> list[list[object]]:
    return fact_lists([fact for fact in measured_facts(runs) if fact.name not in without])


def _order_object(row: OrderRow, most_functions: int) -> dict[str, object]:
    info, measured = row.run.info, row.run.measurement
    return {
        "id": visible(info.id),
        "label": short(info.label, _LONGEST_LABEL),
        "what": _lines(info.order.what),
        "timing": timing_object(measured.timing if measured else None, row),
        "counts": _counts_object(row.counts, row.functions[:most_functions]) if row.counts else None,
        "warnings": [visible(f"{word}: {why}") for word, why in map(warning_text, row.warnings)],
        "error": None if info.error is None else _lines(info.error),
    }


def _counts_object(counts: InstructionCounts, functions: Sequence[FunctionRow]) -> dict[str, object]:
    return {
        "net": counts.net,
        "stripped": counts.stripped,
        "raw": counts.raw,
        "baseline": counts.baseline,
        "functions": [
            [short(_name(row), _LONGEST_NAME), row.exclusive, row.inclusive, row.calls] for row in functions
        ],
    }


def _name(row: FunctionRow) -> str:
    """`file:function` without the folders where the file was built."""
    return f"{standard_file(row.file)}:{row.name}" if row.file else row.name


def _lines(text: str) -> str:
    """A text whose line breaks stay, with everything else that does not print escaped."""
    return "\n".join(map(visible, text.strip("\n").expandtabs(4).splitlines()))


def _title(runs: Sequence[MeasuredRun]) -> str:
    labels = {run.info.label for run in runs}
    orders = f"{len(runs)} orders"
    if len(labels) != 1:
        return orders if runs else "nothing was measured"
    return runs[0].info.label if len(runs) == 1 else f"{runs[0].info.label}: {orders}"
