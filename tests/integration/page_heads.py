"""Pages of each kind, written by hand: what the tests of panels look at."""

from __future__ import annotations

import random
from collections.abc import Sequence

from profkit.render.html.document import Columns, html_page
from tests.integration.page_parts import (
    FUNCTIONS,
    HOSTILE,
    STACKS,
    add_lines,
    add_order,
    add_run,
    functions_head,
    run_object,
    thread_object,
    timing_object,
)

COMPARED_LINES = [
    (1, 30, 0, 10, 50),
    (1, 30, 1, 15, 75),
    (2, 18, 0, 33, 33),
    (2, 18, 1, 53, 53),
    (2, 20, 0, 7, 7),
    (2, 20, 1, 7, 7),
    (5, 40, 0, 50, 50),
    (5, 40, 1, 50, 50),
]
"""Lines of A (0, 175 samples) and B (1, 200 samples)."""


def sampled_page(most_functions: int = 0, ordered: bool = False) -> str:
    """A sampled run; `most_functions` more functions stand beside each other below the first.

    Where it is ordered, the samples of the first thread cover the two minutes of its resources.
    """
    columns = Columns()
    names = [*FUNCTIONS, *(f"made_{number}" for number in range(most_functions))]
    stacks = dict(STACKS) | {(0, len(FUNCTIONS) + n): (1, 0) for n in range(most_functions)}
    add_run(columns, "r0.", stacks)
    add_lines(columns, "r0.")
    if ordered:
        add_order(columns, "r0.", stacks)
    threads = [thread_object("MainThread", 4242), thread_object("loader", 4301)]
    run = run_object("train_step", sum(map(sum, stacks.values())), threads)
    if ordered:
        run |= {"ordered": True, "weight_s": 120 / sum(first for first, _ in stacks.values())}
    head = {"kind": "sampled", "title": "train_step", **functions_head(names), "runs": [run]}
    return html_page(head, columns)


def comparison_page() -> str:
    """A sampled comparison: one function takes more, one less, the others lie within the noise."""
    columns = Columns()
    add_run(columns, "r0.", {stack: (a, max(0, a + b)) for stack, (a, b) in STACKS.items()})
    add_lines(columns, "r0.", COMPARED_LINES)
    rows = [
        (2, 0.2, 0.304, 0.06, 0.15, "more"),
        (5, 0.25, 0.17, -0.13, -0.03, "less"),
        (4, 0.3, 0.29, -0.05, 0.03, "noise"),
        (0, 1.0, 1.0, -0.001, 0.001, "noise"),
        (7, 0.015, 0.02, -0.01, 0.02, "noise"),
    ]
    names = ("function", "a", "b", "low", "high", "change")
    comparison = {
        "headline": "augment takes 10.4 points more: 20.0 % became 30.4 %.",
        "grade": "unconfirmed",
        "names": {"a": "3f2a91c0 (main)", "b": "81be77d2 (faster-loader)"},
        "sides": {"a": "main · 1 run · 400 samples", "b": "faster-loader · 1 run · 400 samples"},
        "per_call_s": {"a": 0.0743, "b": 0.0791, "change": "noise"},
        "unseen": "Not seen: differences of up to 9.1 points, which can be noise.",
        "functions": [
            {**dict(zip(names, row, strict=True)), "of": "self", "halves": {"a": 0.059, "b": 0.064}}
            for row in rows
        ],
        "notes": ["One run per side: differences between runs are not known."],
    }
    run = run_object(
        "train_step", 400, [{"name": "A", "pid": 1, "tid": 1}, {"name": "B", "pid": 2, "tid": 2}]
    )
    head = {"kind": "comparison", "title": "A against B", **functions_head(FUNCTIONS)}
    return html_page({**head, "runs": [{**run, "resources": None}], "comparison": comparison}, columns)


def measured_page() -> str:
    """Orders: two timed, one counted with its calls, one that failed."""
    columns = Columns()
    add_run(columns, "r0.", {stack: (a * 100, 0) for stack, (a, b) in STACKS.items()})
    counts = {
        "net": 17500.0,
        "stripped": 16200.5,
        "raw": [1760934, 1760934],
        "baseline": 8.5,
        "functions": [
            ["linear.py:Linear.forward", 6000.0, 6000.0, 1],
            [f"odd.py:{HOSTILE}", 300.0, 300.0, 2],
            ["train.py:train_step", 200.0, 17500.0, 1],
        ],
    }
    orders = [
        _order("x + y", "1 thread", timing_object(40.2e-9, 1), None),
        _order("linear(x)", "4 threads", timing_object(1.234e-6, 2), counts | {"net": 17500.0}, run=0),
        _order(
            "x @ y",
            "c++",
            timing_object(84e-9, 3, processes=4),
            None,
            warnings=["warning: 4 processes; an interval takes 6."],
        ),
        _order(
            HOSTILE,
            "",
            None,
            None,
            error="'x.view(-1, 7)' raised ZeroDivisionError: division by zero\nTraceback …",
        ),
    ]
    run = {
        **run_object("linear(x)", 17500, [{"name": "instructions", "pid": 0, "tid": 0}]),
        "unit": "instructions",
        "weight_s": None,
        "resources": None,
    }
    head = {"kind": "measured", "title": "4 orders", **functions_head(FUNCTIONS), "runs": [run]}
    return html_page({**head, "measured": {"facts": [], "orders": orders}}, columns)


def measured_comparison_page() -> str:
    """Measured comparisons: one slower, one without a difference, one of instructions alone."""
    a, b = timing_object(1.2e-6, 5), timing_object(1.29e-6, 6)
    slower = "B takes 7.5 % longer (95 % interval 6.0 % to 9.0 %, 10 processes)"
    same = "B takes as long, to within 1.1 % (95 % confidence, 10 processes)"
    delta = [["listobject.c:sort", 12000, 15500, 3500], [HOSTILE, 900, 0, -900]]
    names = ("label", "ratio", "low", "high", "verdict", "words", "sentence", "a", "b", "delta")
    rows = [
        ("linear(x)", 1.075, 1.06, 1.09, "slower", "B slower", slower, a, b, []),
        ("x.sum()", 1.002, 0.994, 1.011, "no-difference", "no difference", same, None, None, []),
        ("sorted(l)", None, None, None, "slower", "B more instructions", "", None, None, delta),
    ]
    comparison = {
        "headline": "linear(x) takes 7.5 % longer.",
        "names": {"a": "main", "b": "topic"},
        "orders": [dict(zip(names, row, strict=True)) for row in rows],
        "warnings": [f"B: reason {number}" for number in range(6)],
        "notes": ["measured on different machines"],
    }
    head = {"kind": "comparison", "title": "main against topic", **functions_head(FUNCTIONS), "runs": []}
    return html_page({**head, "comparison": comparison}, Columns())


def history_page(commits: int = 24) -> str:
    """A trend with a step up in the middle and one point with a warning."""
    chance = random.Random(7)
    points = []
    for number in range(commits):
        value = 1.2e-3 * (1.08 if number >= commits // 2 else 1) * chance.uniform(0.995, 1.005)
        warnings = (
            ["warning: CPU time is 81 % of wall time: something else had the core."] if number == 5 else []
        )
        points.append(
            {
                "commit": f"{number + 10:02d}3f2a91c0de4b7a8c9d0e1f2a3b4c5d6e7f8091"[:40],
                "started": f"2026-10-{number + 1:02d}T11:49:03Z",
                "value": value,
                "low": value * 0.994,
                "high": value * 1.006,
                "runs": 1 + number % 3,
                "id": f"id{number}",
                "warnings": warnings,
            }
        )
    history = {"label": "train_step", "measure": "median_s", "points": points}
    head = {"kind": "history", "title": "train_step over 24 commits", **functions_head(FUNCTIONS), "runs": []}
    return html_page({**head, "history": history}, Columns())


def _order(
    label: str,
    variant: str,
    timing: object,
    counts: object,
    *,
    run: int | None = None,
    warnings: Sequence[str] = (),
    error: str | None = None,
) -> dict[str, object]:
    facts = [["statement", [[label, "strong"]]], ["mode", [["timer", "strong"], ["python", "plain"]]]]
    return {
        "label": label,
        "what": label,
        "variant": variant,
        "facts": facts,
        "run": run,
        "timing": timing,
        "counts": counts,
        "warnings": list(warnings),
        "error": error,
    }
