"""The page that text is laid out for: a terminal's, or that of a pipe or file."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

_NARROWEST = 40


@dataclass(frozen=True, slots=True)
class Page:
    """Where text will stand: `width` in cells, None for as wide as the content is (pipes, files)."""

    width: int | None = None
    color: bool = False


def page_of(stream: TextIO, environ: Mapping[str, str]) -> Page:
    """The page that a stream is; only what goes to a terminal is cut to a width.

    NO_COLOR (https://no-color.org) wins over FORCE_COLOR (https://force-color.org), both over the terminal.
    """
    terminal = stream.isatty()
    width = max(_NARROWEST, shutil.get_terminal_size().columns) if terminal else None
    return Page(width, _wants_color(terminal, environ))


def _wants_color(terminal: bool, environ: Mapping[str, str]) -> bool:
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return terminal and environ.get("TERM") != "dumb"
