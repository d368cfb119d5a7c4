"""Bars and intervals of the page's tables in Chromium: one scale, no overlap, the text report's intervals."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from playwright.sync_api import Page

from profkit.comparing.merged_runs import merge_runs
from profkit.render.html.sampled import sampled_html
from profkit.render.views.costs import Scale, plus_minus
from profkit.units import Unit
from tests.integration import page_heads
from tests.integration.browser import DESKTOP, PHONE, PageOf
from tests.support.example_runs import made_run
from tests.support.simulated_job import Job, even, late

WIDTHS = (
    *(1920, DESKTOP[0], 901, 899, PHONE[0], 320),
    *(pytest.param(width, marks=pytest.mark.full) for width in (1000, 700, 520)),
)

BARS = """(selector) => [...document.querySelectorAll(`${selector} .bar`)]
  .filter((bar) => bar.offsetParent)
  .map((bar) => [bar, bar.closest(".bar-cell, .share-bar")])
  .map(([bar, place]) => [bar.getBoundingClientRect(), place.querySelector(".bar-text").innerText,
    place.querySelector(".bar-text").getBoundingClientRect()])
  .map(([bar, text, around]) => ({
    text, widthPx: bar.width,
    apart: bar.right <= around.left + 0.5 || bar.top >= around.bottom - 0.5 || bar.bottom <= around.top + 0.5,
  }))"""
"""Visible bars with their texts, and whether they are apart from these."""


def share_of(text: str) -> float:
    """The share in the text of a bar."""
    return float(text.split(" %")[0].split()[-1].removeprefix("<"))


@pytest.mark.parametrize("width", WIDTHS)
def test_texts_and_bars_do_not_overlap(page_of: PageOf, width: int) -> None:
    page = page_of(page_heads.sampled_page(), size=(width, 800), fragment="#activity=all")
    found = page.evaluate(BARS, "#profkit")
    assert len(found) > 16
    assert [bar for bar in found if not bar["apart"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [DESKTOP[0], 700, PHONE[0]])
def test_all_bars_of_a_table_have_one_scale(page_of: PageOf, width: int) -> None:
    page = page_of(page_heads.sampled_page(), size=(width, 800))
    found = page.evaluate(BARS, "#panel-functions")
    scales = [bar["widthPx"] / share_of(bar["text"]) for bar in found if share_of(bar["text"]) >= 20]
    assert len(scales) > 5
    assert max(scales) / min(scales) < 1.03, "shares are rounded"
    # In all columns, a larger share has a longer bar.
    by_share = sorted(found, key=lambda bar: share_of(bar["text"]))
    lengths = [bar["widthPx"] for bar in by_share]
    assert all(one <= other + 1 for one, other in pairwise(lengths))


def test_sides_of_a_comparison_have_one_scale(page_of: PageOf) -> None:
    page = page_of(page_heads.comparison_page())
    found = page.evaluate(BARS, "#panel-comparison")
    assert found[0]["text"] == "20.0 % ±5.9", "as in the text report"
    scales = [bar["widthPx"] / share_of(bar["text"]) for bar in found]
    assert max(scales) / min(scales) < 1.03


def intervals(page: Page, pairs: list[tuple[int, int]]) -> list[str]:
    return page.evaluate("pairs => pairs.map(([weight, total]) => profkit.plusMinus(weight, total))", pairs)  # type: ignore[no-any-return]


def test_intervals_are_those_of_the_text_report(page_of: PageOf) -> None:
    random = Random(5)
    page = page_of(sampled_html([made_run()]))
    for total in (7, 200, 999, 5000, 10**6):
        page.evaluate("total => { profkit.head.runs[0].total = total; }", total)
        weights = [0, 1, total // 2, total, *(random.randint(0, total) for _ in range(100))]
        scale = Scale(Unit.SAMPLES, total, 0.01)
        assert intervals(page, [(weight, total) for weight in weights]) == [
            plus_minus(weight, scale) for weight in weights
        ]


def test_intervals_are_in_the_table_and_beside_the_graph(page_of: PageOf) -> None:
    page = page_of(page_heads.sampled_page(), fragment="#selected=2")
    row = page.locator("#panel-functions tr[data-key='2'] .bar-text")
    assert row.all_inner_texts() == ["600 ms 30 % ±6", "600 ms 30 % ±6"]
    assert "30 % ±6" in page.inner_text("#panel-details .figures-list")
    # The share of a thread has fewer samples, so it is less certain.
    page.get_by_label("Thread", exact=True).select_option("1")
    assert row.first.inner_text() == "200 ms 80 % ±15"


def test_exact_counts_have_no_intervals(page_of: PageOf) -> None:
    page = page_of(page_heads.measured_page(), fragment="#order=1")
    assert page.locator("#panel-functions .bar-text").first.inner_text().startswith("4,000")
    assert page.locator(".interval").count() == 0


HEAT_MAP = """() => [...document.querySelectorAll('#panel-processes .dense td.shade')].map((cell) => ({
  tip: cell.title, widthPx: cell.getBoundingClientRect().width,
  color: getComputedStyle(cell).backgroundColor}))"""
"""Cells of the heat map of ranks, row by row."""


def test_ranks_by_function_are_a_heat_map_that_fits(page_of: PageOf) -> None:
    late_ones = range(8, 16)
    job = Job.of(64, 60, late(even(Random(1)), late_ones, "python", 0.06))
    page = page_of(sampled_html([merge_runs(job.runs(hosts=8))]), size=(DESKTOP[0], 800))
    page.get_by_role("tab", name="Processes").click()
    cells = page.evaluate(HEAT_MAP)
    waiting, slow = cells[:64], cells[64:128]
    assert [cell["tip"].partition(":")[0] for cell in waiting] == [str(rank) for rank in range(64)]
    assert {cell["tip"] for rank, cell in enumerate(slow) if rank not in late_ones} <= {
        f"{rank}: 0 %" for rank in range(64)
    }
    assert len({cell["color"] for rank, cell in enumerate(slow) if rank not in late_ones}) == 1
    assert slow[0]["color"] not in {slow[rank]["color"] for rank in late_ones}
    assert min(cell["widthPx"] for cell in cells) >= 6
    grid = page.locator("#panel-processes .dense .scroll").first
    assert grid.evaluate("(it) => it.scrollWidth - it.clientWidth") <= 1


def test_processes_are_named_first(page_of: PageOf) -> None:
    job = Job.of(12, 60, late(even(Random(1)), [2], "python", 0.06))
    page = page_of(sampled_html([merge_runs(job.runs(hosts=2))]))
    page.get_by_role("tab", name="Processes").click()
    table = page.locator("#panel-processes table", has_text="started").last
    assert table.locator("thead th").first.inner_text().strip() == "rank"
    first = table.locator("tbody tr :first-child")
    table.get_by_role("button", name="rank").click()
    ranks = [int(text) for text in first.all_inner_texts() if text.strip().isdigit()]
    assert ranks in (list(range(12)), list(range(11, -1, -1))), "sorted as numbers"
