"""The panels of a page in Chromium: tables, callers and callees, source, plots, on pages of each kind."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from profkit.cli.files import runs_of_file
from profkit.comparing.merged_runs import merge_runs
from profkit.comparing.sampled import compare_sampled
from profkit.model.measurement import MeasuredRun
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.model.run import Run
from profkit.render.html.comparisons import sampled_comparison_html
from profkit.render.html.measured import measured_html
from profkit.render.html.sampled import sampled_html
from profkit.render.registry import CHECKUP, STACKS
from profkit.transforms.operators import sum_up_traces
from tests.integration import page_heads
from tests.integration.browser import DESKTOP, PHONE, PageOf
from tests.support import example_measurements
from tests.support.call_traces import FUNCTIONS as GRAPH
from tests.support.call_traces import Call, statistics_of
from tests.support.example_checkups import contained
from tests.support.example_runs import made_run
from tests.support.example_sampled_comparisons import SHARES, drawn_runs
from tests.support.example_worker_runs import READ, RENDER, worker_run
from tests.support.torch_traces import GPU, operator

Open = Callable[..., Page]


@pytest.fixture
def show(page_of: PageOf) -> Iterator[Open]:
    """Open a page's text; when the test is over, nothing that it holds may have been executed."""
    pages: list[Page] = []

    def opened(text: str, fragment: str = "", size: tuple[int, int] = DESKTOP) -> Page:
        page = page_of(text, size=size, fragment=f"#{fragment}" if fragment else "")
        page.set_default_timeout(5000)
        pages.append(page)
        return page

    yield opened
    assert [page.evaluate("window.hacked ?? null") for page in pages] == [None] * len(pages)


def names(rows: Locator) -> list[str]:
    return rows.locator("tbody button.link").all_inner_texts()


def selected(page: Page) -> object:
    return page.evaluate("profkit.state.selected")


FUNCTIONS = "#panel-functions"


def test_totals_of_a_call_graph_are_those_of_its_file(show: Open, tmp_path: Path) -> None:
    inner = Call(GRAPH[4], 0, (Call(GRAPH[0], 200_000, (Call(GRAPH[4], 300_000),)),))
    file = tmp_path / "x.prof"
    file.write_bytes(statistics_of([Call(GRAPH[0], 400_000, (Call(GRAPH[3], 100_000, (inner,)),))]))
    (run,) = runs_of_file(file)
    assert isinstance(run, Run)
    page = show(sampled_html([run]))
    rows = page.locator(f"{FUNCTIONS} tbody tr")
    cells = {row.locator("button.link").inner_text(): row.locator("td .bar-text") for row in rows.all()}
    assert {name: cell.all_inner_texts()[1] for name, cell in cells.items()} == {
        "main": "1.00 ms 100.0 %", "load": "600 µs 60.0 %", "find": "500 µs 50.0 %",
    }  # fmt: skip
    page.locator(f"{FUNCTIONS} button.link", has_text="find").click()
    assert "50.0 %" in page.locator("#panel-details").inner_text()
    assert "the call tree is an approximation" in page.locator("#panel-notes").inner_text()
    page.click("#tab-lines")
    assert "whole functions, at their first line" in page.inner_text("#panel-lines")


def test_functions_begin_with_the_heaviest(show: Open) -> None:
    page = show(page_heads.sampled_page())
    assert names(page.locator(FUNCTIONS))[:3] == ["augment", "Linear.forward", "backward"]
    self_head = page.locator(f"{FUNCTIONS} th[data-column=self]")
    assert self_head.get_attribute("aria-sort") == "descending"
    # 4 + 2 + 1 samples have fib on their stack, however often.
    row = page.locator(f"{FUNCTIONS} tr[data-key='6']")
    assert row.locator("td .bar-text").all_inner_texts() == ["70.0 ms 4 % ±3", "70.0 ms 4 % ±3"]


def test_functions_sort_by_click_and_by_key(show: Open) -> None:
    page = show(page_heads.sampled_page())
    page.click(f"{FUNCTIONS} th[data-column=total] button")
    assert names(page.locator(FUNCTIONS))[0] == "train_step"
    page.locator(f"{FUNCTIONS} th[data-column=name] button").focus()
    page.keyboard.press("Enter")
    assert names(page.locator(FUNCTIONS))[1:3] == ["augment", "backward"]
    page.keyboard.press("Enter")
    assert page.locator(f"{FUNCTIONS} th[data-column=name]").get_attribute("aria-sort") == "descending"
    assert names(page.locator(FUNCTIONS))[0] == "train_step"
    assert page.locator(f"{FUNCTIONS} th[aria-sort]").count() == 1


def test_functions_follow_the_search_and_the_thread(show: Open) -> None:
    page = show(page_heads.sampled_page())
    page.fill("input[type=search]", "vision")
    assert names(page.locator(FUNCTIONS)) == ["augment", "load_batch"]
    page.fill("input[type=search]", "data.py:11")
    assert names(page.locator(FUNCTIONS)) == ["load_batch"]
    page.fill("input[type=search]", "")
    page.get_by_label("Thread", exact=True).select_option("1")
    assert names(page.locator(FUNCTIONS)) == ["augment", "load_batch", "train_step"]


def test_thousands_of_functions_are_shown_in_parts(show: Open) -> None:
    page = show(page_heads.sampled_page(most_functions=5000))
    assert page.locator(f"{FUNCTIONS} tbody tr").count() == 40
    page.click(f"{FUNCTIONS} button.more")
    assert page.locator(f"{FUNCTIONS} tbody tr").count() == 80
    assert "80 of 5,008" in page.inner_text(f"{FUNCTIONS} .count")


def test_rows_and_graph_select_the_same(show: Open) -> None:
    page = show(page_heads.sampled_page())
    page.click(f"{FUNCTIONS} tr[data-key='1'] td >> nth=0")
    assert selected(page) == 1
    assert "selected=1" in page.url
    assert page.inner_text("#panel-details h3") == "load_batch"
    page.evaluate("profkit.setState({ selected: 4 })")
    assert page.locator(f"{FUNCTIONS} tr[aria-current]").get_attribute("data-key") == "4"
    page.locator(f"{FUNCTIONS} tr[data-key='4'] button").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert selected(page) == 5


def test_callers_and_callees_add_up(show: Open) -> None:
    page = show(page_heads.sampled_page(), "selected=1&tab=sandwich")
    callers = page.locator("#panel-sandwich .sandwich-side").first.locator("[role=treeitem]")
    assert callers.evaluate_all("items => items.map(each => each.ariaLabel)") == [
        "100 % train_step train.py:10"
    ]
    callees = page.locator("#panel-sandwich .sandwich-side").last.locator("[role=treeitem]")
    assert callees.evaluate_all("items => items.map(each => each.ariaLabel)") == [
        "80 % augment vision/data.py:12",
        "20 % self",
    ]


def test_callees_open_by_keyboard_and_are_picked(show: Open) -> None:
    page = show(page_heads.sampled_page(), "selected=0&tab=sandwich")
    page.locator("#panel-sandwich .sandwich-side").last.locator("[role=treeitem]").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.ariaLabel") == "30 % augment vision/data.py:12"
    page.keyboard.press("Enter")
    assert page.inner_text("#panel-details h3") == "augment"


def test_source_has_heat_where_samples_were(show: Open) -> None:
    page = show(page_heads.sampled_page(), "selected=2")
    rows = page.locator("#panel-details table.source tbody tr")
    heat = rows.evaluate_all("rows => rows.map(row => [row.cells[0].textContent, row.dataset.heat ?? ''])")
    assert heat == [["17", ""], ["18", "1.000"], ["19", ""], ["20", "0.200"], ["21", ""]]
    assert rows.nth(1).locator("td").first.inner_text() == "25 %"
    page.get_by_role("button", name="Larger").click()
    assert page.locator("#panel-lines .chosen-line").count() == 5


def test_the_hottest_lines_are_reported_while_nothing_is_selected(show: Open) -> None:
    page = show(page_heads.sampled_page())
    lines = page.locator(".hot-lines li")
    assert lines.first.inner_text().split("\n") == [
        "30 % ±6",
        "Linear.forward",
        "torch/nn/modules/linear.py:125",
    ]
    assert lines.nth(1).inner_text().split("\n") == [
        "25 % ±6",
        "augment",
        "rows = [[pixel(value, rng) for value in row] for row in image]",
        "vision/data.py:18",
    ]
    lines.nth(1).get_by_role("button").click()
    assert selected(page) == 2
    assert lines.count() == 0


def test_the_heaviest_stack_is_copied(show: Open) -> None:
    page = show(page_heads.sampled_page(), "selected=2")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines() == [
        "train_step  train.py:10",
        "load_batch  vision/data.py:11",
        "augment  vision/data.py:12",
    ]


def test_the_strip_reads_out_a_moment(show: Open) -> None:
    page = show(page_heads.sampled_page())
    slider = page.get_by_role("slider", name="Moment of the recording")
    assert "CPU up to 95 %" in page.inner_text("#panel-strip output")
    slider.focus()
    page.keyboard.press("End")
    assert page.inner_text("#panel-strip output") == "2.00 min · CPU 81 % · memory 819 MiB · threads 8"
    assert slider.get_attribute("aria-valuetext") == page.inner_text("#panel-strip output")
    box = slider.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 12, box["y"] + 30)
    assert "threads 4" in page.inner_text("#panel-strip output")


def test_the_strip_and_the_chronological_graph_show_the_same_time(show: Open) -> None:
    page = show(page_heads.sampled_page(ordered=True), "thread=0&view=chronological")
    page.get_by_role("slider", name="Moment of the recording").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert page.evaluate("profkit.state.range") == [0.9, 1]
    assert page.locator(".window-band").count() == 3
    page.evaluate("profkit.setState({ view: 'left-heavy' })")
    assert page.locator(".window-band").count() == 0


def test_notes_are_above_the_graph(show: Open) -> None:
    page = show(page_heads.sampled_page())
    warnings = page.locator(".warnings li").all_inner_texts()
    assert warnings == ["sampler: 61 Hz achieved", "The program was killed."]
    page.click("#tab-facts")
    assert "pyspy 0.4.3 · 100 Hz requested" in page.inner_text("#panel-facts").replace("\n", "")


def test_links_of_the_run_can_be_followed_and_no_others(show: Open) -> None:
    address = "https://samples.example/run?id=1"
    info = replace(made_run().info, links=(("Samples", address), ("Bad", "javascript:window.hacked=1")))
    note = Note.of(NoteCode.SEGMENT_FAILED, segment=0, detail=f"{address} and https://evil.example")
    page = show(sampled_html([Run(replace(info, notes=(note,)))]))
    links = page.locator("a").evaluate_all("links => links.map(link => [link.href, link.rel])")
    assert links == [[address, "noopener noreferrer"]] * 2


def test_measured_orders_are_reported_one_by_one(show: Open) -> None:
    page = show(page_heads.measured_page())
    assert page.locator("#panel-document table").first.locator("tbody tr").count() == 4
    assert page.locator(".workspace").is_hidden()
    assert page.locator("#panel-order .least-dot").count() == 10
    assert "median 40." in (page.text_content("#panel-order svg") or "")
    page.locator("#panel-document tr[data-key='1'] button").first.click()
    assert page.locator(".workspace").is_visible()
    assert "order=1" in page.url
    row = page.locator("#panel-order table").last.locator("tbody tr").first
    assert row.inner_text().split()[-1] == "[libtorch_cpu.so]"
    assert "1,210.0" in row.inner_text()
    page.locator("#panel-document tr[data-key='2'] button").first.click()
    assert "4 processes; with fewer than 6" in page.inner_text("#panel-order")
    page.locator("#panel-document tr[data-key='3'] button").first.click()
    assert "ZeroDivisionError" in page.inner_text("#panel-order .lines-bad")


def test_measured_numbers_are_in_a_table_too(show: Open) -> None:
    page = show(page_heads.measured_page())
    page.get_by_text("Times of each process as a table").click()
    rows = page.locator("#panel-order details[open] tbody tr")
    assert rows.count() == 10
    assert rows.first.inner_text().split("\t")[:3] == ["1", "0", "5"]


def test_rows_of_a_report_sort_by_their_numbers(show: Open) -> None:
    page = show(page_heads.measured_page())
    times = page.locator("#panel-document table").first
    times.get_by_role("button", name="median").click()
    assert times.locator("tbody th").all_inner_texts()[:3] == ["linear(x)", "x @ y", "x + y"]
    times.get_by_role("button", name="median").click()
    assert times.locator("tbody th").all_inner_texts()[:3] == ["x + y", "x @ y", "linear(x)"]
    assert times.locator("th[aria-sort]").count() == 1


@pytest.mark.parametrize(
    "runs", [example_measurements.extremes(), (example_measurements.hostile(),)], ids=["extremes", "hostile"]
)
def test_odd_measurements_are_shown_without_a_complaint(show: Open, runs: Sequence[MeasuredRun]) -> None:
    page = show(measured_html(runs))
    for order in range(len(runs)):
        page.evaluate("order => profkit.setState({ order })", order)
        page.locator("#panel-document h3").first.wait_for()
        assert page.evaluate("profkit.state.order") == order


def test_a_comparison_keeps_noise_out_of_sight(show: Open) -> None:
    page = show(page_heads.comparison_page())
    assert names(page.locator("#panel-comparison")) == ["augment", "backward"]
    assert page.inner_text("#panel-document .headline-text").startswith("unconfirmed")
    assert page.locator("#panel-comparison tr[data-key='2'] svg .whisker.more").count() == 3
    page.get_by_label("3 functions within noise").check()
    shown = names(page.locator("#panel-comparison"))
    assert shown[:2] == ["augment", "backward"]
    assert len(shown) == 5
    noise = page.locator("#panel-comparison th.noise").first
    faint = page.evaluate("getComputedStyle(document.querySelector('.hint')).color")
    assert noise.evaluate("cell => getComputedStyle(cell).color") == faint
    noise.locator("button").click()
    assert page.inner_text("#panel-details h3") == "Linear.forward"


def test_ratios_have_intervals_and_grey_ones_are_no_news(show: Open) -> None:
    page = show(page_heads.measured_comparison_page())
    assert page.locator("#panel-document circle.point.more").count() == 1
    assert page.locator("#panel-document circle.point.noise").count() == 1
    first = page.locator("#panel-document table").first.locator("tbody tr").first.inner_text().split("\t")
    assert first[:5] == ["linear(x)", "1.210 µs", "1.300 µs", "+7.5 %", "+7.5 % to +7.5 %"]
    assert first[-1] == "B slower"
    assert page.locator("#panel-document .bar-cell").count() > 3


def test_a_section_says_which_side_its_verdict_is_about(show: Open) -> None:
    page = show(page_heads.measured_comparison_page())
    heads = page.locator("#panel-document h3").all_inner_texts()
    assert [head for head in heads if head.endswith(("slower", "difference", "instructions"))] == [
        "linear(x)B slower", "x.sum()no difference", "sorted(l)B more instructions",
    ]  # fmt: skip


def test_warnings_of_a_comparison_are_one_line_until_they_are_opened(show: Open) -> None:
    page = show(page_heads.measured_comparison_page())
    fold = page.locator("#panel-document details").last
    assert fold.inner_text().strip() == "1 warning"
    fold.locator("summary").click()
    assert "B of linear(x) · 1 of 10 processes had the CPU" in fold.inner_text().replace("\n", " ")


def test_the_share_of_a_side_without_a_function_is_in_its_column(show: Open) -> None:
    gone = {**SHARES, "compute": 0.0}
    dice = random.Random(3)
    page = show(sampled_comparison_html(compare_sampled(drawn_runs(dice, 3), drawn_runs(dice, 3, gone))))
    assert page.evaluate("profkit.state.thread") == 0
    head, zero = page.locator("th[data-column=b]").first, page.locator("td .share", has_text="0.0 %").first
    (ours, theirs) = (found.bounding_box() for found in (zero, head))
    assert ours is not None
    assert theirs is not None
    assert ours["x"] > theirs["x"] + theirs["width"] / 2


def test_history_is_walked_by_keys_beside_its_table(show: Open) -> None:
    page = show(page_heads.history_page())
    rows = page.locator("#panel-document tbody tr")
    assert page.locator(".trend-point").count() == rows.count() == 24
    assert page.locator(".trend-point.warned").count() == 1
    page.get_by_role("slider", name="Commit: median time").focus()
    page.keyboard.press("Home")
    assert page.inner_text("#panel-document output").startswith("103f2a91c0 · 1.2")
    assert page.locator("#panel-document tr[aria-current]").inner_text().startswith("103f2a91c0")
    rows.first.hover()
    assert page.inner_text("#panel-document output").startswith("333f2a91c0 · 1.3")
    assert page.locator("#panel-document td.tone-bad").all_inner_texts() == ["+8.1 %"]
    assert "81 % of the time" in rows.nth(18).inner_text()


def test_a_document_without_a_graph_is_a_page_too(show: Open) -> None:
    page = show(CHECKUP.page(contained()))
    assert page.inner_text("h1") == "Checkup"
    assert page.locator("canvas, .tabs [role=tab]").count() == 0
    assert "sudo apt-get install valgrind" in page.inner_text("#panel-document")
    page = show(STACKS.page(made_run()))
    assert "train_step (train.py:51)" in page.inner_text("#panel-document .lines >> nth=0")


@pytest.mark.parametrize("kind", ["sampled", "measured", "comparison", "measured_comparison", "history"])
def test_a_phone_needs_no_scrolling_sideways(show: Open, kind: str) -> None:
    page = show(getattr(page_heads, f"{kind}_page")(), "selected=7&tab=sandwich", PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_processes_of_a_merged_run(show: Open, size: tuple[int, int]) -> None:
    odd = worker_run(1, {READ: 10, RENDER: 90}, host="<b>web-2")
    page = show(sampled_html([merge_runs([odd, worker_run(0, {READ: 95, RENDER: 10})])]), size=size)
    page.click("#tab-processes")
    tables = page.locator("#panel-processes table")
    place = tables.first.locator("thead th").all_inner_texts().index("pid")
    pids = tables.first.locator(f"tbody tr > :nth-child({place + 1})")
    assert pids.all_inner_texts() == ["100", "101"]
    assert "<b>web-2" in tables.first.inner_text()
    row = tables.nth(1).locator("tbody tr").filter(has_text="render")
    assert "90 % in 101" in row.inner_text()
    page.click("#panel-processes th[data-column=pid] button")
    assert pids.all_inner_texts() == ["101", "100"]


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_operators_are_beside_the_samples(show: Open, size: tuple[int, int]) -> None:
    hostile = {**operator("<b>own", 90.0, 5.0, 9), "name": '<img src=x onerror="window.hacked=1">'}
    run = replace(made_run(), trace=sum_up_traces([(*GPU, hostile)]))
    page = show(sampled_html([run]), size=size)
    assert page.locator("canvas").count() > 0  # the samples' graph
    page.click("#tab-operators")
    tables = page.locator("#panel-operators table")
    names = tables.first.locator("tbody th").all_inner_texts()
    assert names[0] == "aten::addmm"
    assert '<img src=x onerror="window.hacked=1">' in names
    assert "self GPU" in tables.first.inner_text()
    assert [tables.nth(number).locator("tbody tr").count() for number in range(4)] == [4, 2, 3, 3]
    assert "58.3 % of the time" in page.inner_text("#panel-operators")
    page.click("#panel-operators th[data-column=operator] button")
    assert tables.first.locator("tbody th").all_inner_texts() == sorted(names)


def test_a_plain_run_has_no_panels_of_processes_and_operators(show: Open) -> None:
    assert show(sampled_html([made_run()])).locator("#tab-processes, #tab-operators").count() == 0


THREADING = "/usr/lib/python3.11/threading.py"
CHOOSERS = """() => [...document.querySelectorAll('.chooser, .page-tools')].map((element) => {
  const all = [element, ...element.querySelectorAll('*')].map((one) => one.getBoundingClientRect());
  const boxes = all.filter(({ width }) => width);
  const [left, right] = [boxes.map((box) => box.left), boxes.map((box) => box.right)];
  return [Math.min(...left), Math.max(...right), boxes[0].top];
})"""


@pytest.mark.parametrize("width", [360, 700, 900, 1100, 1280, 1600])
def test_choosers_do_not_overlap(show: Open, width: int) -> None:
    builder = ProfileBuilder()
    for tid, name in enumerate(("work", "wait")):
        thread = Thread(1, tid, "a thread of the pool " * 6)
        frames = Frame("Thread.run", THREADING, 1), Frame(f"Condition.{name}", THREADING, 9)
        builder.add(frames, thread, 50)
    run = replace(made_run(), profile=builder.build(period_ns=1e7))
    page = show(sampled_html((run,)), size=(width, 800))
    boxes = sorted(page.evaluate(CHOOSERS), key=lambda box: (box[2], box[0]))
    assert len(boxes) == 3
    for (_, right, top), (left, _, other_top) in pairwise(boxes):
        assert top != other_top or right + 8 <= left
