"""HTML page of measured runs: times and counts of each order, and its calls by instructions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from profkit.model.measurement import InstructionCounts, MeasuredRun, Timing
from profkit.model.profile import Profile
from profkit.render.escape import short, visible
from profkit.render.html.document import html_page, refuse_limits
from profkit.render.html.runs import PageRun, PageRuns, SourceBudget, fact_lists
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.measured import (
    FunctionRow,
    OrderRow,
    headed_warnings,
    order_rows,
    python_remark,
    variants,
)
from profkit.render.views.measured_header import measured_facts, usage_facts
from profkit.render.views.source import SourceLines
from profkit.transforms.call_graphs import unfold_counts, unfold_python
from profkit.transforms.origin import is_library_file, standard_file
from profkit.transforms.simplify import prune

_MAX_FUNCTIONS, _MAX_ROWS = 200, 20_000
"""Maximum number of functions of one order, and of rows of all orders together."""
_MAX_PATHS = 60_000
"""Maximum number of call paths of all orders together; the page draws no orders beyond it."""
_LONGEST_LABEL, _LONGEST_NAME = 200, 400
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
    without: Collection[str] = (),
    min_share: float = 0.0,
) -> str:
    """Return the page of measured runs, in their order.

    Leave out the facts named in `without`. Sum up calls with a smaller share of all instructions than
    `min_share`. Raise `UsageError` if the options name a thread or limit the report.
    """
    refuse_limits(options)
    rows = order_rows(runs, options)
    cwd = runs[0].info.process.cwd if runs else ""
    page = PageRuns(cwd, is_library_file, SourceBudget(SourceLines(0, cwd), 0))
    run_numbers = _add_graphs(page, rows, min_share)
    most = max(10, min(_MAX_FUNCTIONS, _MAX_ROWS // max(1, len(rows))))
    orders = [
        {
            "variant": short(variant, _LONGEST_LABEL),
            "facts": [*_facts((row.run,), without), *_usage(row)],
            "run": run_numbers.get(number),
            **_order_object(row, most),
        }
        for number, (row, variant) in enumerate(zip(rows, variants(runs), strict=True))
    ]
    head = page.head("measured", f"{_title(runs)} – profkit")
    measured = {"facts": _facts(runs, without), "orders": orders}
    return html_page({**head, "measured": measured, "initial": {"sort": options.sort.value}}, page.columns)


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
        page.add(PageRun(info.id, info.label, profile, facts=measured_facts((row.run,)), notes=[_ESTIMATED]))
    return run_numbers


def _profile(counts: InstructionCounts | None) -> Profile | None:
    """Return the calls of an order: of Python functions, if they were counted."""
    if counts is None:
        return None
    if counts.python is not None and counts.python.functions:
        return unfold_python(counts.python)
    return unfold_counts(counts) if counts.calls else None


def timing_object(timing: Timing | None, row: OrderRow) -> dict[str, object] | None:
    """Return an order's times for the page's head, or None if no block was measured."""
    if timing is None or row.times is None:
        return None
    times = row.times
    low_s, high_s = times.interval_s or (None, None)
    processes = [process for process in timing.processes if process.times_s]
    is_program = times.usage is not None
    return {
        "number": times.number,
        "processes": [times.all_s] if is_program else [process.times_s for process in processes],
        "zygotes": [0] if is_program else [process.zygote for process in processes],
        "program": is_program,
        "median_s": times.median_s,
        "low_s": low_s,
        "high_s": high_s,
        "min_s": times.min_s,
    }


def _facts(runs: Sequence[MeasuredRun], without: Collection[str]) -> list[list[object]]:
    return fact_lists([fact for fact in measured_facts(runs) if fact.name not in without])


def _usage(row: OrderRow) -> list[list[object]]:
    usage = row.times.usage if row.times is not None else None
    return [] if usage is None else fact_lists(usage_facts(usage))


def _order_object(row: OrderRow, most_functions: int) -> dict[str, object]:
    info, measured = row.run.info, row.run.measurement
    return {
        "id": visible(info.id),
        "label": short(info.label, _LONGEST_LABEL),
        "what": _lines(info.order.what),
        "timing": timing_object(measured.timing if measured else None, row),
        "counts": _counts_object(row.counts, row, most_functions) if row.counts else None,
        "warnings": [visible(f"{word}: {why}") for word, why in headed_warnings(row.warnings)],
        "error": None if info.error is None else _lines(info.error),
    }


def _counts_object(counts: InstructionCounts, row: OrderRow, most_functions: int) -> dict[str, object]:
    return {
        "net": counts.net,
        "stripped": counts.stripped,
        "raw": counts.raw,
        "baseline": counts.baseline,
        "functions": _functions(row.functions[:most_functions]),
        "python": _python_object(counts, row.python[:most_functions]),
    }


def _python_object(counts: InstructionCounts, rows: Sequence[FunctionRow]) -> dict[str, object] | None:
    if counts.python is None:
        return None
    return {"net": counts.python.net, "functions": _functions(rows), "note": visible(python_remark(counts))}


def _functions(rows: Sequence[FunctionRow]) -> list[list[object]]:
    return [[short(_name(row), _LONGEST_NAME), row.exclusive, row.inclusive, row.calls] for row in rows]


def _name(row: FunctionRow) -> str:
    """Return `file:function` without the folders where the file was built, or a Python function's place."""
    if row.line:
        return f"{row.name} · {row.file}:{row.line}"
    return f"{standard_file(row.file)}:{row.name}" if row.file else row.name


def _lines(text: str) -> str:
    """Return a text with its line breaks, and with all other unprintable characters escaped."""
    return "\n".join(map(visible, text.strip("\n").expandtabs(4).splitlines()))


def _title(runs: Sequence[MeasuredRun]) -> str:
    labels = {run.info.label for run in runs}
    orders = f"{len(runs)} statements"
    if len(labels) != 1:
        return orders if runs else "nothing was measured"
    return runs[0].info.label if len(runs) == 1 else f"{runs[0].info.label}: {orders}"
