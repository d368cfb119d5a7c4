"""Take the pictures of the guides again: `python docs/pictures/take_guides.py [GUIDE...]`.

Each guide's own commands make the page that its picture shows.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from markdown_it import MarkdownIt
from playwright.sync_api import Browser, sync_playwright
from take import HERE, environment

from benchmarks.guide_shell import Shell
from benchmarks.guides import ROOT, read_guide

WIDTH, COMMENT_WIDTH, HEIGHT = 1280, 1060, 460
DRAWN = ("data-loader", "web-service", "any-program", "ci-gate", "compile-times", "many-workers")
COMMENT = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 20px 24px; font: 14px/1.5 system-ui, sans-serif; color: #1f2328; width: 980px; }
main { border: 1px solid #d1d9e0; border-radius: 6px; padding: 16px; }
table { border-collapse: collapse; margin: 12px 0; }
th, td { border: 1px solid #d1d9e0; padding: 5px 12px; }
code, pre { font: 12px monospace; background: #f6f8fa; }
code { padding: 2px 4px; }
pre { padding: 12px; overflow: hidden; }
h1, h2 { border-bottom: 1px solid #d1d9e0; padding-bottom: 6px; font-size: 19px; }
h1 { font-size: 24px; }
</style><main id="profkit">"""


def main(names: list[str]) -> None:
    """Follow guides in temporary folders, and take a picture of each page."""
    with tempfile.TemporaryDirectory(prefix="profkit-pictures-") as name, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for guide in names or DRAWN:
            folder = Path(name) / guide
            folder.mkdir()
            take(browser, make_page(guide, folder), HERE / f"guide-{guide}.png")
        browser.close()


def take(browser: Browser, made: Path, picture: Path) -> None:
    """Take a picture of a page, from its graph on."""
    width = COMMENT_WIDTH if made.stem == "summary" else WIDTH
    page = browser.new_page(viewport={"width": width, "height": 1400})
    page.goto(made.as_uri())
    page.wait_for_selector("#profkit:not([aria-busy])")
    page.wait_for_timeout(500)
    graph = page.locator("input[type=search]")
    top = graph.bounding_box()["y"] - 12 if graph.count() else 0
    page.screenshot(path=picture, clip={"x": 0, "y": top, "width": width, "height": HEIGHT})
    page.close()


def make_page(name: str, folder: Path) -> Path:
    """Do what the first lines of a guide say, with this Python; return the page."""
    guide = read_guide(ROOT / "docs" / "guides" / f"{name}.md")
    guide.write(folder)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = Shell(folder, {**environment(), "PATH": path, "PROFKIT_RUN_RATE": "200"})
    shell.run([command for command in guide.given if not command.startswith("pip install ")])
    shell.run(guide.path[1:])
    guide.check(folder)
    made = folder / guide.picture
    return _comment(made) if made.suffix == ".md" else made


def _comment(summary: Path) -> Path:
    """Make a page that shows a summary as a comment of a pull request."""
    text = MarkdownIt("commonmark", {"html": True}).enable("table").render(summary.read_text("utf-8"))
    text = text.replace("❌", '<span style="color: #d1242f">✖</span>')  # a font for it may be missing
    page = summary.with_suffix(".html")
    page.write_text(f"{COMMENT}{text}</main>", "utf-8")
    return page


if __name__ == "__main__":
    main(sys.argv[1:])
