"""The chronological view in Chromium: what it draws are the runs of samples, however many there are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from random import Random

import pytest
from playwright.sync_api import Page, expect

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from tests.integration.browser import PageOf
from tests.integration.graph_page import COLOURED, click, drawn, frame_of, middle, page_html, width_of

MIN_PX = 0.5
THREADS = 3
THREAD = Thread(1, 9999, "main")

Run = tuple[int, str, float, float]
"""Row, name, position and width in pixels."""


def random_profile(samples: int, seed: int) -> Profile:
    """Samples whose stacks stay alike for a while: of any depth, the empty one included."""
    random = Random(seed)
    builder = ProfileBuilder()
    for number in range(THREADS):
        stack: list[str] = []
        for _ in range(samples):
            del stack[random.randint(0, 9) :]
            stack += random.choices("abc", k=random.choice((0, 0, 1, 1, 2, 5)))
            frames = tuple(Frame(name, "/srv/app.py", 1) for name in stack)
            builder.add(frames, Thread(1, number, f"thread-{number}"), random.choice((1, 1, 2, 9)))
    return builder.build(period_ns=1e7)


def expected_runs(profile: Profile, threads: list[int], width_px: float) -> Iterator[Run]:
    """Runs of neighbours that agree down to a row, found one row after the other."""
    chosen = [sample for thread in threads for sample in profile.samples if sample.thread == thread]
    scale = width_px / sum(sample.weight for sample in chosen)
    starts = [0]
    for sample in chosen:
        starts.append(starts[-1] + sample.weight)
    paths = [
        (sample.thread, *(profile.frames[f].name for f in profile.stacks[sample.stack])) for sample in chosen
    ]
    for row in range(1, max(map(len, paths))):
        for prefix, group in groupby(range(len(paths)), key=lambda i, row=row: paths[i][: row + 1]):
            run = list(group)
            if len(prefix) > row:
                begin, end = starts[run[0]], starts[run[-1] + 1]
                yield row, str(prefix[-1]), begin * scale, (end - begin) * scale


def shown_runs(page: Page) -> list[Run]:
    frames = [frame for frame in drawn(page) if frame["depth"] > 0]  # type: ignore[operator]
    return sorted((f["depth"], f["name"], f["x"], f["width"]) for f in frames)  # type: ignore[misc]


@pytest.mark.parametrize("samples", [40, 1500])
def test_runs_are_those_of_the_samples(page_of: PageOf, samples: int) -> None:
    profile = random_profile(samples, seed=samples)
    page = page_of(page_html(profile))
    page.get_by_role("button", name="Chronological").click()
    for thread in ("all", 1):
        page.evaluate("(thread) => profkit.setState({ thread })", thread)
        threads = list(range(THREADS)) if thread == "all" else [1]
        runs = sorted(expected_runs(profile, threads, width_of(page)))
        wide = [run for run in runs if run[3] >= MIN_PX]
        shown = shown_runs(page)
        assert [run[:2] for run in shown] == [run[:2] for run in wide]
        assert [place for run in shown for place in run[2:]] == pytest.approx(
            [place for run in wide for place in run[2:]], abs=1e-6)  # fmt: skip


def test_click_zooms_to_one_stretch(page_of: PageOf) -> None:
    profile = random_profile(60, seed=5)
    page = page_of(page_html(profile))
    page.get_by_role("button", name="Chronological").click()
    row, name, x, width = max((run for run in shown_runs(page) if run[0] == 2), key=lambda run: run[3])
    before = width_of(page)
    page.locator("canvas").click(position={"x": x + width / 2, "y": 24 + row * 20 + 10})
    (own,) = [run for run in shown_runs(page) if run[0] == row and run[3] > before - 1]
    assert own == (row, name, pytest.approx(0, abs=0.01), pytest.approx(before))
    page.keyboard.press("Escape")
    assert page.evaluate("profkit.state.range") is None


def test_unknown_order_has_no_chronological_view(page_of: PageOf) -> None:
    ordered = random_profile(10, seed=2)
    profile = Profile(
        ordered.unit,
        ordered.period_ns,
        ordered.frames,
        ordered.stacks,
        ordered.threads,
        ordered.samples,
        False,
    )
    page = page_of(page_html(profile), fragment="#view=chronological")
    expect(page.get_by_role("button", name="Chronological")).to_have_count(0)
    assert page.evaluate("profkit.state.view") == "left-heavy"
    click(page, "a")


@pytest.mark.parametrize("view", ["left-heavy", "chronological"])
def test_matches_too_narrow_to_draw_are_marked_together(page_of: PageOf, view: str) -> None:
    builder = ProfileBuilder()
    for number in range(6000):
        builder.add((Frame("start", "/srv/x.py", 1), Frame(f"f{number}", "/srv/x.py", 2)), THREAD, 1)
    page = page_of(page_html(builder.build(period_ns=1e7)), fragment=f"#view={view}&search=f17")
    assert page.evaluate(COLOURED) > 0
    page.get_by_label("Search", exact=True).fill("f6000")
    drawn(page)
    assert page.evaluate(COLOURED) == 0


def test_hundreds_of_threads_do_not_hide_the_graph(page_of: PageOf) -> None:
    builder = ProfileBuilder()
    for number in range(400):
        builder.add((Frame("work", "/srv/x.py", 2),), Thread(1, number, f"pool-{number}"), 1)
    builder.add((Frame("wait", "/srv/x.py", 2),), THREAD, 400)
    page = page_of(page_html(builder.build(period_ns=1e7)), fragment="#view=chronological")
    scale = "profkit.scaleOf(profkit.currentRun(), profkit.graph.view(), profkit.graph.window(), 800)"
    assert page.evaluate(f"{scale}.marks.map(({{ text }}) => text)") == ["main"]


def timed_html(threads: int = 3) -> str:
    """The page of threads that begin one after the other, each with two calls and a gap between them."""
    builder = ProfileBuilder()
    work, load, wait = (builder.frame(Frame(name, "/srv/app.py", 1)) for name in ("work", "load", "wait"))
    for number in range(threads):
        thread = builder.thread(Thread(1, number, f"pool-{number}"))
        begin = 10 * number
        builder.add_indexed((work, load), thread, 20, begin)
        builder.add_indexed((work,), thread, 10, begin + 20)
        builder.add_indexed((wait,), thread, 30, begin + 40)
    return page_html(builder.build(period_ns=1e7))


def test_threads_are_lanes_on_one_axis(page_of: PageOf) -> None:
    page = page_of(timed_html(), fragment="#view=chronological")
    scale = width_of(page) / 90
    shown = sorted(
        (f["depth"], round(f["x"] / scale), round(f["width"] / scale), f["name"])  # type: ignore[operator]
        for f in drawn(page)
    )
    for number in range(3):
        top, begin = 3 * number, 10 * number
        assert shown[4 * number : 4 * number + 4] == [
            (top, 0, 90, f"pool-{number} · 33 %"),
            (top + 1, begin, 30, "work"),
            (top + 1, begin + 40, 30, "wait"),
            (top + 2, begin, 20, "load"),
        ]
    ticks = "profkit.scaleOf(profkit.currentRun(), profkit.graph.view(), profkit.graph.window(), 500)"
    assert page.evaluate(f"{ticks}.ticks.map(({{ text }}) => text)") == [
        "0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s"]  # fmt: skip


def test_lanes_are_zoomed_searched_and_walked(page_of: PageOf) -> None:
    page = page_of(timed_html(), fragment="#view=chronological")
    waits = [frame for frame in drawn(page) if frame["name"] == "wait"]
    page.locator("canvas").click(position=middle(waits[1]))
    assert page.evaluate("profkit.graph.window()") == pytest.approx([50, 80])
    address = page.url
    page = page_of(timed_html(), fragment=address[address.index("#") :])
    assert page.evaluate("profkit.graph.window()") == pytest.approx([50, 80])
    page.locator("canvas").focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    live = page.locator("[aria-live=polite]", has_text="of the total")
    steps = (("Right", "pool-1"), ("Down", "work"), ("Right", "wait"), ("Left", "work"), ("Down", "load"))
    for key, text in steps:
        page.keyboard.press(f"Arrow{key}")
        expect(live).to_contain_text(text)
    page.get_by_label("Search", exact=True).fill("wait")
    expect(page.locator(".search-share")).to_have_text("50 % in 1 place")
    page.locator("canvas").hover(position=middle(frame_of(page, "pool-2 · 33 %")))
    expect(page.locator(".tip")).to_contain_text("pool-2")
    expect(page.locator(".tip")).to_contain_text("600 ms")
    page.locator("canvas").hover(position=middle(frame_of(page, "load")))
    expect(page.locator(".tip")).to_contain_text("Threadpool-")


def test_a_lane_below_the_edge_is_scrolled_to(page_of: PageOf) -> None:
    page = page_of(timed_html(200), fragment="#view=chronological")
    canvas = page.locator("canvas")
    canvas.focus()
    assert "pool-0 · 0.5 %" in {frame["name"] for frame in drawn(page)}
    page.keyboard.press("Home")
    for _ in range(150):
        page.keyboard.press("ArrowRight")
    names = {frame["name"] for frame in drawn(page)}
    assert "pool-150 · 0.5 %" in names
    assert "pool-0 · 0.5 %" not in names


def test_lanes_of_a_flame_graph_stay_in_order(page_of: PageOf) -> None:
    page = page_of(timed_html(), fragment="#view=chronological&direction=flame")
    places = {(str(frame["name"]), float(str(frame["y"]))) for frame in drawn(page)}
    for number in range(3):
        top = 24.0 + 60 * number
        assert {("load", top), ("work", top + 20), (f"pool-{number} · 33 %", top + 40)} <= places
    page.locator("canvas").click(position=middle(frame_of(page, "pool-1 · 33 %")))
    assert page.evaluate("profkit.graph.view().thread(profkit.graph.spot)") == 1


def test_a_flame_graph_begins_at_its_root(page_of: PageOf) -> None:
    builder = ProfileBuilder()
    frames = tuple(Frame(f"f{depth}", "/srv/app.py", 1) for depth in range(90))
    builder.add(frames, THREAD, 5)
    page = page_of(page_html(builder.build(period_ns=1e7)), fragment="#direction=flame")
    names = {frame["name"] for frame in drawn(page)}
    assert "f0" in names
    assert "f89" not in names
