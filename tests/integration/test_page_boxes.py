"""Boxes of the graph in Chromium: runs of library calls, the root, and the colours of a comparison."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from profkit.model.profile import Frame, ProfileBuilder, Thread
from tests.integration.browser import PageOf
from tests.integration.graph_page import (
    COLOURED,
    click,
    drawn,
    frame_of,
    middle,
    page_html,
    width_of,
)
from tests.integration.page_heads import comparison_page

LIBRARY = "/opt/venv/lib/python3.11/site-packages/web"


def chain_html() -> str:
    """The page of a run with four calls in a row within a library."""
    stack = [Frame("serve", "/srv/app.py", 1)]
    stack += [Frame(name, f"{LIBRARY}/{name}.py", 2) for name in ("route", "dispatch", "wrap", "call")]
    builder = ProfileBuilder()
    builder.add((*stack, Frame("view", "/srv/app.py", 9)), Thread(1, 1, "main"), 95)
    builder.add((stack[0], Frame("log", "/srv/app.py", 20)), Thread(1, 1, "main"), 5)
    return page_html(builder.build(period_ns=1e7))


def test_straight_runs_of_library_calls_are_one_box(page_of: PageOf) -> None:
    page = page_of(chain_html())
    box = "route … call (4 in web)"
    fold = page.get_by_role("button", name="Fold libraries")
    rows = [(frame["name"], frame["depth"]) for frame in drawn(page)]
    assert (box, 2) in rows
    assert ("view", 3) in rows
    fold.click()
    expect(page).to_have_url(re.compile("chains=unfolded"))
    names = {frame["name"]: frame["depth"] for frame in drawn(page)}
    assert [names[each] for each in ("route", "dispatch", "wrap", "call", "view")] == [2, 3, 4, 5, 6]
    page.go_back()
    assert box in {frame["name"] for frame in drawn(page)}
    page.get_by_role("button", name="Chronological").click()
    assert {(box, 2), ("view", 3)} <= {(frame["name"], frame["depth"]) for frame in drawn(page)}


def test_functions_of_a_folded_box_are_found_and_selected(page_of: PageOf) -> None:
    page = page_of(chain_html())
    plain = page.evaluate(COLOURED)
    page.get_by_label("Search", exact=True).fill("wrap")
    expect(page.locator(".search-share")).to_have_text("95 % in 1 place")
    drawn(page)
    assert page.evaluate(COLOURED) > plain + 1000
    page.keyboard.press("Enter")
    expect(page.locator("#panel-details")).to_contain_text("wrap")
    assert frame_of(page, "route … call (4 in web)")["spot"] == page.evaluate("profkit.graph.spot")
    page.locator("canvas").focus()
    live = page.locator("[aria-live=polite]", has_text="of the total")
    page.keyboard.press("ArrowDown")
    expect(live).to_contain_text("view, 95 % of the total")
    page.keyboard.press("ArrowUp")
    expect(live).to_contain_text("route … call (4 in web), 95 % of the total")
    page.locator("canvas").hover(position=middle(frame_of(page, "route … call (4 in web)")))
    expect(page.locator(".tip-chain li")).to_have_text(["routeweb", "dispatchweb", "wrapweb", "callweb"])


def test_root_with_the_name_of_its_only_callee_is_one_row(page_of: PageOf) -> None:
    builder = ProfileBuilder()
    for name, weight in (("load_batch", 30), ("augment", 20)):
        stack = (Frame("train_step", "/srv/app.py", 1), Frame(name, "/srv/app.py", 5))
        builder.add(stack, Thread(1, 1, "main"), weight)
    page = page_of(page_html(builder.build(period_ns=1e7)))
    for _ in range(2):
        assert sorted((frame["depth"], frame["name"]) for frame in drawn(page)) == [
            (0, "train_step"), (1, "augment"), (1, "load_batch")]  # fmt: skip
        click(page, "train_step")
        expect(page.locator("#panel-details")).to_contain_text("train_step")
        page.keyboard.press("v")
    page.locator("canvas").focus()
    for key in ("Home", "ArrowUp", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    expect(page.locator("[aria-live=polite]", has_text="of the total")).to_contain_text("train_step, 100 %")


COLOR = """(name) => {
  const fn = profkit.head.functions.name.indexOf(name);
  const hex = profkit.paletteOf(false).fills[fn];
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}"""


def color_of(page: Page, name: str) -> tuple[int, int, int]:
    red, green, blue = page.evaluate(COLOR, name)
    return red, green, blue


def test_more_is_orange_less_is_blue_and_noise_is_grey(page_of: PageOf) -> None:
    page = page_of(comparison_page())
    red, green, blue = color_of(page, "augment")
    assert red > green > blue
    red, green, blue = color_of(page, "backward")
    assert blue > green > red
    for name in ("Linear.forward", "train_step", "fib"):
        assert len(set(color_of(page, name))) == 1
    expect(page.get_by_role("list", name="Colours")).to_contain_text("within noise")


def test_width_is_that_of_the_side(page_of: PageOf) -> None:
    page = page_of(comparison_page())
    for side, share in (("1", 60 / 200), ("0", 40 / 175)):
        page.get_by_label("Side").select_option(side)
        drawn(page)
        assert frame_of(page, "augment")["width"] == pytest.approx(share * width_of(page))


def test_tip_shows_the_difference(page_of: PageOf) -> None:
    page = page_of(comparison_page())
    page.locator("canvas").hover(position=middle(frame_of(page, "augment")))
    expect(page.locator(".tip")).to_contain_text("+10.4 points (+6.0 to +15.0)")
    expect(page.locator(".tip")).to_contain_text("more in B")


def test_what_can_go_unseen_is_below_the_headline(page_of: PageOf) -> None:
    page = page_of(comparison_page())
    expect(page.get_by_text("Not seen: differences of up to 9.1 points, which can be noise.")).to_be_visible()
    expect(page.get_by_text("faster-loader · 1 run · 400 samples")).to_be_visible()
