"""The graph of a page, in Chromium: what it shows, and what mouse and keys do."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.integration.browser import PHONE, PageOf
from tests.integration.graph_page import (
    TREE,
    click,
    drawn,
    frame_of,
    middle,
    page_html,
    width_of,
)
from tests.support.example_runs import made_profile

MAIN, LOADER = 0, 1


def state(page: Page, name: str) -> object:
    return page.evaluate(f"profkit.state.{name}")


def prefixes_of(thread: int | None = None) -> tuple[Counter[str], Counter[str]]:
    """Own and total weight by path of the made profile, straight from its samples."""
    profile = made_profile()
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for sample in profile.samples:
        if thread is not None and sample.thread != thread:
            continue
        names = [profile.frames[frame].name for frame in profile.stacks[sample.stack]]
        own[";".join(names)] += sample.weight
        for length in range(len(names) + 1):
            total[";".join(names[:length])] += sample.weight
    return own, total


def test_tree_adds_up_to_the_samples(page_of: PageOf) -> None:
    page = page_of(page_html())
    for thread in (None, MAIN, LOADER):
        page.evaluate("(thread) => profkit.setState({ thread })", "all" if thread is None else thread)
        own, total = prefixes_of(thread)
        nodes = page.evaluate(TREE)
        assert len(nodes) == len(prefixes_of()[1])
        assert {path: weight for path, _, weight in nodes if weight} == total
        assert {path: weight for path, weight, _ in nodes if weight} == own


def test_left_heavy_frames_lie_below_their_callers_heaviest_first(page_of: PageOf) -> None:
    page = page_of(page_html())
    frames = drawn(page)
    assert {frame["name"] for frame in frames} >= {"train_step", "load_batch", "augment", "Linear.forward"}
    scale = width_of(page) / 291
    for depth in range(5):
        row = sorted((frame for frame in frames if frame["depth"] == depth), key=lambda frame: frame["x"])
        assert all(left["x"] + left["width"] <= right["x"] + 0.01 for left, right in pairwise(row))
        assert all(frame["width"] == pytest.approx(frame["total"] * scale) for frame in row)
    below_step = sorted((frame for frame in frames if frame["depth"] == 2), key=lambda frame: frame["x"])
    assert [frame["total"] for frame in below_step] == [168, 67, 53, 1, 1]


def test_flame_is_on_its_root(page_of: PageOf) -> None:
    page = page_of(page_html())
    page.get_by_role("button", name="Flame").click()
    assert (
        frame_of(page, "augment")["y"] < frame_of(page, "load_batch")["y"] < frame_of(page, "train_step")["y"]
    )


def test_click_zooms_and_double_click_shows_everything(page_of: PageOf) -> None:
    page = page_of(page_html())
    click(page, "load_batch")
    assert frame_of(page, "load_batch")["width"] == pytest.approx(width_of(page))
    assert "Linear.forward" not in {frame["name"] for frame in drawn(page)}
    expect(page.get_by_role("navigation", name="Callers")).to_have_text("Everythingtrain_stepload_batch")
    expect(page.locator("#panel-details")).to_contain_text("load_batch")
    page.locator("canvas").dblclick(position=middle(frame_of(page, "augment")))
    assert state(page, "focus") == 0
    assert frame_of(page, "train_step")["width"] == pytest.approx(width_of(page))


def test_zoom_moves_there_unless_the_reader_wants_it_calm(page_of: PageOf) -> None:
    page = page_of(page_html())
    page.emulate_media(reduced_motion="no-preference")
    click(page, "load_batch")
    seen = page.evaluate("""() => new Promise((done) => {
      const widths = [];
      const look = () => {
        const [from, to] = profkit.graph.window();
        widths.push(to - from);
        if (to - from > 168) requestAnimationFrame(look);
        else done(widths);
      };
      look();
    })""")
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] == 168


def test_callers_of_the_zoomed_frame_lead_back(page_of: PageOf) -> None:
    page = page_of(page_html())
    click(page, "augment")
    page.get_by_role("navigation", name="Callers").get_by_role("button", name="load_batch").click()
    assert frame_of(page, "load_batch")["width"] == pytest.approx(width_of(page))
    page.get_by_role("button", name="Everything").click()
    assert state(page, "focus") == 0


def test_keys_walk_the_tree_and_say_where_they_are(page_of: PageOf) -> None:
    page = page_of(page_html())
    page.locator("canvas").focus()
    live = page.locator("[aria-live=polite]", has_text="of the total")
    walk = [("Down", "train_step"), ("Down", "load_batch"), ("Right", "Module._wrapped_call_impl"),
            ("Left", "load_batch"), ("Down", "augment"), ("Up", "load_batch")]  # fmt: skip
    for key, name in walk:
        page.keyboard.press(f"Arrow{key}")
        expect(live).to_contain_text(name)
    expect(live).to_have_text("load_batch, 58 % of the total, 5 % self, level 2, calls 2")
    page.keyboard.press("Enter")
    assert frame_of(page, "load_batch")["width"] == pytest.approx(width_of(page))
    page.keyboard.press("Escape")
    assert state(page, "focus") == 0


def test_search_says_its_share_of_the_total(page_of: PageOf) -> None:
    page = page_of(page_html())
    page.keyboard.press("/")
    page.keyboard.type("NET.forward")
    # 66 of the samples below it and its own one; the search for a name does not count what only calls it.
    expect(page.locator(".search-share")).to_have_text("23 % in 1 place")
    page.get_by_label("Search", exact=True).fill("torch")
    expect(page.locator(".search-share")).to_have_text("41 % in 2 places")
    page.keyboard.press("Enter")
    assert state(page, "cursor") == frame_of(page, "Module._wrapped_call_impl")["node"]
    page.get_by_role("button", name="Next match").click()
    assert state(page, "cursor") == frame_of(page, "Tensor.backward")["node"]
    page.get_by_label("Search", exact=True).fill("nowhere")
    expect(page.locator(".search-share")).to_have_text("no match")


def test_search_by_regular_expression(page_of: PageOf) -> None:
    page = page_of(page_html(), fragment="#search=%2F%5ELINEAR%7Cbatch%24%2F")
    field, share = page.get_by_label("Search", exact=True), page.locator(".search-share")
    expect(field).to_have_value("/^LINEAR|batch$/")
    expect(share).to_have_text("80 % in 2 places")
    pattern = page.get_by_role("button", name="Regular expression")
    expect(pattern).to_have_attribute("aria-pressed", "true")
    field.fill("/load_(batch/")
    expect(share).to_have_text("Invalid pattern: Unterminated group")
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("load_.*h")
    expect(share).to_have_text("no match")
    pattern.click()
    expect(field).to_have_value("/load_.*h/")
    expect(field).to_have_attribute("aria-invalid", "false")
    expect(share).to_have_text("58 % in 1 place")
    page.keyboard.type("$")
    expect(field).to_have_value("/load_.*h$/")
    expect(page).to_have_url(re.compile("search=%2Fload_"))
    pattern.click()
    expect(field).to_have_value("load_.*h$")


def test_legend_searches_for_a_package(page_of: PageOf) -> None:
    page = page_of(page_html())
    page.locator(".legend").get_by_role("button", name="torch").click()
    expect(page.get_by_label("Search", exact=True)).to_have_value("torch")


def test_thread_changes_the_totals(page_of: PageOf) -> None:
    page = page_of(page_html())
    assert frame_of(page, "load_batch")["total"] == 168
    page.get_by_label("Thread", exact=True).select_option(str(LOADER))
    assert [(frame["name"], frame["total"]) for frame in drawn(page)] == [
        ("loader-0", 15), ("train_step", 15), ("load_batch", 15)]  # fmt: skip


def test_fragment_says_what_is_shown(page_of: PageOf) -> None:
    page = page_of(page_html())
    click(page, "load_batch")
    page.get_by_role("button", name="Flame").click()
    page.get_by_label("Search", exact=True).fill("augment")
    expect(page).to_have_url(re.compile("search=augment"))
    shown = drawn(page)
    page.reload()
    page.wait_for_selector("#profkit:not([aria-busy])")
    assert drawn(page) == shown
    expect(page.get_by_label("Search", exact=True)).to_have_value("augment")
    page.go_back()
    assert state(page, "direction") == "icicle"
    page.go_back()
    assert state(page, "focus") == 0
    page.go_forward()
    assert frame_of(page, "load_batch")["width"] == pytest.approx(width_of(page))


def test_keys_leave_the_history_alone(page_of: PageOf) -> None:
    page = page_of(page_html())
    page.locator("canvas").focus()
    entries = page.evaluate("history.length")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("history.length") == entries
    expect(page).to_have_url(re.compile("selected="))
    assert page.evaluate("history.length") == entries
    page.keyboard.press("Enter")
    assert page.evaluate("history.length") == entries + 1


def test_fragment_of_another_page_is_harmless(page_of: PageOf) -> None:
    page = page_of(page_html(), fragment="#focus=999999&thread=7&run=3&selected=-1&__proto__=1&search=%E0%A4")
    assert frame_of(page, "train_step")["width"] == pytest.approx(width_of(page))
    for fragment in ("range=2,1&view=%00", "range=0,x&direction=up", "=", "toString=1&run=1e3&cursor=77777"):
        assert page.evaluate("(text) => profkit.fragmentOf(profkit.stateOf(text))", fragment) == ""


def test_finger_zooms_on_a_phone(page_of: PageOf) -> None:
    page = page_of(page_html(), size=PHONE, touch=True)
    box = page.locator("canvas").bounding_box()
    assert box is not None
    place = middle(frame_of(page, "load_batch"))
    page.touchscreen.tap(box["x"] + place["x"], box["y"] + place["y"])
    assert frame_of(page, "load_batch")["width"] == pytest.approx(width_of(page))


def test_two_fingers_zoom_between_them(page_of: PageOf) -> None:
    page = page_of(page_html(), size=PHONE, touch=True)
    box = page.locator("canvas").bounding_box()
    assert box is not None
    fingers = page.context.new_cdp_session(page)

    def touch(kind: str, *parts: float) -> None:
        points = [
            {"x": box["x"] + part * box["width"], "y": box["y"] + 80, "id": i} for i, part in enumerate(parts)
        ]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 0.4, 0.6)
    for step in range(1, 6):
        touch("touchMove", 0.4 - 0.04 * step, 0.6 + 0.04 * step)
    touch("touchEnd")
    drawn(page)
    # From a fifth of the width to three fifths of it: a third as much is in sight, around the middle.
    left, right = page.evaluate("profkit.graph.window()")
    assert right - left == pytest.approx(291 / 3, rel=0.02)
    assert (left + right) / 2 == pytest.approx(291 / 2, rel=0.02)


def test_wheel_zooms_where_the_pointer_is_and_dragging_moves(page_of: PageOf) -> None:
    page = page_of(page_html())
    canvas = page.locator("canvas")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 60)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    drawn(page)
    left, right = page.evaluate("profkit.graph.window()")
    assert right - left < 291 / 2
    assert left + 0.75 * (right - left) == pytest.approx(0.75 * 291, rel=0.01)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.85, box["y"] + 60, steps=4)
    page.mouse.up()
    drawn(page)
    assert page.evaluate("profkit.graph.window()") == pytest.approx(
        [left - 0.1 * (right - left), right - 0.1 * (right - left)], rel=0.01)  # fmt: skip


def test_address_does_not_follow_every_movement(page_of: PageOf) -> None:
    page = page_of(page_html())
    # Chromium warns, and Safari fails, where a page changes its address some hundred times in a row.
    page.evaluate("for (let step = 0; step < 400; step++) profkit.zoomBy(0.99, 0.5, 'drag')")
    expect(page).to_have_url(re.compile("range="))


def test_theme_goes_round(page_of: PageOf) -> None:
    page = page_of(page_html())
    grounds = []
    for name in ("system", "light", "dark"):
        page.get_by_role("button", name=f"Theme: {name}").click()
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds[0] == grounds[2] != grounds[1]


def test_dialog_shows_the_keys(page_of: PageOf) -> None:
    page = page_of(page_html())
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Next match")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
