"""Pages as users get them: opened by the command line, shown by notebooks, made anew byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, expect

from profkit.comparing.merged_runs import merge_runs
from profkit.config import read_config
from profkit.model.profile import Profile, ProfileBuilder, Sample, Thread, ThreadState
from profkit.model.region import RegionKind
from profkit.model.run import Run
from profkit.render.escape import visible
from profkit.render.formatting import percent
from profkit.render.html.measured import measured_html
from profkit.render.html.sampled import sampled_html
from profkit.render.options import ReportOptions
from profkit.transforms.tables import function_rows
from profkit.units import format_bytes, format_duration
from tests.integration.browser import DESKTOP, PHONE, PageOf, Watch
from tests.integration.graph_page import CORNER, EVIL, click, drawn, middle, page_html
from tests.support.cli_runs import keep
from tests.support.example_measurements import hostile
from tests.support.example_runs import LOADER, MAIN, hostile_run, made_run
from tests.support.example_worker_runs import waiting_rank
from tests.support.profile_strategies import frame_of
from tests.unit.render.html.test_document import marked_run
from tests.unit.render.test_notebook import large_run

ROOT = Path(__file__).parents[2]


def profkit(cwd: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "profkit", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | variables,
        capture_output=True,
        timeout=60,
        check=True,
    )


def test_open_shows_the_file_in_the_users_browser(tmp_path: Path) -> None:
    keep(read_config({}, tmp_path), made_run())
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > opened\n')
    browser.chmod(0o755)
    done = profkit(tmp_path, "report", "--open", BROWSER=f"{browser} %s")
    page = tmp_path / "profkit-train_step-3f2a91c0de.html"
    assert (tmp_path / "opened").read_text().strip() == page.as_uri()
    assert page.exists()
    assert done.stdout == b""


@pytest.mark.slow
def test_bytes_depend_on_the_run_alone(tmp_path: Path) -> None:
    keep(read_config({}, tmp_path), hostile_run(), made_run(id="aa"))
    first, second = (
        profkit(tmp_path, "report", "--html", "-o", "-", PYTHONHASHSEED=seed).stdout for seed in ("1", "2")
    )
    assert first == second


HOSTILE = {
    "markup": sampled_html([marked_run()]),
    "terminal": sampled_html([hostile_run()]),
    "measured": measured_html([hostile()]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_text(page_of: PageOf, name: str) -> None:
    page = page_of(HOSTILE[name])
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    for tab in page.get_by_role("tab").all():
        tab.click()
    for row in page.locator("tbody tr").filter(visible=True).all()[:3]:
        row.click()
    assert page.locator("img, #profkit script").count() == 0
    assert page.locator("script:not([type])").count() == 1
    assert dialogs == []


COSTS = """(thread) => {
    const { self, total } = profkit.costsOf(profkit.treeOf(0, thread));
    return { self: Array.from(self), total: Array.from(total) };
}"""


@pytest.mark.slow
def test_a_browser_comes_to_the_same_figures(page_of: PageOf) -> None:
    large = large_run().profile
    assert large is not None
    samples = (Sample(one.stack, int(n % 3 == 0), 1 + n % 2) for n, one in enumerate(large.samples))
    profile = replace(large, threads=(MAIN, LOADER), samples=tuple(samples))
    page = page_of(sampled_html([replace(large_run(), profile=profile)]))
    names = page.evaluate("() => profkit.head.functions.name")
    for thread in ("all", 0, 1):
        own = tuple(one for one in profile.samples if thread in ("all", one.thread))
        rows = {
            row.name: (row.self_weight, row.total_weight)
            for row in function_rows(replace(profile, samples=own))
        }
        found = page.evaluate(COSTS, thread)
        shown = dict(zip(names, zip(found["self"], found["total"], strict=True), strict=True))
        assert {name: tuple(costs) for name, costs in shown.items() if any(costs)} == rows


FORMATTED = """([times, sizes, shares, total]) => {
  profkit.head.runs[0].total = total;
  const { formatTime, formatBytes, formatShare } = profkit;
  return [times.map(formatTime), sizes.map(formatBytes), shares.map(formatShare)];
}"""


def test_times_sizes_and_shares_are_those_of_the_terminal(page_of: PageOf) -> None:
    random = Random(3)
    times = [10 ** random.uniform(-9, 6) for _ in range(300)] + [0, 90, 89.9, 1, 0.9994, 5399, 5400]
    sizes = [10 ** random.uniform(3, 14) for _ in range(100)]
    shares = [random.random() for _ in range(100)] + [n / 400 for n in range(400)] + [1e-5, 0.00049, 0, 1]
    page = page_of(sampled_html([made_run()]))
    for total in (200, 5000):
        assert page.evaluate(FORMATTED, [times, sizes, shares, total]) == [
            [format_duration(time) for time in times],
            [format_bytes(size) for size in sizes],
            [percent(share, total) for share in shares],
        ]


def test_a_notebook_shows_a_page_that_works(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>notebook</title>{made_run()._repr_html_()}", "utf-8")
    watch, page = Watch(), chromium.new_page()
    watch.follow(page)
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.get_by_role("row", name="jitter").get_by_role("button").first.click()
    assert frame.locator("#profkit").evaluate("() => profkit.state.selected") == 3
    assert (page.url, page.title()) == (path.as_uri(), "notebook")
    page.close()
    assert (watch.complaints, watch.requests) == ([], [])


@pytest.mark.parametrize(
    ("theme", "is_dark"),
    [
        ('data-jp-theme-light="false"', True),
        ('data-jp-theme-light="true"', False),
        ('class="vscode-dark"', True),
        ('class="vscode-light"', False),
    ],
)
def test_a_frame_is_as_dark_as_its_notebook(
    chromium: Browser, tmp_path: Path, theme: str, is_dark: bool
) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><body {theme}>{made_run()._repr_html_()}</body>", "utf-8")
    with chromium.new_context(color_scheme="null") as context:  # emulating one would reach into the frame
        page = context.new_page()
        page.goto(path.as_uri())
        ground = page.frame_locator("iframe").locator("body")
        expect(ground).to_have_css("background-color", "rgb(14, 17, 22)" if is_dark else "rgb(246, 247, 249)")


def test_names_are_never_more_than_text(page_of: PageOf) -> None:
    page = page_of(page_html(names=EVIL))
    frames = drawn(page)
    assert len(frames) == 1 + 1 + len(EVIL)
    leaves = [frame for frame in frames if frame["depth"] == 2]
    assert {frame["name"] for frame in leaves} == {visible(name) for name in EVIL}
    for frame in leaves:
        page.locator("canvas").hover(position=middle(frame))
        expect(page.locator(".tip strong")).to_have_text(str(frame["name"]))
    page.get_by_label("Search", exact=True).fill("pwned")
    click(page, EVIL[0])
    for tab in page.get_by_role("tab").all():
        tab.click()
    assert page.evaluate("window.pwned") is None
    assert page.locator("main script, main img, main style").count() == 0
    assert "\u202e" not in page.content()


def test_page_forbids_what_it_does_not_need(page_of: PageOf) -> None:
    page = page_of(page_html())
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_nothing_was_sampled(page_of: PageOf) -> None:
    page = page_of(page_html(Profile()))
    expect(page.locator(".warnings")).to_contain_text("There are no")
    expect(page.get_by_role("tab")).to_have_text("About the run")
    expect(page.locator("canvas, input")).to_have_count(0)


def test_nothing_was_sampled_in_one_region(page_of: PageOf) -> None:
    empty = Run(made_run(id="bbbb").info, Profile())
    page = page_of(sampled_html([made_run(), empty]), fragment="#run=1")
    expect(page.locator(".graph")).to_contain_text("No samples")
    page.locator("canvas").focus()
    for key in ("ArrowDown", "ArrowLeft", "Enter", "Home", "n", "v", "+", "Escape"):
        page.keyboard.press(key)


def test_paper_is_white_and_shows_all_rows(page_of: PageOf) -> None:
    page = page_of(page_html(), scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate(CORNER) == [255, 255, 255]
    assert page.evaluate("profkit.graph.scroller.scrollHeight === profkit.graph.canvas.clientHeight")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    # Sharp on paper: more than a dot of the canvas for each of the page's.
    assert page.evaluate("profkit.graph.canvas.width > 2 * profkit.graph.canvas.clientWidth")
    # What a screen shows one at a time stands below each other; what was not selected leaves nothing.
    titles = page.locator("[role=tabpanel] > h2").filter(visible=True)
    assert titles.all_inner_texts() == ["Hot functions", "Source lines", "About the run"]


def is_dark(color: Iterable[int]) -> bool:
    return sum(color) < 200


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_page_fits_its_window_by_day_and_by_night(page_of: PageOf, size: tuple[int, int]) -> None:
    page = page_of(page_html(), size=size)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        drawn(page)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert is_dark(map(int, ground.removeprefix("rgb(").rstrip(")").split(","))) == (scheme == "dark")
        assert is_dark(page.evaluate(CORNER)) == (scheme == "dark")


def test_the_head_shows_the_run_in_short(page_of: PageOf) -> None:
    page = page_of(sampled_html([made_run()]))
    assert page.locator("h1").inner_text() == "train_step"
    facts = page.locator(".summary span").all_inner_texts()
    assert [facts[0], *facts[2:]] == [
        "train.py:42",
        "40 calls, 2.97 s wall time",
        "291 samples, 2.99 s summed over 2 threads",
        "pyspy 0.4.3",
    ]


def test_the_head_of_a_coroutine_shows_how_long_it_was_active(page_of: PageOf) -> None:
    info = made_run().info
    coroutine = replace(info, region=replace(info.region, kind=RegionKind.COROUTINE), suspended_ns=2 * 10**9)
    facts = page_of(sampled_html([Run(coroutine)])).locator(".summary span").all_inner_texts()
    assert facts[0] == "train.py:42"
    assert facts[3] == "973 ms active, suspended 2.00 s (67 %)"


def test_the_window_keeps_its_own_functions(page_of: PageOf) -> None:
    page = page_of(page_html())
    native = "name => String(window[name]).includes('[native code]')"
    assert page.evaluate(f"['print', 'focus', 'find', 'stop', 'open'].every({native})")


def test_a_page_opens_on_the_summary_of_the_whole_run(page_of: PageOf) -> None:
    builder, run = ProfileBuilder(), made_run()
    main, child = Thread(4242, 4242, "MainThread"), Thread(9, 9, "MainThread")
    builder.add((frame_of("main:8"), frame_of("wait@other:4")), main, 60, state=ThreadState.WAITING)
    builder.add((frame_of("main:9"),), main, 40, state=ThreadState.WORKING)
    builder.add((frame_of("tokenize:4"),), child, 100, state=ThreadState.WORKING)
    info = replace(run.info, region=replace(run.info.region, kind=RegionKind.PROGRAM), torn=0)
    whole = Run(info, builder.build(period_ns=1e7))

    page = page_of(sampled_html([whole]))
    summary, threads = page.locator("#panel-sentences"), page.get_by_label("Thread", exact=True)
    assert threads.locator("option:checked").inner_text().startswith("process 4242 · MainThread")
    assert "Child process 9 worked" in summary.inner_text()
    threads.select_option("1")
    assert "Child process" not in summary.inner_text()
    assert "tokenize (" in summary.inner_text()

    asked = page_of(sampled_html([whole], ReportOptions(thread="9"))).locator("#panel-sentences")
    assert "Child process" not in asked.inner_text()


def test_the_waits_of_calls_are_not_hidden(page_of: PageOf) -> None:
    page = page_of(sampled_html([merge_runs([waiting_rank(number, 20) for number in range(3)])]))
    assert page.get_by_label("Time", exact=True).input_value() == "all"
    assert "waits 80 % ±5 of the time for other ranks" in page.locator("#panel-sentences").inner_text()
