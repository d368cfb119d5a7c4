"""Comparisons, gates and histories of measured runs in every form."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from profkit.comparing.gate import check_measured
from profkit.comparing.history import history_of
from profkit.comparing.measured import compare_measured
from profkit.model.comparison import GateResult, MeasuredComparison
from profkit.model.history import History
from profkit.render.compared.gate import gate_json, gate_markdown, gate_text
from profkit.render.compared.measured.registry import COMPARED_MEASURED
from profkit.render.compared.measured.words import change, delta_cell, function_text, signed
from profkit.render.history.registry import HISTORY_RENDERERS
from profkit.render.history.text import curve
from profkit.render.options import ReportOptions
from profkit.render.page import Page
from tests.unit.golden import check_golden
from tests.unit.made_comparisons import NEW, more_counts, one_order, run, two_batches
from tests.unit.made_measured import COUNTS, hostile
from tests.unit.made_runs import HOSTILE

ALL = ReportOptions()
HEAD = re.compile(r'<script id="profkit-head" type="application/json">(.*?)</script>')

pytestmark = pytest.mark.usefixtures("utc")


def one() -> MeasuredComparison:
    return compare_measured(*one_order(), ("x + y", "x.add(y)"))


def batches() -> MeasuredComparison:
    return compare_measured(*two_batches(), ("main", "HEAD"))


def apart() -> MeasuredComparison:
    """Two runs of a single order, measured at different times."""
    return compare_measured([run("a1")], [run("b1", 1.04e-6, commit=NEW, day=1)], ("x + y@main", "x + y"))


@pytest.mark.parametrize("width", [60, 80, 120, None])
@pytest.mark.parametrize("made", [one, batches, apart])
def test_text(made, width: int | None) -> None:
    shown = COMPARED_MEASURED["text"](made(), ALL, Page(width))
    check_golden(f"compared-{made.__name__}-{f'width-{width}' if width else 'pipe'}.txt", f"{shown}\n")


@pytest.mark.parametrize("made", [one, batches, apart])
def test_markdown_and_json(made) -> None:
    check_golden(f"compared-{made.__name__}.md", COMPARED_MEASURED["markdown"](made(), ALL, Page()) + "\n")
    check_golden(f"compared-{made.__name__}.json", COMPARED_MEASURED["json"](made(), ALL, Page()) + "\n")


def test_a_limit_holds_for_functions() -> None:
    compared = compare_measured([run("a1", None, COUNTS)], [run("b1", None, more_counts(2))], ("A", "B"))
    for form, found in (("text", r"^ *\+[\d,.]+ "), ("markdown", r"^\| \+")):
        shown = COMPARED_MEASURED[form](compared, ReportOptions(limit=2), Page())
        assert len(re.findall(found, shown, re.MULTILINE)) == 2
        assert "more function" in shown
    (order,) = json.loads(COMPARED_MEASURED["json"](compared, ReportOptions(limit=2), Page()))["orders"]
    assert (len(order["instructions"]["functions"]), order["instructions"]["functions_found"]) == (2, 4)


@pytest.mark.parametrize("made", [one, batches, apart])
def test_the_page_has_every_order(made) -> None:
    shown = COMPARED_MEASURED["html"](made(), ALL, Page())
    assert shown == COMPARED_MEASURED["html"](made(), ALL, Page())
    head = json.loads(HEAD.search(shown)[1])  # type: ignore[index]
    assert head["kind"] == "comparison"
    orders = head["comparison"]["orders"]
    assert [order["label"] for order in orders] == [order.name for order in made().orders]
    assert all(order["sentence"] and len(order["a"]["processes"]) == 10 for order in orders)


def test_nothing_in_a_run_is_markup_or_moves_the_cursor() -> None:
    a, b = hostile(), hostile()
    b = replace(b, info=replace(b.info, id="b"))
    compared = compare_measured([a], [b], (HOSTILE[0], " ".join(HOSTILE)))
    for form, render in COMPARED_MEASURED.items():
        shown = render(compared, ALL, Page(80))
        assert "\x1b" not in shown
        assert "‮" not in shown
        if form == "html":
            assert "<script>alert" not in shown
    history = history_of(a.info.label, [a])
    for render in HISTORY_RENDERERS.values():
        shown = render(history, ALL, Page(80))
        assert "\x1b" not in shown
        assert "<script>alert" not in shown


def gate(made: MeasuredComparison) -> GateResult:
    return GateResult("main (0123456789)", 0.03, check_measured(made, 0.03))


@pytest.mark.parametrize("made", [one, batches, apart])
def test_a_gate(made) -> None:
    compared, result = made(), gate(made())
    text, markdown, data = (
        COMPARED_MEASURED[form](compared, ALL, Page()) for form in ("text", "markdown", "json")
    )
    check_golden(f"gate-{made.__name__}-pipe.txt", gate_text(result, text, Page()) + "\n")
    check_golden(f"gate-{made.__name__}.md", gate_markdown(result, markdown) + "\n")
    document = json.loads(gate_json(result, data, 1))
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
    check_golden("history-width-80.txt", HISTORY_RENDERERS["text"](history(), ALL, Page(80)) + "\n")
    check_golden(
        "history-limit-2.txt", HISTORY_RENDERERS["text"](history(), ReportOptions(limit=2), Page()) + "\n"
    )
    check_golden("history.json", HISTORY_RENDERERS["json"](history(), ALL, Page()) + "\n")
    head = json.loads(HEAD.search(HISTORY_RENDERERS["html"](history(), ALL, Page()))[1])  # type: ignore[index]
    assert head["kind"] == "history"
    records = [head["history"], *head["history"]["more"]]
    assert [(record["label"], record["measure"], len(record["points"])) for record in records] == [
        ("x + y (1 thread)", "median_s", 5),
        ("x + y (1 thread)", "instructions", 5),
        ("x + y (2 threads)", "median_s", 1),
    ]


def test_curves_do_not_make_mountains_of_nothing() -> None:
    assert curve([1.0, 1.0, 1.0], 9) == "▅▅▅"
    assert curve([1.0, 1.001, 1.0], 9) == "▄▅▄"
    assert curve([1.0, 2.0, 1.5], 9) == "▁█▅"
    assert curve([5.0, 1.0, 2.0], 2) == "▁█"
    assert curve([0.0], 9) == "▅"


def test_words() -> None:
    assert [change(ratio) for ratio in (1.0, 1.0005, 1.053, 0.9, 2.41, 0.5)] == [
        "±0.00 %", "+0.05 %", "+5.3 %", "−10.0 %", "× 2.41", "× 0.5",
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
