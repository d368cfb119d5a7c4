"""Pages in a real Chromium: opened from a file, without a network, and no error goes unseen."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Route, sync_playwright

DESKTOP = (1280, 800)
PHONE = (390, 844)
READY = "#profkit:not([aria-busy])"

PageOf = Callable[..., Page]


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """A headless Chromium, the one of the system."""
    executable = shutil.which("chromium")
    assert executable is not None, "these tests need Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Watch:
    """What pages did that they must not do."""

    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def follow(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._request)
        page.context.route(lambda url: not url.startswith("file://"), self._block)

    def taken(self) -> tuple[list[str], list[str]]:
        """Complaints and requests since the last time."""
        seen = self.complaints, self.requests
        self.complaints, self.requests = [], []
        return seen

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def _request(self, request: Request) -> None:
        if not request.url.startswith("file://"):
            self.requests.append(request.url)

    def _block(self, route: Route) -> None:
        self.requests.append(route.request.url)
        route.abort()


@dataclass
class Pages:
    """The pages of a browser by window and touch: a page that is there already shows the next file sooner."""

    browser: Browser
    watch: Watch = field(default_factory=Watch)
    _free: dict[tuple[tuple[int, int], bool], list[Page]] = field(default_factory=dict)

    def take(self, size: tuple[int, int], touch: bool) -> Page:
        """A page that nobody else has."""
        free = self._free.setdefault((size, touch), [])
        if free:
            return free.pop()
        context = self.browser.new_context(viewport={"width": size[0], "height": size[1]}, has_touch=touch)
        page = context.new_page()
        self.watch.follow(page)
        return page

    def give_back(self, page: Page, size: tuple[int, int], touch: bool) -> None:
        """What it showed ends here, and may still complain."""
        page.goto("about:blank")
        self._free[size, touch].append(page)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One Chromium a module: while playwright's loop lives, `asyncio.run` fails in its thread."""
    with running_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def pages(chromium: Browser) -> Pages:
    """The pages of a module's Chromium."""
    return Pages(chromium)


@pytest.fixture
def page_of(pages: Pages, tmp_path: Path) -> Iterator[PageOf]:
    """Opens HTML as a file and waits until it is built: `page_of(html, size=PHONE, fragment="#run=1")`.

    The test fails where a page reports an error, warns on the console, or asks for anything but its file.
    """
    taken: list[tuple[Page, tuple[int, int], bool]] = []

    def open_page(
        html: str,
        size: tuple[int, int] = DESKTOP,
        scheme: Literal["light", "dark"] = "light",
        fragment: str = "",
        touch: bool = False,
    ) -> Page:
        path = tmp_path / f"page-{len(taken)}.html"
        path.write_text(html, "utf-8")
        page = pages.take(size, touch)
        taken.append((page, size, touch))
        # Movements end at once: what a test sees does not depend on when it looks.
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(media="screen", color_scheme=scheme, reduced_motion="reduce")
        page.goto(f"{path.as_uri()}{fragment}")
        page.wait_for_selector(READY, state="attached")
        return page

    yield open_page
    for page, size, touch in taken:
        pages.give_back(page, size, touch)
    assert pages.watch.taken() == ([], [])
