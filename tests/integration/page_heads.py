"""Pages of each kind, written by hand: what the tests of panels look at."""

from __future__ import annotations

import random
from dataclasses import replace

from profkit.comparing.history import history_of
from profkit.comparing.measured import compare_measured
from profkit.model.measurement import Design
from profkit.render.document import Fact, Facts, Remark, Sentences
from profkit.render.formatting import Part, Tone
from profkit.render.html.blocks import page_blocks
from profkit.render.html.document import Columns, html_page
from profkit.render.html.measured import measured_html
from profkit.render.registry import HISTORY, MEASURED_COMPARISON
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
)
from tests.support.example_measured_comparisons import more_counts, run
from tests.support.example_measurements import (
    BUSY,
    COUNTS,
    FEW,
    ORDER,
    PYTHON_COUNTS,
    blocks,
    failed,
    measured,
    timing,
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
        "names": {"a": "3f2a91c0 (main)", "b": "81be77d2 (faster-loader)"},
        "functions": [
            {**dict(zip(names, row, strict=True)), "of": "self", "halves": {"a": 0.059, "b": 0.064}}
            for row in rows
        ],
    }
    report = page_blocks(
        [
            Sentences(
                [
                    "unconfirmed: augment takes 10.4 points more: 20.0 % became 30.4 %.",
                    "Not seen: differences of up to 9.1 points, which can be noise.",
                ]
            ),
            Facts(
                [
                    Fact("A", (Part("main · 1 run · 400 samples"),)),
                    Fact("B", (Part("faster-loader · 1 run · 400 samples"),)),
                ]
            ),
            Remark("One run per side: differences between runs are not known.", Tone.WARN),
        ]
    )
    run = run_object("train_step", 400, [thread_object("A", 1), thread_object("B", 2)])
    run |= {"resources": None, "facts": []}
    head = {"kind": "comparison", "title": "A against B", **functions_head(FUNCTIONS), "blocks": report}
    return html_page({**head, "runs": [run], "comparison": comparison}, columns)


def measured_page() -> str:
    """Orders: one timed, one counted with its calls, one timed in too few processes, one that failed."""
    counts = replace(COUNTS, python=PYTHON_COUNTS)
    broken = failed(HOSTILE)
    return measured_html(
        [
            run("a1", 40.2e-9, label="x + y"),
            run("a2", 1.234e-6, counts, "linear(x)", num_threads=4),
            measured(timing(blocks(84e-9, 4)), None, (FEW,), replace(ORDER, label="x @ y"), id="a3"),
            broken,
        ]
    )


def measured_comparison_page() -> str:
    """Orders: one slower with its counts and a warning, one without a difference, one with counts alone."""
    batch = Design.INTERLEAVED.batch("0f")
    a, b = (
        [
            run(f"{side}1", 1.2e-6 * factor, more_counts(factor), "linear(x)", batch=batch),
            run(f"{side}2", 1e-6, None, "x.sum()", batch=batch),
            run(f"{side}3", None, more_counts(1, extra), "sorted(l)", batch=batch),
        ]
        for side, factor, extra in (("a", 1.0, 0.0), ("b", 1.075, 3500.0))
    )
    b[0] = replace(b[0], info=replace(b[0].info, warnings=(BUSY,)))
    return MEASURED_COMPARISON.page(compare_measured(a, b, ("main", "topic")))


def history_page(commits: int = 24) -> str:
    """A trend with a step up in the middle and one point with a warning."""
    chance = random.Random(7)
    runs = []
    for number in range(commits):
        value_s = 1.2e-3 * (1.08 if number >= commits // 2 else 1) * chance.uniform(0.999, 1.001)
        commit = f"{number + 10:02d}3f2a91c0de4b7a8c9d0e1f2a3b4c5d6e7f8091"[:40]
        made = run(f"a{number:02d}", value_s, label="train_step", commit=commit, day=number)
        runs.append(replace(made, info=replace(made.info, warnings=(BUSY,))) if number == 5 else made)
    return HISTORY.page(history_of("train_step", runs))
