"""Width and colour support of the terminal, pipe or file that text is laid out for."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

_NARROWEST = 40


@dataclass(frozen=True, slots=True)
class Terminal:
    """Layout of text: `width` in cells, None for unlimited (pipes, files)."""

    width: int | None = None
    color: bool = False


PIPE = Terminal()


def terminal_of(stream: TextIO, environ: Mapping[str, str]) -> Terminal:
    """Return the layout for a stream; only text for a terminal is cut to a width.

    NO_COLOR (https://no-color.org) wins over FORCE_COLOR (https://force-color.org), both over the terminal.
    """
    is_terminal = stream.isatty()
    width = max(_NARROWEST, shutil.get_terminal_size().columns) if is_terminal else None
    return Terminal(width, _wants_color(is_terminal, environ))


def _wants_color(is_terminal: bool, environ: Mapping[str, str]) -> bool:
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal and environ.get("TERM") != "dumb"
