"""Comparisons, gates and histories of measured runs in every form."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from profkit.comparing.gate import check_measured
from profkit.comparing.history import history_of
from profkit.comparing.measured import compare_measured
from profkit.model.comparison import GateResult, MeasuredComparison
from profkit.model.history import History
from profkit.model.measurement import Design, MeasurementWarning, WarningCode
from profkit.render.json.comparisons import gate_json
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import GATE, HISTORY, MEASURED_COMPARISON
from profkit.render.views.gate import GateReport
from profkit.render.views.history import curve
from profkit.render.views.measured_comparison import (
    change,
    delta_cell,
    function_text,
    sentences,
    signed,
    warnings_of,
)
from tests.support.example_measured_comparisons import NEW, more_counts, one_order, run, two_batches
from tests.support.example_measurements import BUSY, COUNTS, PYTHON_COUNTS, hostile, measured
from tests.support.example_runs import HOSTILE
from tests.support.golden import check_golden
from tests.support.html_pages import blocks_of, facts_of, read_page, rows_of

ALL = ReportOptions()

pytestmark = pytest.mark.usefixtures("utc")


def one() -> MeasuredComparison:
    return compare_measured(*one_order(), ("x + y", "x.add(y)"))


def batches() -> MeasuredComparison:
    return compare_measured(*two_batches(), ("main", "HEAD"))


def apart() -> MeasuredComparison:
    """Two runs of a single order, measured at different times."""
    return compare_measured([run("a1")], [run("b1", 1.04e-6, commit=NEW, day=1)], ("x + y@main", "x + y"))


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("made", [one, batches, apart])
def test_text(made, width: int) -> None:
    """What goes into a pipe is in the golden files of gates."""
    shown = MEASURED_COMPARISON.renderer("text")(made(), ALL, Terminal(width))
    check_golden(f"compared-{made.__name__}-width-{width}.txt", f"{shown}\n")


@pytest.mark.parametrize("width", [40, 50, 80, 100, 160])
@pytest.mark.parametrize("made", [one, batches, apart])
def test_text_fits_any_page(made, width: int) -> None:
    shown = MEASURED_COMPARISON.renderer("text")(made(), ALL, Terminal(width))
    assert max(map(cell_len, shown.splitlines())) <= width


@pytest.mark.parametrize("made", [one, batches, apart])
def test_markdown_and_json(made) -> None:
    check_golden(
        f"compared-{made.__name__}.md",
        MEASURED_COMPARISON.renderer("markdown")(made(), ALL, Terminal()) + "\n",
    )
    check_golden(
        f"compared-{made.__name__}.json", MEASURED_COMPARISON.renderer("json")(made(), ALL, Terminal()) + "\n"
    )


def test_a_limit_holds_for_functions() -> None:
    compared = compare_measured([run("a1", None, COUNTS)], [run("b1", None, more_counts(2))], ("A", "B"))
    for form, found in (("text", r"^ *\+[\d,.]+ "), ("markdown", r"^\| \+")):
        shown = MEASURED_COMPARISON.renderer(form)(compared, ReportOptions(limit=2), Terminal())
        assert len(re.findall(found, shown, re.MULTILINE)) == 2
        assert "more function" in shown
    (order,) = json.loads(MEASURED_COMPARISON.renderer("json")(compared, ReportOptions(limit=2), Terminal()))[
        "orders"
    ]
    assert (len(order["instructions"]["functions"]), order["instructions"]["functions_found"]) == (2, 4)


@pytest.mark.parametrize("made", [one, batches, apart])
def test_the_page_has_every_order(made) -> None:
    shown = MEASURED_COMPARISON.renderer("html")(made(), ALL, Terminal())
    assert shown == MEASURED_COMPARISON.renderer("html")(made(), ALL, Terminal())
    head = read_page(shown).head
    assert head["kind"] == "document"
    times = next(table for table in blocks_of(head["blocks"], "table") if "verdict" in rows_of(table)[0])
    assert [row["name"] for row in rows_of(times)] == [order.name for order in made().orders]
    plots = blocks_of(head["blocks"], "distribution")
    assert [[len(processes) for _, processes, *_ in plot["sides"]] for plot in plots] == [[10, 10]] * len(
        plots
    )
    said = [text for block in blocks_of(head["blocks"], "sentences") for text in block["texts"]]
    said += [text for _, text in facts_of(head["blocks"])]
    assert all(sentence in said for order in made().orders for _, sentence, _ in sentences(order))


def test_nothing_in_a_run_is_markup_or_moves_the_cursor() -> None:
    a, b = hostile(), hostile()
    b = replace(b, info=replace(b.info, id="b"))
    compared = compare_measured([a], [b], (HOSTILE[0], " ".join(HOSTILE)))
    for form in MEASURED_COMPARISON.formats:
        render = MEASURED_COMPARISON.renderer(form)
        shown = render(compared, ALL, Terminal(80))
        assert "\x1b" not in shown
        assert "‮" not in shown
        if form == "html":
            assert "<script>alert" not in shown
    history = history_of(a.info.label, [a])
    for form in HISTORY.formats:
        shown = HISTORY.renderer(form)(history, ALL, Terminal(80))
        assert "\x1b" not in shown
        assert "<script>alert" not in shown


def gate(made: MeasuredComparison) -> GateResult:
    return GateResult("main (0123456789)", 0.03, check_measured(made, 0.03))


@pytest.mark.parametrize("made", [one, batches, apart])
def test_a_gate(made) -> None:
    result = gate(made())
    report = GateReport(result, 1, made())
    check_golden(f"gate-{made.__name__}-pipe.txt", GATE.text(report) + "\n")
    check_golden(f"gate-{made.__name__}.md", GATE.markdown(report) + "\n")
    document = json.loads(gate_json(report))
    assert (document["schema"], document["outcome"]) == ("profkit.gate/1", result.outcome.value)
    assert document["comparison"]["schema"] == "profkit.measured-comparison/1"
    assert len(document["checks"]) == len(result.checks)


def history() -> History:
    runs = [
        run(
            f"a{day}",
            1e-6 * (1.2 if day == 3 else 1),
            more_counts(1.1 if day > 3 else 1),
            commit=f"{day:x}" * 40,
            day=day,
        )
        for day in range(1, 6)
    ]
    return history_of("x + y", [*runs, run("b1", commit="5" * 40, day=6), run("c1", num_threads=2)])


def test_a_history() -> None:
    check_golden("history-width-80.txt", HISTORY.renderer("text")(history(), ALL, Terminal(80)) + "\n")
    check_golden(
        "history-limit-2.txt", HISTORY.renderer("text")(history(), ReportOptions(limit=2), Terminal()) + "\n"
    )
    check_golden("history.json", HISTORY.renderer("json")(history(), ALL, Terminal()) + "\n")
    blocks = read_page(HISTORY.renderer("html")(history(), ALL, Terminal())).head["blocks"]
    trends, tables = blocks_of(blocks, "trend"), blocks_of(blocks, "table")
    assert [(trend["title"], trend["is_time"], len(trend["points"])) for trend in trends] == [
        ("median time of x + y (1 thread) over 5 commits", True, 5),
        ("instructions of x + y (1 thread) over 5 commits", False, 5),
        ("median time of x + y (2 threads) over 1 commit", True, 1),
    ]
    for trend, table in zip(trends, tables, strict=True):
        assert [name for name, *_ in reversed(trend["points"])] == [row["commit"] for row in rows_of(table)]


def test_curves_do_not_make_mountains_of_nothing() -> None:
    assert curve([1.0, 1.0, 1.0], 9) == "▅▅▅"
    assert curve([1.0, 1.001, 1.0], 9) == "▄▅▄"
    assert curve([1.0, 2.0, 1.5], 9) == "▁█▅"
    assert curve([5.0, 1.0, 2.0], 2) == "▁█"
    assert curve([0.0], 9) == "▅"


def test_a_page_names_the_faster_side_and_separates_warnings() -> None:
    batch = Design.INTERLEAVED.batch("0f")
    a, b = run("a1", 11e-6, label="dedupe(x)", batch=batch), run("b1", label="set(x)", batch=batch)
    b = replace(b, info=replace(b.info, warnings=(BUSY,)))
    compared = compare_measured([a], [b], ("dedupe(x)", "set(x)"))
    head = read_page(MEASURED_COMPARISON.page(compared)).head
    assert head["title"] == "dedupe(x) → set(x) – profkit"
    (row,) = rows_of(blocks_of(head["blocks"], "table")[0])
    assert (row["name"], row["verdict"]) == ("dedupe(x) → set(x)", "B faster")
    facts = dict(facts_of(head["blocks"]))
    assert facts["time"].startswith("B is 11 × faster (95 % interval ")
    assert facts["warning"].startswith("B · 1 of 10 processes had the CPU")
    assert "note" not in facts


def test_words() -> None:
    assert [change(ratio) for ratio in (1.0, 1.0005, 1.053, 0.9, 2.41, 0.5)] == [
        "±0.00 %", "+0.05 %", "+5.3 %", "−10.0 %", "× 2.41", "÷ 2",
    ]  # fmt: skip
    assert [signed(value) for value in (1234.0, -5.0, 0.0)] == ["+1,234", "−5", "0"]
    (order,) = one().orders
    assert order.counts is not None
    assert delta_cell(order.counts) == "+250 → 5,249 (+5.0 %)"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/build/python3.11/Python/ceval.c:f", ("f", "Python/ceval.c")),
        ("???:at::add(x) [/opt/torch/lib/libtorch_cpu.so]", ("at::add(x)", "libtorch_cpu.so")),
        ("???:operator[](long) [/opt/lib/libc10.so]", ("operator[](long)", "libc10.so")),
        ("bare", ("bare", "")),
    ],
)
def test_functions_as_people_read_them(name: str, shown: tuple[str, str]) -> None:
    assert function_text(name) == shown


def by_python_function() -> MeasuredComparison:
    first, *others = PYTHON_COUNTS.functions
    more = replace(PYTHON_COUNTS, functions=(replace(first, exclusive=4600.0, line=13), *others))
    before, after = replace(COUNTS, python=PYTHON_COUNTS), replace(more_counts(1.1), python=more)
    return compare_measured(
        [measured(None, before)], [measured(None, after, id="b000000000")], ("old", "new")
    )


@pytest.mark.parametrize("name", ["text", "markdown", "json", "html"])
def test_the_python_function_that_differs_is_named(name: str) -> None:
    report = MEASURED_COMPARISON.renderer(name)(by_python_function(), ALL, Terminal(120))
    assert "Model.fit" in report
    assert "app.py:13" in report or '"line": 13' in report
    if name in ("text", "markdown"):
        assert "most in Model.fit" in report
        assert report.index("Difference by Python function") < report.index("Difference by native function")


@pytest.mark.parametrize("form", ["text", "markdown", "json", "html"])
def test_a_warning_that_the_interval_includes_is_still_shown(form: str) -> None:
    """As lists and histories do: no format is silent about a run that another one has a warning for."""
    spread = MeasurementWarning.of(WarningCode.SPREAD, fastest_s=1e-6, slowest_s=1.2e-6)
    runs = [
        replace(one, info=replace(one.info, warnings=(BUSY, spread)))
        for one in (run("a1"), run("b1", 1.1e-6))
    ]
    compared = compare_measured([runs[0]], [runs[1]], ("A", "B"))
    shown = MEASURED_COMPARISON.renderer(form)(compared, ALL, Terminal())
    assert "20 % longer than the fastest" in shown
    allowed = [found.warning.code for found in warnings_of(compared) if found.is_allowed_for]
    assert allowed == [WarningCode.SPREAD]
