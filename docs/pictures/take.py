"""Take the pictures of the documentation again: `python docs/pictures/take.py`, about four minutes.

They show real data: a training run, a batch of measurements, and a small repository whose commits differ in
speed. A headless Chromium shows the pages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

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
)
SELECT = "const select = name => profkit.setState({selected: profkit.head.functions.name.indexOf(name)});"


def main() -> None:
    """Make the pages in a temporary folder and the pictures beside this file."""
    with tempfile.TemporaryDirectory(prefix="profkit-pictures-") as name:
        folder = Path(name)
        make_report(folder)
        make_measured(folder)
        make_commits(folder)
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for picture in PICTURES:
                take(browser, folder, picture)
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


def take(browser: Browser, folder: Path, picture: Picture) -> None:
    """Take one screenshot."""
    width, height = picture.size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=picture.scheme)
    page.goto((folder / picture.page).as_uri())
    page.wait_for_selector("#profkit:not([aria-busy])")
    page.evaluate(f"() => {{ {SELECT} {picture.step} }}")
    page.wait_for_timeout(500)
    page.screenshot(path=HERE / f"{picture.name}.png")
    page.close()


def profkit(folder: Path, *arguments: str) -> None:
    """Run `profkit` in a folder."""
    run(folder, "-m", "profkit", *arguments)


def run(folder: Path, *arguments: str) -> None:
    """Run this Python in a folder, on this checkout."""
    subprocess.run([sys.executable, *arguments], cwd=folder, env=environment(), check=True)


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
