"""A large page in Chromium: time to interactive, and time to redraw a zoom.

The first is from navigation until the graph is drawn and accepts clicks, by the page's own clock. A redraw
is a zoom's cost within its frame: layout, drawing, and pixels, for which the canvas is read back.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.figures import Figure
from benchmarks.made_profiles import CWD, made_profile
from benchmarks.pairs import median_figure
from profkit.render.html.document import html_page
from profkit.render.html.runs import PageRun, PageRuns, SourceBudget
from profkit.render.views.sampled import library_test
from profkit.render.views.source import SourceLines

_SAMPLES, _STACKS, _DEPTH = 1_000_000, 100_000, 60
_VIEWS = ("left-heavy", "chronological")
_READY = "#profkit:not([aria-busy])"
_INTERACTIVE = "performance.now()"
_ZOOMS = """async ([view, zooms]) => {
  const { graph } = profkit;
  const shown = () => new Promise((done) => requestAnimationFrame(() => done()));
  const cost = (change) => new Promise((done) => {
    change();
    // The graph asked for this frame first: it has been drawn when this is called.
    requestAnimationFrame((start) => {
      graph.canvas.getContext("2d").getImageData(0, 0, 1, 1);
      done(performance.now() - start);
    });
  });
  profkit.setState({ view });
  await shown();
  const frames = graph.frames().filter(({ small, width, depth }) => !small && width > 2 && depth > 0);
  const costs = [];
  for (let i = 0; i < zooms; i++) {
    const { spot } = frames[Math.floor(((i + 0.5) * frames.length) / zooms)];
    costs.push(await cost(() => profkit.zoomTo(spot)), await cost(profkit.zoomOut));
  }
  return costs;
}"""


def measure(quick: bool) -> list[Figure]:
    """Measure the time to interactive, and of redraws in both views."""
    factor = 10 if quick else 1
    page = Path.cwd() / "page.html"
    page.write_text(_page(_SAMPLES // factor, _STACKS // factor), "utf-8")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        loads = [_interactive_ms(browser, page.as_uri()) for _ in range(3 if quick else 9)]
        redraws = {view: _redraws_ms(browser, page.as_uri(), view, 5 if quick else 25) for view in _VIEWS}
        browser.close()
    return [
        median_figure("navigation to interactive", loads, "ms", 2000.0),
        *(median_figure(f"redraw of a zoom, {view}", redraws[view], "ms", 50.0) for view in _VIEWS),
    ]


def _page(samples: int, stacks: int) -> str:
    profile = made_profile(samples, stacks, _DEPTH)
    is_library = library_test(f"{CWD}/shop/module_0.py", profile.frames)
    runs = PageRuns(CWD, is_library, SourceBudget(SourceLines(0, CWD), 0))
    runs.add(PageRun("made", "made", profile))
    return html_page({"title": f"{samples:,} samples", **runs.head("sampled")}, runs.columns)


def _interactive_ms(browser: Browser, url: str) -> float:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(url, wait_until="commit")
    page.wait_for_selector(_READY, state="attached")
    taken = float(page.evaluate(_INTERACTIVE))
    page.close()
    return taken


def _redraws_ms(browser: Browser, url: str, view: str, zooms: int) -> list[float]:
    # Without animation, a zoom is one drawing.
    page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page.goto(url)
    page.wait_for_selector(_READY, state="attached")
    costs = page.evaluate(_ZOOMS, [view, zooms])
    page.close()
    return [float(cost) for cost in costs]
