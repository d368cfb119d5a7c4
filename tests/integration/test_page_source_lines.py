"""The panel of source lines in Chromium: files with most time, lines by share, both sides of a comparison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.render.html.sampled import sampled_html
from profkit.render.options import ReportOptions
from tests.integration import page_heads
from tests.integration.browser import DESKTOP, PHONE, PageOf
from tests.support.example_runs import made_run, with_sources

PANEL = "#panel-lines"
ROWS = """() => [...document.querySelectorAll("#panel-lines tr[data-function]")]
  .map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"""


def rows_of(page: Page) -> dict[str, list[str]]:
    """Cells by line number."""
    return {number: cells for number, *cells in page.evaluate(ROWS)}


def test_files_begin_with_the_users_own(page_of: PageOf) -> None:
    page = page_of(page_heads.sampled_page(), fragment="#tab=lines")
    titles = page.locator(f"{PANEL} summary").all_inner_texts()
    assert [" ".join(title.split()) for title in titles] == [
        "38 % vision/data.py with library calls",
        "30 % torch/nn/modules/linear.py in the file itself",
    ]
    assert page.locator(f"{PANEL} details[open]").count() == 1


def test_lines_have_shares_and_source_where_it_is_known(page_of: PageOf) -> None:
    page = page_of(page_heads.sampled_page(), fragment="#tab=lines")
    rows = rows_of(page)
    assert rows["18"][:2] == ["25 % ±6", "25 % ±6"]
    assert "rows = [[pixel(value, rng)" in rows["18"][2]
    assert rows["17"] == ["", "", "def augment(image, rng):"]
    assert rows["30"] == ["8 % ±4", "38 % ±7", "in load_batch"], "its source is not known"


def test_lines_follow_the_thread(page_of: PageOf) -> None:
    page = page_of(page_heads.sampled_page(), fragment="#tab=lines&thread=1")
    rows = rows_of(page)
    assert rows["18"][1].startswith("68 %")
    assert rows["20"][1].startswith("12 %")
    page.get_by_label("Thread", exact=True).select_option("all")
    assert rows_of(page)["20"][1].startswith("5 %")


def test_lines_of_a_run_have_their_source(page_of: PageOf, tmp_path: Path) -> None:
    run = with_sources(made_run(), tmp_path)
    page = page_of(sampled_html([run], ReportOptions(source_root=tmp_path)), fragment="#tab=lines")
    assert rows_of(page)["9"][-1].strip() == "return min(255, max(0, value + rng.gauss(0, 8)))"


def test_lines_follow_working_and_waiting(page_of: PageOf) -> None:
    builder = ProfileBuilder()
    main, wait = (
        Frame("main", "/srv/app.py", 5),
        Frame("Condition.wait", "/usr/lib/python3.11/threading.py", 320),
    )
    for stack, weight in (((main, wait), 30), ((main,), 10), ((main._replace(line=7),), 60)):
        builder.add(stack, Thread(1, 1, "main"), weight)
    run = replace(made_run(), profile=builder.build(period_ns=1e7))
    page = page_of(sampled_html([run]), fragment="#tab=lines")
    assert rows_of(page)["5"][:2] == ["10 % ±6", "40 % ±9"]
    page.get_by_label("Time", exact=True).select_option("waiting")
    assert rows_of(page)["5"][:2] == ["", "100 % −11"]
    assert "7" not in rows_of(page)
    page.get_by_label("Time", exact=True).select_option("working")
    assert rows_of(page)["5"][0].startswith("14 %")


def test_colours_are_by_total_or_by_self(page_of: PageOf) -> None:
    page = page_of(page_heads.sampled_page(), fragment="#tab=lines")
    heat = "(number) => [...document.querySelectorAll('#panel-lines tr.hot')]" + (
        ".find((row) => row.cells[0].innerText === number).style.getPropertyValue('--heat')"
    )
    assert float(page.evaluate(heat, "30")) == pytest.approx(1)
    assert float(page.evaluate(heat, "18")) == pytest.approx((50 / 75) ** 0.5, abs=0.001)
    page.get_by_role("group", name="Colour of lines by").get_by_role("button", name="self").click()
    assert float(page.evaluate(heat, "30")) == pytest.approx((15 / 60) ** 0.5, abs=0.001)


def test_a_selected_function_is_shown(page_of: PageOf) -> None:
    page = page_of(page_heads.sampled_page(), fragment="#tab=lines")
    page.evaluate("profkit.setState({ selected: 4 })")
    chosen = page.locator(f"{PANEL} .chosen-line")
    expect(chosen).to_have_count(1)
    expect(chosen).to_contain_text("in Linear.forward")
    expect(chosen).to_be_visible()
    page.evaluate("profkit.setState({ selected: 2 })")
    assert page.locator(f"{PANEL} .chosen-line").count() == 5


def test_lines_are_selected_by_click_and_by_key(page_of: PageOf) -> None:
    page = page_of(page_heads.sampled_page(), fragment="#tab=lines")
    page.locator(f"{PANEL} tr", has_text="load_batch").click()
    assert page.evaluate("profkit.state.selected") == 1
    page.get_by_role("button", name="17, Select augment").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.innerText") == "18"
    page.keyboard.press("Enter")
    assert page.evaluate("profkit.state.selected") == 2
    assert page.evaluate("document.activeElement.innerText") == "18", "the focus stays where it was"
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.innerText") == "30", "gaps are passed over"


def test_a_comparison_shows_lines_that_gained_and_lost(page_of: PageOf) -> None:
    page = page_of(page_heads.comparison_page(), fragment="#tab=lines")
    rows = rows_of(page)
    assert rows["18"][:3] == ["18.9 %", "26.5 %", "+7.6"]
    assert page.locator(f"{PANEL} tr.more-line th").all_inner_texts() == ["18"], "load_batch is within noise"
    assert page.locator(f"{PANEL} tr.less-line").count() == 0, "line 20 is no gain of a function that gained"
    page.locator(f"{PANEL} summary", has_text="torch/_tensor.py").click()
    expect(page.locator(f"{PANEL} tr.less-line")).to_contain_text("in backward")
    assert rows_of(page)["40"][:3] == ["28.6 %", "25.0 %", "−3.6"]
    first = page.locator(".hot-lines li").first.inner_text().split("\n")
    assert first[:2] == ["+7.6 points", "augment"], "they are beside the graph, too"


@pytest.mark.parametrize("size", [DESKTOP, PHONE, (320, 700)], ids=["desktop", "phone", "narrow"])
def test_source_is_readable_beside_the_graph(page_of: PageOf, size: tuple[int, int]) -> None:
    page = page_of(page_heads.sampled_page(), size=size, fragment="#selected=2")
    scroller = page.locator("#panel-details .source-scroll")
    assert scroller.evaluate("each => each.scrollWidth <= each.clientWidth"), "lines wrap"
    code = scroller.locator("td.code", has_text="pixel(value")
    shown = code.evaluate("each => each.clientWidth / parseFloat(getComputedStyle(each).fontSize)")
    assert shown > (18 if size[0] > 320 else 14), "thirty characters fit into a row, 23 on a narrow screen"
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]


def test_open_files_are_printed_whole(page_of: PageOf) -> None:
    page = page_of(page_heads.sampled_page(), fragment="#tab=lines")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    map_ = page.locator(f"{PANEL} .heat-map")
    assert map_.evaluate("each => each.scrollHeight <= each.clientHeight + 1")
    assert page.locator(f"{PANEL} tr.hot").first.evaluate(
        "row => getComputedStyle(row).printColorAdjust") == "exact"  # fmt: skip
