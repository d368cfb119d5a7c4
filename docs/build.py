"""Build the documentation site into build/site and check it: `python docs/build.py`, about half a minute.

Warnings are errors. Each page may load only files of the site, and each link within the site must lead to a
page, an anchor or a file. Needs the extra `docs`, and no network.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).parent
SITE = HERE.parent / "build" / "site"
LOADING = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "srcset"), ("iframe", "src")}
"""Attributes by which a page loads a file."""


@dataclass
class Page(HTMLParser):
    """The anchors of a page, and what it loads and links to."""

    anchors: set[str] = field(default_factory=set)
    loads: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the attributes of one element."""
        for name, value in attrs:
            if value and name == "id":
                self.anchors.add(value)
            elif value and (tag, name) in LOADING:
                self.loads.append(value)
            elif value and (tag, name) == ("a", "href"):
                self.links.append(value)


def main() -> int:
    """Build and check; return the exit code."""
    from sphinx.cmd.build import main as build

    code = build(["-q", "-W", "--keep-going", str(HERE), str(SITE)])
    found = [] if code else list(faults(SITE))
    sys.stderr.writelines(f"{fault}\n" for fault in found)
    return code or bool(found)


def faults(site: Path) -> Iterator[str]:
    """Yield what is wrong with the pages of a built site."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        place = path.relative_to(site)
        for target in page.loads:
            if urlsplit(target).netloc:
                yield f"{place} loads {target}"
        for target in [*page.loads, *page.links]:
            if not _is_remote(target) and not _exists(target, path, pages):
                yield f"{place} links to {target}"


def _read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text("utf-8"))
    return page


def _is_remote(target: str) -> bool:
    return bool(urlsplit(target).netloc) or urlsplit(target).scheme in ("data", "mailto")


def _exists(target: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(target)
    file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not file.exists():
        return False
    anchor = unquote(parts.fragment)
    return not anchor or file not in pages or anchor in pages[file].anchors


if __name__ == "__main__":
    sys.exit(main())
