"""The files that a page is put together from: its skeleton, style sheets and scripts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

STYLES: tuple[str, ...] = ()
SCRIPTS: tuple[str, ...] = (
    "start.js",
    "markup.js",
    "data.js",
    "tree.js",
    "costs.js",
    "state.js",
    "format.js",
    "fragment.js",
    "theme.js",
    "keys.js",
    "layout.js",
    "tabs.js",
    # Panels, in the order in which they stand.
    "last.js",
)
"""Names in the folder `page`, in the order in which the browser runs them."""

_FOLDER = Path(__file__).with_name("page")


@cache
def asset(name: str) -> str:
    """The text of a file of the page."""
    return (_FOLDER / name).read_text("utf-8")
