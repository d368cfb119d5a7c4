"""Pages for everyone: axe-core finds nothing, and the keyboard leads through the page without a trap."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from profkit.comparing.merged_runs import merge_runs
from profkit.render.html.sampled import sampled_html
from tests.integration import page_heads
from tests.integration.browser import DESKTOP, PHONE, PageOf
from tests.integration.npm_packages import AXE
from tests.support.example_worker_runs import READ, RENDER, worker_run

RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target}: ${failureSummary}`));
}"""


@pytest.fixture(scope="module")
def axe() -> str:
    return (AXE.folder() / "axe.min.js").read_text("utf-8")


def violations(page: Page, axe: str) -> list[str]:
    """What axe finds in the page as it is, and in each of its tabs."""
    page.evaluate(axe)
    found = page.evaluate(RUN)
    for tab in page.get_by_role("tab").all():
        tab.click()
        found += page.evaluate(RUN)
    return list(dict.fromkeys(found))


def merged_page() -> str:
    return sampled_html([merge_runs([worker_run(1, {READ: 10, RENDER: 90}), worker_run(0, {READ: 95})])])


PAGES = {
    "sampled": page_heads.sampled_page,
    "ordered": lambda: page_heads.sampled_page(ordered=True),
    "merged": merged_page,
    "measured": page_heads.measured_page,
    "comparison": page_heads.comparison_page,
    "measured_comparison": page_heads.measured_comparison_page,
    "history": page_heads.history_page,
}


@pytest.mark.npm
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.full)])
@pytest.mark.parametrize(
    "kind", [kind if kind == "sampled" else pytest.param(kind, marks=pytest.mark.slow) for kind in PAGES]
)
def test_axe_finds_nothing(page_of: PageOf, axe: str, kind: str, scheme: str) -> None:
    selected = "" if kind in ("history", "measured_comparison") else "#selected=2"
    page = page_of(PAGES[kind](), scheme=scheme, fragment=selected)
    assert violations(page, axe) == []


@pytest.mark.npm
@pytest.mark.slow
def test_axe_finds_nothing_on_a_phone(page_of: PageOf, axe: str) -> None:
    page = page_of(PAGES["sampled"](), size=PHONE, touch=True)
    assert violations(page, axe) == []


@pytest.mark.npm
def test_axe_finds_nothing_in_what_unfolds(page_of: PageOf, axe: str) -> None:
    page = page_of(PAGES["measured"](), fragment="#order=1")
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.keyboard.press("?")
    assert violations_now(page, axe) == []


def violations_now(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    return page.evaluate(RUN)  # type: ignore[no-any-return]


FOCUSED = """() => {
  const { activeElement: each } = document;
  const panel = each.closest("[id^=panel-]")?.id ?? each.closest("[class]")?.className.split(" ")[0] ?? "";
  return [panel, each.tagName.toLowerCase(), each.getAttribute("aria-label") ?? each.innerText ?? ""];
}"""


def walk(page: Page, most: int = 80) -> list[tuple[str, str, str]]:
    """Where Tab leads, from the start of the page until it leaves the page."""
    stops: list[tuple[str, str, str]] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        place, tag, text = page.evaluate(FOCUSED)
        if tag == "body":
            return stops
        stops.append((place, tag, text.strip()))
    raise AssertionError(f"Tab does not leave the page: {stops[-10:]}")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_tab_leads_through_the_page_in_order(page_of: PageOf, size: tuple[int, int]) -> None:
    page = page_of(page_heads.sampled_page(ordered=True), size=size)
    stops = walk(page)
    tags = [(place, tag) for place, tag, _ in stops]
    wanted = [
        ("panel-selectors", "select"),
        ("search-input", "input"),
        ("graph-canvas", "canvas"),
        ("panel-details", "button"),
        ("panel-functions", "button"),
    ]
    at = [next(n for n, (place, tag) in enumerate(tags) if (place, tag) == stop) for stop in wanted]
    assert at == sorted(at), f"{wanted} are reached in the order {tags}"
    in_table = [stop for stop in stops if stop[0] == "panel-functions"]
    heads = 5 if size is DESKTOP else 3
    assert len(in_table) == heads + 1, "the visible heads, and one of all rows"


def test_each_stop_is_visible(page_of: PageOf) -> None:
    page = page_of(page_heads.sampled_page(ordered=True), fragment="#selected=2&tab=lines")
    visible = """() => {
      const { activeElement: each } = document;
      const { width, height } = each.getBoundingClientRect();
      const { outlineStyle, outlineWidth } = getComputedStyle(each);
      // The graph draws a ring around its own cursor.
      const isMarked = each.tagName === "CANVAS" || (outlineStyle !== "none" && outlineWidth !== "0px");
      return width > 0 && height > 0 && isMarked;
    }"""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            return
        assert page.evaluate(visible), page.evaluate("document.activeElement.outerHTML")
    raise AssertionError("Tab does not leave the page")


def test_a_profile_is_read_by_keys_alone(page_of: PageOf) -> None:
    page = page_of(page_heads.sampled_page())
    page.keyboard.press("/")
    page.keyboard.type("augment")
    page.keyboard.press("Enter")
    page.locator("canvas").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("profkit.state.focus") > 0
    page.keyboard.press("Escape")
    assert page.evaluate("profkit.state.focus") == 0
    page.get_by_role("tab", name="Hot functions").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.innerText") == "Source lines"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert page.evaluate("profkit.head.functions.name[profkit.state.selected]") == "load_batch"


def test_the_whole_page_is_printed(page_of: PageOf, tmp_path: Path) -> None:
    page = page_of(page_heads.sampled_page(), fragment="#selected=2")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    cut = """() => [...document.querySelectorAll("#profkit *")].filter((each) => {
      const { overflowX, overflowY } = getComputedStyle(each);
      return each.offsetParent && [overflowX, overflowY].some((word) => word === "auto" || word === "scroll")
        && (each.scrollHeight > each.clientHeight + 1 || each.scrollWidth > each.clientWidth + 1);
    }).map((each) => each.className)"""
    page.set_viewport_size({"width": 700, "height": 900})
    assert page.evaluate(cut) == [], "nothing is cut off that could only be scrolled"
    titles = page.locator("[role=tabpanel] > h2").filter(visible=True).all_inner_texts()
    assert titles == ["Hot functions", "Source lines", "Callers and callees", "About the run"]
    assert page.pdf(path=tmp_path / "page.pdf").startswith(b"%PDF")
