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

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def _request(self, request: Request) -> None:
        if not request.url.startswith("file://"):
            self.requests.append(request.url)

    def _block(self, route: Route) -> None:
        self.requests.append(route.request.url)
        route.abort()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One Chromium a module: while playwright's loop lives, `asyncio.run` fails in its thread."""
    with running_chromium() as browser:
        yield browser


@pytest.fixture
def page_of(chromium: Browser, tmp_path: Path) -> Iterator[PageOf]:
    """Opens HTML as a file and waits until it is built: `page_of(html, size=PHONE, fragment="#run=1")`.

    The test fails where a page reports an error, warns on the console, or asks for anything but its file.
    """
    watch = Watch()
    contexts = []

    def open_page(
        html: str,
        size: tuple[int, int] = DESKTOP,
        scheme: Literal["light", "dark"] = "light",
        fragment: str = "",
        touch: bool = False,
    ) -> Page:
        path = tmp_path / f"page-{len(contexts)}.html"
        path.write_text(html, "utf-8")
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            has_touch=touch,
            # Movements end at once: what a test sees does not depend on when it looks.
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        watch.follow(page)
        page.goto(f"{path.as_uri()}{fragment}")
        page.wait_for_selector(READY, state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert watch.complaints == []
    assert watch.requests == []
