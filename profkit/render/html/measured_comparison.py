"""HTML page of a comparison of measured runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profkit.model.comparison import (
    CountsCompared,
    MeasuredComparison,
    OrderCompared,
)
from profkit.model.measurement import MeasuredRun
from profkit.render.escape import short
from profkit.render.html.document import html_page
from profkit.render.html.measured import timing_object
from profkit.render.html.runs import PageRuns, SourceBudget
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.measured import order_rows
from profkit.render.views.measured_comparison import (
    function_text,
    headline,
    order_words,
    python_place,
    remarks_of,
    sentences,
    side_names,
    warning_parts,
    warnings_of,
)
from profkit.render.views.source import SourceLines
from profkit.transforms.origin import is_library_file

_MAX_FUNCTIONS = 200
_LONGEST = 200


def measured_comparison_html(
    comparison: MeasuredComparison, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return the page that compares B with A."""
    a, b = side_names(comparison)
    info = comparison.orders[0].a[0].info
    source = SourceBudget(SourceLines(info.started_ns, info.process.cwd), 0)
    page = PageRuns(info.process.cwd, is_library_file, source)
    compared = {
        "headline": headline(comparison),
        "names": {"a": a, "b": b},
        "orders": [_order(order, options.limit or _MAX_FUNCTIONS) for order in comparison.orders],
        "warnings": [f"{found.about}: {warning_parts(found)[1]}" for found in warnings_of(comparison)],
        "notes": [*remarks_of(comparison)],
    }
    head = page.head("comparison", f"{a} → {b} – profkit")
    return html_page({**head, "comparison": compared}, page.columns)


def _order(order: OrderCompared, limit: int) -> dict[str, object]:
    times, counts = order.times, order.counts
    decided = times or counts
    return {
        "label": short(order.name, _LONGEST),
        "ratio": times.ratio if times else None,
        "low": times.low if times else None,
        "high": times.high if times else None,
        "verdict": decided.verdict.value if decided else "not-compared",
        "words": order_words(order),
        "sentence": "; ".join(sentence for _, sentence, _ in sentences(order)),
        "a": _timing(order.a),
        "b": _timing(order.b),
        "delta": _delta(counts, limit) if counts else [],
        "python": _python(counts, limit) if counts else [],
    }


def _timing(runs: Sequence[MeasuredRun]) -> dict[str, object] | None:
    """Return the times of a side, with the processes of all its runs combined."""
    timings = [run.measurement.timing for run in runs if run.measurement and run.measurement.timing]
    if not timings:
        return None
    processes = tuple(process for timing in timings for process in timing.processes)
    whole = replace(timings[0], processes=processes)
    first = runs[0]
    measured = first.measurement and replace(first.measurement, timing=whole)
    (row,) = order_rows([replace(first, measurement=measured)], ReportOptions())
    return timing_object(whole, row)


def _python(counts: CountsCompared, limit: int) -> list[list[object]]:
    rows = counts.python[:limit]
    names = [" · ".join(filter(None, (short(row.name), python_place(row)))) for row in rows]
    return [[name, row.a, row.b, row.delta] for name, row in zip(names, rows, strict=True)]


def _delta(counts: CountsCompared, limit: int) -> list[list[object]]:
    names = [" · ".join(filter(None, function_text(row.name))) for row in counts.functions[:limit]]
    rows = zip(names, counts.functions, strict=False)
    return [[name, row.a, row.b, row.delta] for name, row in rows]
