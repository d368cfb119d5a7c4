"""Pages as users get them: opened by the command line, shown by notebooks, made anew byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from profkit.config import read_config
from profkit.model.profile import Sample
from profkit.render.html.assets import SCRIPTS
from profkit.render.html.measured import measured_html
from profkit.render.html.sampled import sampled_html
from profkit.transforms.tables import function_rows
from tests.integration.browser import PageOf, Watch
from tests.unit.cli_runs import keep
from tests.unit.made_measured import hostile
from tests.unit.made_runs import LOADER, MAIN, hostile_run, made_run
from tests.unit.test_render_html_document import marked_run
from tests.unit.test_render_notebook import large_run

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
    assert page.locator("script:not([type])").count() == len(SCRIPTS)
    assert dialogs == []


COSTS = """(thread) => {
    const { self, total } = profkit.costs(profkit.tree(0, thread));
    return { self: Array.from(self), total: Array.from(total) };
}"""


@pytest.mark.parametrize("thread", ["all", 0, 1])
def test_a_browser_comes_to_the_same_figures(page_of: PageOf, thread: int | str) -> None:
    large = large_run().profile
    assert large is not None
    samples = (Sample(one.stack, int(n % 3 == 0), 1 + n % 2) for n, one in enumerate(large.samples))
    profile = replace(large, threads=(MAIN, LOADER), samples=tuple(samples))
    wanted = replace(profile, samples=tuple(one for one in profile.samples if thread in ("all", one.thread)))
    page = page_of(sampled_html([replace(large_run(), profile=profile)]))
    found = page.evaluate(COSTS, thread)
    names = page.evaluate("() => profkit.head.functions.name")
    rows = {row.name: (row.self_weight, row.total_weight) for row in function_rows(wanted)}
    shown = dict(zip(names, zip(found["self"], found["total"], strict=True), strict=True))
    assert {name: tuple(costs) for name, costs in shown.items() if any(costs)} == rows


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
