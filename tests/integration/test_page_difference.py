"""The graph of a sampled comparison in Chromium: as wide as a side, coloured by what changed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.integration.browser import PageOf
from tests.integration.graph_page import CONTRASTS, drawn, frame_of, middle, width_of
from tests.integration.page_heads import comparison_page

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
    assert min(page.evaluate(CONTRASTS)) >= 4.5
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
