"""Take the pictures of the documentation again: `python docs/pictures/take.py`, about four minutes.

They show real data: a training run, a batch of measurements, and a small repository whose commits differ in
speed. A headless Chromium shows the pages.
"""

from __future__ import annotations

import asyncio
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from playwright.sync_api import Browser, sync_playwright

from profkit.cli.commands.top import showing_of
from profkit.cli.top.app import Actions, TopApp
from profkit.live.source import LiveSource
from profkit.program.target import find_target
from profkit.render.options import Activity
from profkit.samplers.options import SamplerOptions

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DESKTOP, PHONE = (1280, 800), (390, 844)

SHOP = """
from profkit import profile

def parse(lines):
    return [line.split(",") for line in lines for _ in range({parse})]

def price(rows):
    return [sum(int(cell) ** 2 for cell in row) for row in rows[:{price}]]

def render(prices):
    return "".join(f"{{value:>12,}}" for value in prices for _ in range({render}))

@profile(label="serve")
def serve(lines):
    return render(price(parse(lines)))

if __name__ == "__main__":
    lines = ["1,2,3,4,5,6,7,8"] * 400
    for _ in range(1500):
        serve(lines)
"""
COMMITS = (
    {"parse": 4, "price": 400, "render": 12},
    {"parse": 4, "price": 390, "render": 12},
    {"parse": 3, "price": 400, "render": 12},
    {"parse": 3, "price": 330, "render": 12},
    {"parse": 3, "price": 330, "render": 10},
    {"parse": 6, "price": 330, "render": 10},
)
ORDERS = """
ORDERS = {
    "sorted": "sorted(values)",
    "sum": "sum(values)",
    "comprehension": "[value * 2 for value in values]",
    "join": "''.join(map(str, values))",
}
"""

SERVICE = """
import json, threading, time

def parse(rows):
    return [json.loads(row) for row in rows]

def score(items):
    return sum(item["n"] ** 0.5 for item in items if item["n"] % 3)

def handle(rows):
    items = parse(rows)
    return score(items), json.dumps(items)

def heartbeat():
    while True:
        time.sleep(0.05)

threading.Thread(target=heartbeat, name="heartbeat", daemon=True).start()
rows = ['{"n": %d, "tags": ["a", "b"]}' % number for number in range(2000)]
while True:
    handle(rows)
"""


@dataclass(frozen=True, slots=True)
class Picture:
    """A screenshot: its page, size, colours, and the step before it."""

    name: str
    page: str
    size: tuple[int, int] = DESKTOP
    scheme: str = "light"
    step: str = ""


PICTURES = (
    Picture("report", "report.html"),
    Picture("report-dark", "report.html", scheme="dark", step="select('standardise')"),
    Picture(
        "report-callers", "report.html", step="select('standardise'); profkit.setState({tab: 'sandwich'})"
    ),
    Picture("report-phone", "report.html", size=PHONE),
    Picture("measured", "measured.html", size=(1280, 1000)),
    Picture("comparison", "comparison.html"),
    Picture("history", "history.html", size=(1280, 700)),
    Picture("notebook", "notebook.html", size=(1100, 790)),
)
NOTEBOOK = """
body { margin: 20px; background: white; font: 14px monospace; }
div { display: flex; margin-bottom: 8px; }
i { flex: 0 0 56px; color: #616161; font-style: normal; padding-top: 9px; }
pre { flex: 1; margin: 0; padding: 8px; background: #f5f5f5; border: 1px solid #e0e0e0; }
.value { background: none; border: 0; }
"""
SELECT = "const select = name => profkit.setState({selected: profkit.head.functions.name.indexOf(name)});"


def main() -> None:
    """Make the pages in a temporary folder and the pictures beside this file."""
    with tempfile.TemporaryDirectory(prefix="profkit-pictures-") as name:
        folder = Path(name)
        make_report(folder)
        make_measured(folder)
        make_commits(folder)
        asyncio.run(make_terminal(folder))

        make_notebook(folder)
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for picture in PICTURES:
                take(browser, folder, picture)
            take_terminal(browser, folder)
            browser.close()


def make_report(folder: Path) -> None:
    """Make the page of the quickstart's training run, four times as long."""
    source = (ROOT / "examples" / "quickstart.py").read_text("utf-8")
    (folder / "train.py").write_text(source.replace("128, 4096, 20", "128, 4096, 80"), "utf-8")
    run(folder, "train.py")
    profkit(folder, "report", "train", "--html", "-o", "report.html")


def make_measured(folder: Path) -> None:
    """Make the page of four measurements, of times and instructions."""
    (folder / "orders.py").write_text(ORDERS, "utf-8")
    setup = ("--setup", "values = list(range(1000, 0, -1))")
    profkit(folder, "measure", "orders.py", *setup, "--mode", "timer+callgrind")
    profkit(folder, "report", "--html", "-o", "measured.html")


def make_notebook(folder: Path) -> None:
    """Make a page like a notebook, with the first cells of the page on notebooks, executed by a kernel."""
    text = (ROOT / "docs" / "notebooks.md").read_text("utf-8")
    cells = re.findall(r"^```ipython\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[:3]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.strip()) for cell in cells])
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    shown = "".join(map(_cell_html, notebook.cells[-1:]))
    (folder / "notebook.html").write_text(f"<!doctype html><style>{NOTEBOOK}</style>{shown}", "utf-8")


def _cell_html(cell: NotebookNode) -> str:
    """Return a cell and its outputs as HTML."""
    number = f"<i>[{cell.execution_count}]:</i>"
    parts = [f"<div>{number}<pre>{html.escape(cell.source)}</pre></div>"]
    for output in cell.outputs:
        page = output.data.get("text/html")
        text = f"<pre class=value>{html.escape(output.data['text/plain'])}</pre>"
        parts.append(f"<div>{number if page is None else '<i></i>'}{page or text}</div>")
    return "".join(parts)


def make_commits(folder: Path) -> None:
    """Make the pages of a comparison of two commits, and of the history of six."""
    repository = folder / "shop"
    repository.mkdir()
    git(repository, "init", "-q")
    for number, amounts in enumerate(COMMITS):
        (repository / "shop.py").write_text(SHOP.format(**amounts), "utf-8")
        (repository / ".gitignore").write_text(".profkit\n", "utf-8")
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", f"Change {number}", "--date", f"2026-03-0{number + 1}T12:00:00")
        for _ in range(3):
            run(repository, "shop.py")
    profkit(repository, "compare", "serve@HEAD~1", "serve@HEAD", "--html", "-o", "../comparison.html")
    profkit(repository, "history", "serve", "--html", "-o", "../history.html")


async def make_terminal(folder: Path) -> None:
    """Draw the flame graph of `profkit top` on a program that reads JSON."""
    (folder / "service.py").write_text(SERVICE, "utf-8")
    with subprocess.Popen([sys.executable, "service.py"], cwd=folder, env=environment()) as program:
        await asyncio.sleep(1)
        source = LiveSource(find_target(program.pid), SamplerOptions(rate_hz=100), folder, print)
        try:
            source.begin()
            source.start_thread()
            showing = showing_of(source, Activity.WORKING)
            app = TopApp(source, showing, Actions(lambda run: None, lambda: False))
            async with app.run_test(size=(100, 20)) as pilot:
                app.theme = "textual-dark"
                await asyncio.sleep(8)
                await pilot.press("2", "down", "down")
                await pilot.pause()
                (folder / "top.svg").write_text(app.export_screenshot(title="profkit top"), "utf-8")
        finally:
            source.close()
            program.kill()


def take_terminal(browser: Browser, folder: Path) -> None:
    """Take the picture of the screen of `profkit top`."""
    page = browser.new_page(viewport={"width": 1240, "height": 600})
    page.goto((folder / "top.svg").as_uri())
    page.locator("svg").screenshot(path=HERE / "top.png")
    page.close()


def take(browser: Browser, folder: Path, picture: Picture) -> None:
    """Take one screenshot."""
    width, height = picture.size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=picture.scheme)
    page.goto((folder / picture.page).as_uri())
    page.frames[-1].wait_for_selector("#profkit:not([aria-busy])")  # a notebook has a frame for it
    page.evaluate(f"() => {{ {SELECT} {picture.step} }}")
    page.wait_for_timeout(500)
    page.screenshot(path=HERE / f"{picture.name}.png")
    page.close()


def profkit(folder: Path, *arguments: str) -> None:
    """Run `profkit` in a folder."""
    run(folder, "-m", "profkit", *arguments)


def run(folder: Path, *arguments: str) -> None:
    """Run this Python in a folder, on this checkout."""
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # reports show the command
    subprocess.run(["python", *arguments], cwd=folder, env={**environment(), "PATH": search}, check=True)


def git(repository: Path, *arguments: str) -> None:
    """Run git with an author."""
    somebody = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *somebody, *arguments], cwd=repository, check=True)


def environment() -> Mapping[str, str]:
    """Return the environment of this process, without settings of profkit."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROFKIT_")}
    return kept | {"PYTHONPATH": str(ROOT)}


if __name__ == "__main__":
    main()
