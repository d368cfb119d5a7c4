"""Markdown reports: golden files, bounded length, and names that try to be markup."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from profkit.model.measurement import MeasuredRun
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.model.region import RegionKind
from profkit.model.run import Run
from profkit.model.session import SessionState
from profkit.render.escape import code, code_block, plain, short, table
from profkit.render.options import ReportOptions, Sort
from profkit.render.registry import MEASURED, SAMPLED
from tests.support.example_measurements import (
    COUNTS,
    PYTHON_COUNTS,
    batch,
    both,
    failed,
    hostile,
    measured,
)
from tests.support.example_runs import hostile_run, made_run, with_sources
from tests.support.golden import check_golden

pytestmark = pytest.mark.usefixtures("utc")

HARMLESS = {
    "heading", "paragraph", "inline", "text", "text_special", "code_inline", "fence", "bullet_list",
    "list_item", "table", "thead", "tbody", "tr", "th", "td", "softbreak", "strong",
}  # fmt: skip
READER = MarkdownIt("commonmark").enable("table")


KILLED = Note.of(NoteCode.SEGMENT_FAILED, segment=0, detail="it was *killed*")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("default", ReportOptions()),
        ("total-limit-3", ReportOptions(sort=Sort.TOTAL, limit=3)),
        ("thread-loader-0", ReportOptions(thread="loader-0")),
        ("show-all", ReportOptions(show_all=True, min_share=0.0)),
    ],
)
def test_report(name: str, options: ReportOptions, tmp_path: Path) -> None:
    run = with_sources(made_run(notes=(KILLED,)), tmp_path / "vision")
    check_golden(f"report-{name}.md", SAMPLED.markdown([run], replace(options, source_root=tmp_path)) + "\n")


@pytest.mark.parametrize(("name", "runs"), [("one", (both(),)), ("batch", batch()), ("failed", (failed(),))])
def test_measured_report(name: str, runs: tuple[MeasuredRun, ...]) -> None:
    check_golden(f"measured-{name}.md", MEASURED.markdown(runs, ReportOptions()) + "\n")


def test_its_length_has_a_bound_whatever_the_profile() -> None:
    builder = ProfileBuilder()
    for number in range(3000):
        path = [Frame(f"f{number}_{depth}" * 20, f"/home/{number}.py", depth) for depth in range(1, 40)]
        builder.add(tuple(path), Thread(1, number % 90, f"thread {number}"), 1 + number % 7)
    run = replace(made_run(), profile=builder.build(period_ns=1e7))
    assert len(SAMPLED.markdown([run])) < 12_000


def test_states_and_links_are_reported() -> None:
    info = made_run(state=SessionState.RUNNING).info
    region = replace(info.region, kind=RegionKind.COROUTINE)
    info = replace(info, region=region, links=(("Strobelight", "https://x.example/1"),))
    text = SAMPLED.markdown([Run(info)])
    assert "- active: 2.97 s" in text
    assert "still recording" in text
    assert "https://x.example/1" in text


def test_callers_of_a_recursion_are_named_once() -> None:
    builder = ProfileBuilder()
    names = ["main", "walk", "visit", "walk", "visit", "walk", "visit"]
    builder.add(tuple(Frame(name, "/srv/x.py", 3) for name in names), Thread(1, 1, "m"), 9)
    text = SAMPLED.markdown([Run(made_run().info, builder.build(period_ns=1e7))])
    assert "`walk ← main` |" in text


def test_hostile_names_stay_text() -> None:
    for text in (
        SAMPLED.markdown([hostile_run()]),
        MEASURED.markdown([hostile()], ReportOptions()),
    ):
        tokens = [token for block in READER.parse(text) for token in (block, *(block.children or ()))]
        assert {re.sub("_(open|close)$", "", token.type) for token in tokens} <= HARMLESS


@given(st.text(min_size=1, max_size=60))
def test_a_code_span_holds_the_text_and_nothing_else(text: str) -> None:
    (paragraph,) = (block for block in READER.parse(f"x {code(text)} y") if block.type == "inline")
    spans = [child.content for child in paragraph.children or () if child.type == "code_inline"]
    # A reader strips one space at each end of a span that is not all spaces.
    assert [span.strip(" ") for span in spans] == [short(text, 100).strip(" ")]


@given(st.text(alphabet="a|\\`*_<&[] ", min_size=1, max_size=30))
def test_text_and_cells_read_as_they_were_given(text: str) -> None:
    rendered = READER.render(table(["a", "b:"], [[plain(text), code(text)]]))
    assert len(re.findall("<td", rendered)) == 2
    assert re.findall("<(?!/?(?:table|thead|tbody|tr|th|td|code))", rendered) == []


@given(st.lists(st.text(alphabet="`~ab ", max_size=12), min_size=1, max_size=5))
def test_a_code_block_is_not_closed_by_its_lines(lines: list[str]) -> None:
    blocks = READER.parse(code_block(lines))
    assert [block.type for block in blocks] == ["fence"]
    assert blocks[0].content.split("\n")[:-1] == lines


def test_python_functions_come_before_native_ones() -> None:
    text = MEASURED.markdown((measured(None, replace(COUNTS, python=PYTHON_COUNTS)),))
    python, native = text.index("## Hottest Python functions"), text.index("## Hottest native functions")
    assert python < text.index("`/home/u/app.py:12`") < native
    assert "1.8 % more than without" in text
